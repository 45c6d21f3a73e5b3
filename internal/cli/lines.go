package cli

import (
	"encoding/json"
	"io"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// lines prints events as JSON, one a line, with each result in its envelope:
// what a program needs to know of a call is in one place.
type lines struct {
	out   io.Writer
	root  string
	epoch int64
	calls map[string]tool.Context
}

func newLines(out io.Writer) *lines {
	return &lines{out: tame{out}, calls: make(map[string]tool.Context)}
}

func (l *lines) write(e event.Event) error {
	switch b := e.Body.(type) {
	case event.Opened:
		l.epoch++
		l.root = b.Root
	case event.Replied:
		for _, c := range b.Message.Calls() {
			l.calls[c.ID] = tool.Context{Dir: l.root, Args: c.Args, Call: c.ID}
		}
	case event.Planned:
		l.calls[b.Plan.Call.ID] = planContext(l.root, b.Plan)
	case event.Finished:
		sealed, err := event.Seal(b)
		if err != nil {
			return err
		}
		if sealed.JSON, err = json.Marshal(struct {
			Call   string        `json:"call"`
			Result tool.Envelope `json:"result"`
		}{b.Call, envelope(b.Result, l.calls[b.Call])}); err != nil {
			return err
		}
		delete(l.calls, b.Call)
		e.Body = sealed
	}
	line, err := event.Encode(e, l.epoch)
	if err != nil {
		return err
	}
	_, err = l.out.Write(append(line, '\n'))
	return err
}

// envelope puts r into its circumstances. What never ran took no time.
func envelope(r tool.Result, where tool.Context) tool.Envelope {
	if r.Metrics == nil {
		r.Metrics = &tool.Metrics{OutputBytes: int64(len(r.Text))}
	}
	return tool.Envelope{Result: r, Context: where}
}

func planContext(root string, p tool.Plan) tool.Context {
	return tool.Context{Dir: root, Args: p.Call.Args, Call: p.Call.ID, Version: p.Version}
}

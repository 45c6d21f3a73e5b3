package trace

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
)

// A row is what the page knows of an event at once; the event itself it decodes
// when it is looked at. Names are short because there are many.
type row struct {
	Seq    int64    `json:"q"` // 0 for damage
	Kind   string   `json:"k"`
	Time   int64    `json:"t"`            // Unix, milliseconds
	Turn   int      `json:"n,omitempty"`  // from 1
	Step   int      `json:"s,omitempty"`  // within the turn, from 1
	Call   string   `json:"c,omitempty"`  // the call it is about
	Tool   string   `json:"o,omitempty"`  // of the call
	Line   string   `json:"l,omitempty"`  // what there is to say in a line
	Status string   `json:"u,omitempty"`  // of a result, a verdict, a stop; what a request is for
	Fail   string   `json:"f,omitempty"`  // kind of failure
	By     string   `json:"b,omitempty"`  // who decided
	Paths  []string `json:"p,omitempty"`  // files it is about
	Calls  []asked  `json:"cs,omitempty"` // that a reply asks for
	Waits  []string `json:"w,omitempty"`  // calls that this one waited for
	In     int      `json:"i,omitempty"`  // tokens of a request, cached ones included
	Cached int      `json:"h,omitempty"`
	Out    int      `json:"z,omitempty"` // tokens of a reply
	Cost   int64    `json:"m,omitempty"` // micro-cents
	Guess  bool     `json:"e,omitempty"` // tokens are estimated
	Bytes  int      `json:"y,omitempty"` // of a request
	Same   int      `json:"r,omitempty"` // bytes that repeat the request before
	Of     string   `json:"a,omitempty"` // digest of a request's artifact
	Model  string   `json:"d,omitempty"`
	Error  string   `json:"x,omitempty"` // why it cannot be shown in full
}

// An asked is a call as a reply has it.
type asked struct {
	ID   string `json:"id"`
	Tool string `json:"o"`
	Line string `json:"l,omitempty"`
}

const (
	maxLine  = 200 // characters of a row
	maxPaths = 20
)

// A fold is what must be remembered of the events to make the next row.
type fold struct {
	turn, steps int
	resting     bool
	model       string
	tools       map[string]string // of calls
	changed     map[string]bool   // files
}

func newFold() fold {
	return fold{tools: map[string]string{}, changed: map[string]bool{}, resting: true}
}

// row returns what there is to know of e at once.
func (f *fold) row(e event.Event) row {
	r := row{Seq: e.Seq, Kind: e.Kind(), Time: e.Time.UnixMilli()}
	switch b := e.Body.(type) {
	case event.Opened:
		f.resting, f.model = true, b.Model
		r.Line, r.Model, r.Status = b.Root, b.Model, b.Mode
	case event.Ruled:
		r.Line, r.Paths = b.Path, []string{b.Path}
	case event.Asked:
		if f.resting {
			f.turn++
			f.steps, f.resting = 0, false
		}
		r.Line, r.Paths = b.Text, b.Mentions
	case event.Packed:
		r.Step, r.Line = f.steps+1, b.Missing
	case event.Sent:
		r.Step, r.Bytes, r.Same, r.Model, r.Status = f.steps+1, b.Bytes, b.Repeats, cmp.Or(b.Model, f.model), b.For
		r.Of = strings.TrimPrefix(b.Request, handlePrefix)
	case event.Replied:
		f.steps++
		f.replied(&r, b)
	case event.Planned:
		r.Call, r.Tool, r.Line = b.Plan.Call.ID, b.Plan.Call.Tool, b.Plan.Summary
		f.tools[r.Call] = r.Tool
		r.Paths = pathsOf(b.Plan.Effects())
	case event.Decided:
		r.Call, r.Status, r.By, r.Line = b.Call, b.Verdict, b.By, b.Reason
	case event.Started:
		r.Call = b.Call
		for _, w := range b.Waited {
			if !slices.Contains(r.Waits, w.Call) {
				r.Waits = append(r.Waits, w.Call)
			}
		}
	case event.Finished:
		f.finished(&r, b)
	case event.Settled:
		r.Call, r.Status, r.By, r.Line = b.Call, b.As, b.By, b.Note
	case event.Constrained:
		r.Line, r.By = b.Words, b.By
	case event.Quarantined:
		r.Line = b.Reason
	case event.Switched:
		f.model = b.To
		r.Line, r.Model = b.Why, b.To
	case event.Compacted:
		r.Status, r.By = b.Trigger, b.By
		r.spent(b.Usage, b.Cost)
	case event.Stopped:
		f.resting = true
		r.Status, r.Line = b.Reason, b.Detail
	}
	r.Turn = f.turn
	if r.Step == 0 {
		r.Step = f.steps
	}
	if r.Tool == "" {
		r.Tool = f.tools[r.Call]
	}
	r.Line = short(r.Line)
	if len(r.Paths) > maxPaths {
		r.Paths = r.Paths[:maxPaths]
	}
	return r
}

func (f *fold) replied(r *row, b event.Replied) {
	for _, c := range b.Message.Calls() {
		f.tools[c.ID] = c.Tool
		r.Calls = append(r.Calls, asked{c.ID, c.Tool, short(target(c.Args))})
	}
	r.Line, r.Status, r.Model = b.Message.Text(), string(b.Stop), b.Message.From
	if strings.TrimSpace(r.Line) == "" {
		for _, p := range b.Message.Parts {
			if thought, ok := p.(model.Reasoning); ok && thought.Text != "" {
				r.Line = thought.Text
				break
			}
		}
	}
	r.spent(b.Usage, b.Cost)
}

func (r *row) spent(u model.Usage, cost int64) {
	r.In, r.Cached, r.Out, r.Guess, r.Cost = u.Input+u.Cached+u.CacheWrite, u.Cached, u.Output, u.Estimated, cost
}

func (f *fold) finished(r *row, b event.Finished) {
	r.Call, r.Status = b.Call, string(b.Result.Status)
	r.Line = b.Result.Text
	if failure := b.Result.Failure; failure != nil {
		r.Fail, r.Line = string(failure.Kind), failure.Message
	}
	for _, e := range b.Result.Edits {
		r.Paths = append(r.Paths, e.Path)
		if e.Result != "" || e.Remove {
			f.changed[e.Path] = true
		}
	}
}

// pathsOf returns the files that effects name.
func pathsOf(s effect.Set) (paths []string) {
	for _, e := range s {
		if (e.Kind == effect.Read || e.Kind == effect.Write) && !e.Tree && !slices.Contains(paths, e.On) {
			paths = append(paths, e.On)
		}
	}
	return paths
}

// target is what arguments are mostly about.
func target(args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return ""
	}
	for _, name := range []string{"path", "file_path", "command", "pattern"} {
		var s string
		if json.Unmarshal(fields[name], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// short returns the first line of s that says something, cut between characters.
func short(s string) string {
	s = strings.TrimLeft(s, " \t\r\n")
	s, more, _ := strings.Cut(s, "\n")
	n := 0
	for i := range s {
		if n++; n > maxLine {
			return s[:i] + "…"
		}
	}
	if strings.TrimSpace(more) != "" {
		s = strings.TrimRight(s, "\r") + " …"
	}
	return s
}

// damaged returns the row of a place where something is missing.
func damaged(why string, at time.Time) row {
	return row{Kind: "damage", Line: short(why), Error: why, Time: at.UnixMilli()}
}

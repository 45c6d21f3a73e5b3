package toolbox

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/process"
)

//go:embed process.md
var processText string

const (
	writeMax  = 64 << 10         // bytes that are written at once
	waitUsual = 30 * time.Second // of a call that says nothing else
)

type processArgs struct {
	Do      string `json:"do" enum:"list,read,write,wait,stop"`
	Name    string `json:"name,omitempty" jsonschema:"such as c7"`
	Text    string `json:"text,omitempty" jsonschema:"to write"`
	End     bool   `json:"end,omitempty" jsonschema:"of its input"`
	From    *int64 `json:"from,omitempty" min:"0" jsonschema:"byte to show from"`
	Timeout int    `json:"timeout_s,omitempty" min:"1" max:"600" jsonschema:"to wait, 30 by default"`
}

// processes are the commands in the background, and how far the output of each
// has been shown.
type processes struct {
	host *process.Host

	mu    sync.Mutex
	shown map[string]int64
}

// Process returns the tool for the commands that Bash left in the background of
// h. What is written to one can have it do all that it was allowed when it was
// started, and is judged as that; looking, waiting and stopping touch nothing
// else.
func Process(h *process.Host) tool.Tool {
	all := &processes{host: h, shown: make(map[string]int64)}
	s := tool.Spec{
		Name: "Process", Version: 1, Description: strings.TrimSpace(processText),
		Effects: []effect.Kind{
			effect.Read, effect.Write, effect.Process, effect.Network, effect.Git,
			effect.Resource, effect.Anything,
		}, Idempotency: tool.None,
		Risk: tool.High, Inline: tool.DefaultInline, Timeout: bashMax + moving,
	}
	return tool.New(s, func(_ context.Context, args processArgs, _ tool.Input) (*tool.Action, error) {
		if err := checkProcessArgs(args); err != nil {
			return nil, err
		}
		if args.Do == "list" {
			return &tool.Action{Summary: "list what runs in the background", Do: all.list}, nil
		}
		p, err := all.find(args.Name)
		if err != nil {
			return nil, err
		}
		a := &tool.Action{
			Summary: oneLine(args.Do + " " + args.Name + ": " + scriptSummary(script(p))),
			Timeout: moving,
			Do: func(ctx context.Context, env tool.Env) (tool.Result, error) {
				return all.act(ctx, p, args, env)
			},
		}
		switch args.Do {
		case "write":
			a.Parts = []tool.Part{{Name: cmp.Or(args.Text, "the end of its input"), Effects: granted(p)}}
			a.Preview = args.Text
		case "wait":
			a.Timeout += patient(args)
		}
		return a, nil
	})
}

func checkProcessArgs(args processArgs) error {
	switch {
	case args.Do == "list":
		return nil
	case args.Name == "":
		return invalid("name it as list does", "arguments of Process: %s needs a name", args.Do)
	case args.Do == "write" && args.Text == "" && !args.End:
		return invalid("send text, or end", "arguments of Process: there is nothing to write")
	case args.Do != "write" && (args.Text != "" || args.End):
		return invalid("only write takes text and end", "arguments of Process: %s takes no text", args.Do)
	case len(args.Text) > writeMax:
		return &tool.Failure{
			Kind: tool.TooLarge, Message: fmt.Sprintf("the text has %d bytes, more than %d", len(args.Text), writeMax),
			Hint: "write it in pieces",
		}
	}
	return nil
}

// granted is what p was allowed when it was started, which what holds it still
// holds it to.
func granted(p *process.Process) effect.Set {
	allowed := p.Command().Allowed
	if len(allowed) == 0 || slices.ContainsFunc(allowed, func(e effect.Effect) bool { return e.Kind == effect.Permanent }) {
		return effect.Set{{Kind: effect.Anything}}
	}
	return allowed
}

func patient(args processArgs) time.Duration {
	return cmp.Or(time.Duration(args.Timeout)*time.Second, waitUsual)
}

func script(p *process.Process) string {
	argv := p.Command().Argv
	return argv[len(argv)-1]
}

func (all *processes) find(name string) (*process.Process, error) {
	var names []string
	for _, p := range all.host.Processes() {
		if p.Name() == name {
			return p, nil
		}
		names = append(names, p.Name())
	}
	hint := "none was left in the background"
	if len(names) > 0 {
		hint = "there are " + strings.Join(names, ", ")
	}
	return nil, &tool.Failure{Kind: tool.NotFound, Message: fmt.Sprintf("there is no process %.80q", name), Hint: hint}
}

// act does what args say to p, and shows what it has printed by then.
func (all *processes) act(ctx context.Context, p *process.Process, args processArgs, env tool.Env) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return ended(err), nil
	}
	switch args.Do {
	case "write":
		if err := write(p, args); err != nil {
			return tool.Result{}, err
		}
	case "wait":
		soon, cancel := context.WithTimeout(ctx, patient(args))
		p.Wait(soon)
		cancel()
		if err := ctx.Err(); err != nil {
			return ended(err), nil
		}
	case "stop":
		p.Stop()
	}
	return all.show(p, args.From, env), nil
}

func write(p *process.Process, args processArgs) error {
	n, err := p.Write([]byte(args.Text))
	if err == nil && args.End {
		err = p.CloseInput()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, process.ErrNoInput):
		return &tool.Failure{Kind: tool.Unavailable, Message: p.Name() + " has ended, or its input has", Hint: "read what it printed"}
	}
	return &tool.Failure{
		Kind:    tool.IO,
		Message: fmt.Sprintf("%s took only %d of %d bytes: %v", p.Name(), n, len(args.Text), err),
		Hint:    "it may not be reading: see what it printed", Retry: n == 0,
	}
}

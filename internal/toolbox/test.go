package toolbox

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/toolbox/diagnostic"
	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed test.md
var testText string

type testArgs struct {
	Target  string `json:"target,omitempty" jsonschema:"file, directory or package; all by default"`
	Filter  string `json:"filter,omitempty" jsonschema:"name or pattern of tests, as the test runner takes it"`
	Timeout int    `json:"timeout_s,omitempty" min:"1" max:"600" jsonschema:"seconds; 120 by default"`
}

// A tester is the tool that runs a project's tests. It finds the command, has
// Bash run it, and reads what was printed: so the command is judged, confined
// and settled as a call of Bash is.
type tester struct {
	tool.Tool
	bash tool.Settler
}

// Test returns the tool that runs the tests of the project in w, in h. Its
// effects are those that Bash would declare for the command.
func Test(w *workspace.Workspace, h *process.Host, o BashOptions) tool.Tool {
	if o.Timeout == 0 {
		o.Timeout = bashUsual
	}
	bash := Bash(h, o)
	s := bash.Spec()
	s.Name, s.Version, s.Description, s.Input = "Test", 1, strings.TrimSpace(testText), nil
	s.Effects = slices.DeleteFunc(slices.Clone(s.Effects), permanent)
	t := tool.New(s, func(ctx context.Context, args testArgs, in tool.Input) (*tool.Action, error) {
		limit := o.Timeout
		if args.Timeout > 0 {
			limit = time.Duration(args.Timeout) * time.Second
		}
		run, err := findTests(w, wanted{target: args.Target, filter: args.Filter, limit: limit})
		if err != nil {
			return nil, err
		}
		in.Args = data(bashArgs{Command: run.command, Timeout: args.Timeout})
		a, err := bash.Prepare(ctx, in)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(a.Effects(), func(e effect.Effect) bool { return permanent(e.Kind) }) {
			return nil, invalid("run it with Bash, and say why", "%q does what cannot be undone", run.command)
		}
		do := a.Do
		a.Do = func(ctx context.Context, env tool.Env) (tool.Result, error) {
			return run.do(ctx, env, do)
		}
		return a, nil
	})
	return tester{Tool: t, bash: bash.(tool.Settler)}
}

func permanent(k effect.Kind) bool { return k == effect.Permanent }

// Settle tells how the command ended. What it printed is lost, and with it which
// tests failed.
func (t tester) Settle(ctx context.Context, p tool.Plan, fingerprint json.RawMessage) (*tool.Result, error) {
	r, err := t.bash.Settle(ctx, p, fingerprint)
	if r == nil || err != nil {
		return r, err
	}
	f := testFacts{Command: p.Preview, Outcome: diagnostic.Untold}
	if err := json.Unmarshal(r.Data, &f.bashFacts); err != nil {
		return nil, err
	}
	r.Data = data(f)
	return r, nil
}

// do runs the command as Bash would, and says what came of the tests.
func (run testRun) do(ctx context.Context, env tool.Env, bash func(context.Context, tool.Env) (tool.Result, error)) (tool.Result, error) {
	seen := &overheard{live: env.Live, reader: diagnostic.New(run.command)}
	env.Live = seen
	r, err := bash(ctx, env)
	if err != nil || len(r.Data) == 0 { // it was not run
		return r, err
	}
	f := testFacts{Command: run.command}
	if err := json.Unmarshal(r.Data, &f.bashFacts); err != nil {
		return tool.Result{}, err
	}
	if len(r.Artifacts) == 0 {
		r.Artifacts = seen.keep(env.Spill)
	}
	run.judge(&f, seen.reader.Reports())
	return run.say(r, f), nil
}

// keptMax is how much of an output is kept here; Bash keeps what is longer.
const keptMax = tool.DefaultInline

// An overheard takes what a command prints beside whoever watches it.
type overheard struct {
	live   io.Writer // nil for nobody
	reader *diagnostic.Reader
	start  bytes.Buffer
}

func (o *overheard) Write(b []byte) (int, error) {
	_, _ = o.reader.Write(b) // which never fails
	o.start.Write(b[:min(len(b), keptMax-o.start.Len())])
	if o.live != nil {
		return o.live.Write(b)
	}
	return len(b), nil
}

// keep stores an output that is too short for Bash to have done so.
func (o *overheard) keep(spill func(string) (tool.Spill, error)) []tool.Artifact {
	if spill == nil || o.start.Len() == 0 {
		return nil
	}
	s, err := spill("output")
	if err != nil {
		return nil // the text holds it
	}
	_, err = s.Write(o.start.Bytes())
	if err := errors.Join(err, s.Close()); err != nil {
		return nil
	}
	return []tool.Artifact{{
		Handle: s.Handle(), Type: "text/plain", Bytes: int64(o.start.Len()),
		Lines: int64(bytes.Count(o.start.Bytes(), []byte("\n"))),
	}}
}

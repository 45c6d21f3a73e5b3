package toolbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/shell"
	"github.com/belay-agent/belay/internal/toolbox/diagnostic"
	"github.com/belay-agent/belay/internal/world/process"
)

//go:embed bash.md
var bashText string

const (
	scriptMax  = 128<<10 - 1      // bytes that Linux takes as one argument
	bashMax    = 10 * time.Minute // what a call may ask for; the schema says so too
	bashUsual  = 2 * time.Minute
	summaryMax = 100 // characters
)

// BashOptions say where and how Bash runs commands.
type BashOptions struct {
	Root    string        // of the workspace; absolute
	Env     []string      // all of it
	Shell   []string      // the arguments before a script; see process.Shell
	Timeout time.Duration // of a call that asks for none; 0 means two minutes
	Silence time.Duration // longest wait for output; 0 means any
	Output  tool.Limits   // of what is shown of an output
	Instead bool          // a command that another tool covers is answered with that tool's call, and not run
	World   shell.World   // what a command line depends on; see World
}

type bashArgs struct {
	Command string `json:"command" jsonschema:"script for the shell"`
	Timeout int    `json:"timeout_s,omitempty" min:"1" max:"600" jsonschema:"seconds; 120 by default"`

	Background bool `json:"background,omitempty" jsonschema:"let it go on after timeout_s, 1 by default"`
	Terminal   bool `json:"terminal,omitempty" jsonschema:"for background"`

	Hosts []string `json:"hosts,omitempty" jsonschema:"to reach"`

	Why []string `json:"why,omitempty" jsonschema:"only for what cannot be undone, 3 answers: who approved it? in scope? no safer way?"` // the runtime's: it asks for them
}

// Bash returns the tool that runs a shell command in h. What a command would do
// is worked out from its parse; what that does not bound is effect.Anything. One
// that only reads runs with an environment in which it cannot do more. It is a
// tool.Settler: see settled.
func Bash(h *process.Host, o BashOptions) tool.Tool {
	if o.Timeout == 0 {
		o.Timeout = bashUsual
	}
	s := tool.Spec{
		Name: "Bash", Version: 1, Description: strings.TrimSpace(bashText),
		Effects: []effect.Kind{
			effect.Read, effect.Write, effect.Process, effect.Network, effect.Git,
			effect.Resource, effect.Permanent, effect.Anything,
		}, Idempotency: tool.None,
		Risk: tool.High, Inline: tool.DefaultInline, Timeout: bashMax,
	}
	bash := tool.New(s, func(_ context.Context, args bashArgs, in tool.Input) (*tool.Action, error) {
		if err := checkScript(args.Command); err != nil {
			return nil, err
		}
		hosts, err := hostNames(args.Hosts)
		if err != nil {
			return nil, err
		}
		parts, _ := shell.Parts(args.Command, o.World) // what is no script has a part that says so
		env, profile := shell.Environ(parts, o.Env)
		parts = reaching(parts, hosts, h.Confines)
		if profile == "" && h.Confines(together(parts)) {
			profile = string(h.Profile())
		}
		c := process.Command{
			Call: in.Call, Argv: append(append([]string{}, o.Shell...), args.Command),
			Dir: o.Root, Env: environ(env, args.Background && args.Terminal), Keep: endsMax, Timeout: o.Timeout, Silence: o.Silence,
			Apart: true, Stages: true,
		}
		if args.Timeout > 0 {
			c.Timeout = time.Duration(args.Timeout) * time.Second
		}
		most := c.Timeout
		if args.Background {
			most = lingering(&c, args)
		}
		return &tool.Action{
			Parts:   parts,
			Profile: profile,
			Summary: scriptSummary(args.Command) + asks(hosts),
			Preview: args.Command,
			Timeout: most,
			Do: func(ctx context.Context, env tool.Env) (tool.Result, error) {
				if calls := covered(args.Command); o.Instead && len(calls) > 0 {
					return tool.Result{}, instead(calls)
				}
				c.Allowed = env.Allowed
				if h.Confines(c.Allowed) {
					c.Allowed = apart(c.Allowed, hosts)
				}
				plain := o.plain(parts)
				r, err := runScript(ctx, h, c, newOutput(env, args.Command, o.Output))
				if plain && !o.plain(parts) {
					r.Text = redirected + r.Text
				}
				return r, err
			},
		}, nil
	})
	return settled{Tool: bash, host: h, silence: o.Silence}
}

func checkScript(script string) error {
	switch {
	case strings.TrimSpace(script) == "":
		return &tool.Failure{Kind: tool.Invalid, Message: "the command is empty", Hint: "send the script to run"}
	case strings.ContainsRune(script, 0):
		return &tool.Failure{Kind: tool.Invalid, Message: "the command has a NUL byte", Hint: `write it as '\0' for printf`}
	case len(script) > scriptMax:
		return &tool.Failure{
			Kind:    tool.TooLarge,
			Message: fmt.Sprintf("the command has %d bytes, more than %d", len(script), scriptMax),
			Hint:    "Write it to a file, and run that",
		}
	}
	return nil
}

// scriptSummary returns the first line of script, with nothing in it that a
// terminal would obey or hide.
func scriptSummary(script string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(script), "\n")
	var b strings.Builder
	n := 0
	for _, r := range line {
		if n++; n > summaryMax {
			rest = line
			break
		}
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	if rest != "" {
		b.WriteString(" ...")
	}
	return b.String()
}

// runScript runs c and says how it went.
func runScript(ctx context.Context, h *process.Host, c process.Command, out *output) (tool.Result, error) {
	c.Output = out
	e, err := h.Run(ctx, c)
	if err != nil {
		return notRun(c, err)
	}
	body, artifacts, facts := out.finish(e.Tail)
	if e.Lingers {
		r := lingers(e, c, body, facts)
		r.Artifacts = artifacts
		return r, nil
	}
	body += aftermath(e)
	if e.Held {
		body += "[something it started still runs and holds its output, of which no more is read" + heldBy(e) + "]\n"
	}
	facts.Reports = out.seen.Reports()
	if failing(e, c) != nil || len(failedStages(e.Stages)) > 0 {
		body += unseen(facts)
	}
	r := exited(e, c, body, facts)
	r.Artifacts = artifacts
	return r, nil
}

// exited is the result of c, which ended as e says, and printed what body shows
// and facts say of it.
func exited(e process.Exit, c process.Command, body string, facts bashFacts) tool.Result {
	facts.Signal, facts.TimedOut, facts.Idle = e.Signal, e.TimedOut, e.Idle
	facts.Cancelled, facts.Held, facts.Dir = e.Cancelled, e.Held, "."
	facts.Milliseconds = e.Took.Milliseconds()
	if e.Signal == "" {
		facts.Code = &e.Code
	}
	facts.Refused = e.Refused
	facts.Stages, facts.Errors = e.Stages, int64(len(e.Err.Head)+len(e.Err.Tail))+e.Err.Dropped
	r := tool.Result{
		Text:     body + refused(e) + greedy(e) + unshown(e, facts) + staged(e, c) + ending(e, c),
		Confined: e.Profile, Data: facts.encode(), Status: tool.Success,
	}
	if facts.Truncated {
		r.Status = tool.Partial
	}
	if r.Failure = failing(e, c); r.Failure != nil {
		r.Status = tool.Error
		if e.Cancelled {
			r.Status = tool.Interrupted
		}
	}
	return r
}

// notRun is the result of a command that was not started for err.
func notRun(c process.Command, err error) (tool.Result, error) {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, process.ErrClosed):
		r := tool.Failed(&tool.Failure{Kind: tool.Cancelled, Message: "cancelled before the command started", Retry: true})
		r.Status = tool.Interrupted
		return r, nil
	case errors.Is(err, context.DeadlineExceeded):
		return tool.Result{}, &tool.Failure{Kind: tool.TimedOut, Message: "the time was over before the command started", Retry: true}
	case errors.Is(err, process.ErrMany):
		return tool.Result{}, &tool.Failure{
			Kind: tool.Unavailable, Message: fmt.Sprintf("the command was not started: %v", process.ErrMany),
			Hint: "stop some of them with Process", Retry: true,
		}
	case errors.Is(err, process.ErrUnheld):
		return tool.Result{}, &tool.Failure{
			Kind: tool.Denied, Message: "the command was not started: the settings require a sandbox, and none would hold it",
			Hint: "split it into commands of which it is clear what they do",
		}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return tool.Result{}, &tool.Failure{
			Kind:    tool.Unavailable,
			Message: fmt.Sprintf("the command was not started in %s: %v", c.Dir, err),
		}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EIO):
		return tool.Result{}, &tool.Failure{
			Kind: tool.IO, Message: fmt.Sprintf("the command was not started: %v", err),
			Hint: "make room on the disk", Retry: true,
		}
	}
	return tool.Result{}, err
}

// ending is the last line of the text: it always says how the command ended.
func ending(e process.Exit, c process.Command) string {
	var why string
	switch {
	case e.TimedOut:
		why = fmt.Sprintf("timed out after %s: ", c.Timeout)
	case e.Idle:
		why = fmt.Sprintf("silent for %s: ", c.Silence)
	case e.Cancelled:
		why = "cancelled: "
	}
	how := fmt.Sprintf("exit status %d", e.Code)
	if e.Signal != "" {
		how = "ended by " + e.Signal
	}
	if why == "" && e.Took >= time.Second {
		how += fmt.Sprintf(" after %s", e.Took.Round(100*time.Millisecond))
	}
	return why + how
}

// failing returns what the model should know of an end that is no success.
func failing(e process.Exit, c process.Command) *tool.Failure {
	switch {
	case e.TimedOut:
		return &tool.Failure{
			Kind: tool.TimedOut, Message: fmt.Sprintf("the command did not end within %s", c.Timeout),
			Hint: "ask for a longer timeout_s, at most 600, or do less in one call", Retry: true,
		}
	case e.Idle:
		return &tool.Failure{
			Kind: tool.Idle, Message: fmt.Sprintf("the command printed nothing for %s", c.Silence),
			Hint: "if it waited for input, tell it not to ask", Retry: true,
		}
	case e.Cancelled:
		return &tool.Failure{Kind: tool.Cancelled, Message: "the command was cancelled", Retry: true}
	case e.Signal == "SIGKILL":
		return &tool.Failure{
			Kind: tool.Signalled, Message: "the command was ended by SIGKILL",
			Hint: "unless something of its own killed it, memory may have run out",
		}
	case e.Signal != "":
		return &tool.Failure{Kind: tool.Signalled, Message: "the command was ended by " + e.Signal}
	case e.Code != 0:
		f := &tool.Failure{Kind: tool.NonzeroExit, Message: fmt.Sprintf("the command ended with exit status %d", e.Code), Hint: stopped(e)}
		switch e.Code {
		case 126:
			f.Hint = "the program cannot be executed: check its mode and format"
		case 127:
			f.Hint = "the program was not found: check its name, or whether it is installed"
		}
		return f
	}
	return nil
}

// bashFacts is what a result says to programs.
type bashFacts struct {
	Code         *int     `json:"exit_code"` // null where a signal ended it, or it goes on
	Signal       string   `json:"signal,omitempty"`
	Background   string   `json:"background,omitempty"` // the name of the process that it has become; then all else is of until then
	Stages       []int    `json:"stages,omitempty"`     // exit statuses of its last pipeline
	TimedOut     bool     `json:"timed_out"`
	Idle         bool     `json:"idle,omitempty"`
	Cancelled    bool     `json:"cancelled,omitempty"`
	Held         bool     `json:"held"` // something it started still held its output
	Milliseconds int64    `json:"duration_ms"`
	Bytes        int64    `json:"output_bytes"`
	Errors       int64    `json:"stderr_bytes,omitempty"`  // of that
	Refused      []string `json:"refused_hosts,omitempty"` // it was not let reach them
	Dropped      int64    `json:"dropped_bytes"`           // kept nowhere
	Truncated    bool     `json:"truncated"`               // the text shows less than all
	Preview      string   `json:"preview,omitempty"`       // its start, where truncated
	Lines        int64    `json:"total_lines,omitempty"`   // of all of it, where truncated
	Binary       bool     `json:"binary,omitempty"`
	Sum          string   `json:"output_sha256,omitempty"` // of all of it, where truncated
	Dir          string   `json:"cwd"`

	Reports []diagnostic.Report `json:"reports,omitempty"` // what builds and tests said
}

func (f bashFacts) encode() json.RawMessage {
	b, err := json.Marshal(f)
	if err != nil {
		panic("toolbox: facts of a command are always JSON: " + err.Error())
	}
	return b
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/report"
	"github.com/belay-agent/belay/internal/decide/secret"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/toolbox"
	"github.com/belay-agent/belay/internal/ui/terminal"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/repo"
	"github.com/belay-agent/belay/internal/world/snapshot"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A rig is all that one session runs with, put together. It must be closed.
type rig struct {
	settings  *Config
	workspace *workspace.Workspace
	secrets   *secret.Redactor
	images    string // the directory of before-images, "" if none are kept
	host      *process.Host
	journal   *journal.Journal
	snapshots *snapshot.Store // nil where undo does not cover commands
	model     model.Info
	fallback  *agent.Fallback
	ui        *terminal.UI
	agent     *agent.Agent
	offered   []tool.Spec
	schema    *answerSchema
	id        string
	kept      bool        // on disk
	answer    string      // the newest words of the model
	lastCall  string      // that ended
	answered  int64       // the event with the answer of a turn that was cut after it, or 0
	unasked   atomic.Bool // something was denied for want of an approver
	broken    error       // of the event stream
	told      report.Log  // the events that were reported on
	reported  int         // the newest turn that was
	findings  []string    // of verification, in the turns of this run
	verbose   bool
	closers   []func() error
}

// openOptions say what a rig is for.
type openOptions struct {
	runOptions
	session    string // to resume; "" begins one
	interrupts *interrupts
	talk       bool  // with a person at the keyboard, turn after turn
	forgetful  bool  // nothing is kept
	refused    error // of the disk that was to keep it
	asked      bool  // for a call on the command line, which allows it
	provider   model.Provider
	info       model.Info
}

// open puts a rig together. A new session that the disk has no room for lives in
// memory.
func (s System) open(ctx context.Context, o openOptions) (*rig, error) {
	r, err := s.assemble(ctx, o)
	if o.session == "" && !o.forgetful && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || is[*journal.Failed](err)) {
		o.forgetful, o.refused = true, err
		return s.assemble(ctx, o)
	}
	return r, err
}

// assemble does the cheapest checks first.
func (s System) assemble(ctx context.Context, o openOptions) (r *rig, err error) {
	r = &rig{id: o.session, verbose: o.verbose}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if err = s.in(o.dir).openPlace(r, o); err != nil {
		return r, err
	}
	if o.schema != "" {
		if r.schema, err = readSchema(o.schema); err != nil {
			return r, err
		}
	}
	provider := o.provider
	if r.model = o.info; provider == nil {
		if provider, r.model, err = s.openModel(ctx, r.settings); err != nil {
			return r, unusable(err)
		}
		if r.fallback, err = s.openFallback(ctx, r.settings); err != nil {
			return r, unusable(err)
		}
	}
	s.openUI(r, o)
	if o.refused != nil {
		r.ui.Say(unkept + o.refused.Error())
	} else {
		for _, w := range r.settings.Warnings {
			r.ui.Say(w)
		}
	}
	if o.provider == nil && o.session == "" && !r.model.Known && !strings.HasPrefix(r.model.Name, "script:") {
		r.ui.Say(fmt.Sprintf("little is known of %s: a window of %d tokens and replies of %d are assumed; models.toml can say more (docs/models.md)", r.model.Name, r.model.Window, r.model.MaxOutput))
	}
	if o.provider == nil && r.settings.Limits.Cost > 0 && r.model.Price == (model.Price{}) && !free(r.model.Name) {
		r.ui.Say("the price of " + r.model.Name + " is not known, so the limit of cost cannot end a turn; --max-tokens can")
	}
	state, err := s.openJournal(r, o)
	if err != nil {
		return r, err
	}
	s.openUndo(r)
	tools, err := s.openTools(r, o)
	if err != nil {
		return r, err
	}
	if answer, ok := state.Answered(); ok {
		r.answered = answer.Seq
	}
	r.agent, err = agent.Open(ctx, state, s.agentOptions(r, o, provider, tools))
	return r, err
}

// again shows the answer of a turn that was cut after it, to whoever resumes.
func (r *rig) again() error {
	if r.answered == 0 {
		return nil
	}
	for e, err := range r.journal.Since(r.answered - 1) {
		if err == nil {
			r.agent.Observe(agent.Recorded{Event: e})
		}
		return err
	}
	return nil
}

// openPlace opens the workspace and reads the settings that hold there.
func (s System) openPlace(r *rig, o openOptions) error {
	root, err := s.root()
	if err != nil {
		return err
	}
	w, err := workspace.Open(root)
	if err != nil {
		return usage("%v", err)
	}
	r.workspace = w
	r.closers = append(r.closers, w.Close)
	r.settings, err = LoadConfig(Sources{
		User: s.userConfig(), Dir: w.Root(), State: s.stateDir(), Flags: o.flags(), Getenv: s.getenv,
	})
	return err
}

// flags returns the settings that were given on the command line.
func (o runOptions) flags() []Flag {
	var flags []Flag
	add := func(set bool, name, key, value string) {
		if set {
			flags = append(flags, Flag{Name: name, Key: key, Value: value})
		}
	}
	add(o.model != "", "--model", "model", o.model)
	add(o.fallback != "", "--fallback", "fallback", o.fallback)
	add(o.mode != "", "--mode", "mode", o.mode)
	add(o.effort != "", "--effort", "effort", o.effort)
	add(o.steps != 0, "--max-steps", "limits.steps", fmt.Sprint(o.steps))
	add(o.tokens != 0, "--max-tokens", "limits.tokens", fmt.Sprint(o.tokens))
	add(o.cost != "", "--max-cost", "limits.cost", o.cost)
	add(o.timeout != 0, "--timeout", "limits.timeout", o.timeout.String())
	return flags
}

// openUI shows progress on standard error and the answer on standard output,
// unless events go there.
func (s System) openUI(r *rig, o openOptions) {
	options := terminal.Options{
		Out: deaf{s.Stdout, o.interrupts}, Progress: s.Stderr,
		Color: s.colours(s.Stderr), Live: s.obeys(s.Stderr), Quiet: o.quiet, Verbose: o.verbose,
	}
	if isTerminal(s.Stderr) {
		options.Width, options.Height = size(s.Stderr)
		options.Size = func() (int, int) { return size(s.Stderr) }
	}
	if o.json {
		options.Out = io.Discard
	}
	if o.talk || isTerminal(s.Stdin) && isTerminal(s.Stderr) {
		options.In = s.Stdin
	}
	if f, ok := s.Stdin.(*os.File); ok && isTerminal(f) {
		options.Discard = func() { discard(f) }
		options.Pending = func() bool { return pending(f) }
	}
	options.Stream = o.talk
	r.ui = terminal.New(options)
	r.closers = append(r.closers, r.ui.Close)
	if o.interrupts != nil && !o.quiet {
		o.interrupts.telling(func() { r.ui.Say("stopping; Ctrl-C again ends Belay at once") })
	}
}

// unkept begins what is said of a session that is in memory only.
const unkept = "nothing of this session is kept, so there is no log, resume or undo: "

// openJournal locks and reads the session, or begins one. Where no directory
// can be written the session lives in memory, and that is said.
func (s System) openJournal(r *rig, o openOptions) (*session.State, error) {
	st := s.store()
	if r.id == "" {
		r.id = newID()
	}
	var err error
	r.kept = !o.forgetful
	r.secrets = s.redactor(r)
	switch {
	case o.forgetful:
	case st.dir == "" && o.session == "":
		r.ui.Say(unkept + "no home directory is known")
		r.kept = false
	default:
		r.journal, err = journal.Options{Redactor: r.secrets, Rescue: os.TempDir()}.Open(st.path(r.id))
		if err != nil && o.session == "" {
			r.ui.Say(unkept + err.Error())
			r.kept, err = false, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if !r.kept {
		r.journal = journal.Memory(r.secrets)
	}
	r.closers = append(r.closers, r.journal.Close)
	return r.fold()
}

// fold returns what the events of the session add up to, from the newest snapshot
// on. One that cannot be used is as good as none: the log has everything.
func (r *rig) fold() (*session.State, error) {
	state := new(session.State)
	if seq, kept := r.journal.Snapshot(); kept != nil {
		if restored, err := session.Restore(kept); err == nil && restored.Seq() == seq {
			state = restored
		}
	}
	for e, err := range r.journal.Since(state.Seq()) {
		if err != nil {
			return nil, err
		}
		if err := state.Apply(e); err != nil {
			return nil, fmt.Errorf("session %s: %w", r.id, err)
		}
	}
	return state, nil
}

func (s System) openTools(r *rig, o openOptions) ([]tool.Tool, error) {
	spool := ""
	if dir := s.store().dir; r.kept {
		spool = filepath.Join(dir, r.id, "spool")
	}
	box := s.sandbox(r.workspace.Root())
	box.Required = r.settings.RequireSandbox
	if most := int64(r.settings.Bash.Memory) << 20; most > 0 && (box.Limits.Memory == 0 || most < box.Limits.Memory) {
		box.Limits.Memory = most
	}
	host, err := box.Open(spool)
	if err != nil {
		return nil, err
	}
	r.host = host
	o.interrupts.killing(host.Kill)
	r.closers = append(r.closers, host.Close)
	if box.Required && host.Profile() == process.None {
		return nil, usage("require_sandbox is set, and nothing here holds commands; belay doctor says why")
	}
	env := s.childEnv(r.settings)
	shell, err := process.Shell(env)
	if err != nil {
		return nil, usage("%v; put one of them on the PATH", err)
	}
	tools := toolbox.All(toolbox.Options{
		Workspace: r.workspace, Host: host,
		Bash:     toolbox.BashOptions{Root: r.workspace.Root(), Env: env, Shell: shell, Timeout: r.settings.Bash.Timeout, Output: r.settings.Output, Instead: !r.settings.Bash.Covered},
		Withheld: r.withheld, Parting: r.parting, Patch: r.settings.Patch,
	})
	for _, t := range tools {
		r.offered = append(r.offered, t.Spec())
	}
	if err := r.settings.Policy().Check(r.offered); err != nil {
		return nil, usage("%v", err)
	}
	return tools, nil
}

func (s System) agentOptions(r *rig, o openOptions, p model.Provider, tools []tool.Tool) agent.Options {
	options := agent.Options{
		Journal: r.journal, Provider: p, Model: r.model, Fallback: r.fallback, Tools: tools,
		Session: event.Opened{
			Session: r.id, Root: r.workspace.Root(), Commit: r.workspace.Head(),
			Version: fullVersion(), Model: r.model.Name, Mode: string(r.settings.Mode),
		},
		Effort: r.settings.Effort, Policy: r.settings.Policy(),
		Limits: r.settings.Limits, Breaker: r.settings.Breaker, CompactAt: r.settings.CompactAt, Output: r.settings.Output,
		Rules:   r.rules,
		Observe: r.observer(s, o),
		News:    func() (string, []string) { return toolbox.News(r.host) },
	}
	if r.settings.Recall {
		recaller := &repo.Recaller{Workspace: r.workspace, Withheld: func(path string) bool { return r.withheld(".", path) }}
		options.Recall = recaller.Recall
	}
	if r.schema != nil {
		options.Schema = json.RawMessage(r.schema.text)
	}
	if r.kept {
		options.Keep = func(seq int64, state []byte) {
			if err := r.journal.Keep(seq, state); err != nil {
				r.ui.Say("the session will take longer to resume: " + err.Error())
			}
		}
	}
	if o.talk || isTerminal(s.Stdin) && isTerminal(s.Stderr) {
		approve, shown := r.approver(s.userConfig()), newVeil(r.secrets)
		options.Approve = func(ctx context.Context, q agent.Question) (agent.Answer, error) {
			return approve(ctx, shown.question(q))
		}
		options.Unknown = r.ui.Unknown
		options.Ask = func(ctx context.Context, schema json.RawMessage, text string) (json.RawMessage, error) {
			return r.ui.Ask(ctx, schema, r.secrets.Text(text))
		}
	}
	if o.asked {
		options.Approve = byCommand
	}
	r.reversible(&options)
	return options
}

// observer shows what happens, prints it as JSON if that is wanted, and keeps
// what the end of the run depends on.
func (r *rig) observer(s System, o openOptions) func(agent.Signal) {
	var out *lines
	if o.json {
		out = newLines(deaf{s.Stdout, o.interrupts})
	}
	live, spans := newVeil(r.secrets), s.openSpans(r, o)
	return func(signal agent.Signal) {
		if s, ok := signal.(agent.Recorded); ok && s.Event.Kind() == "stopped" && r.agent != nil {
			r.ui.Fill(r.agent.Fill())
		}
		for _, shown := range live.pass(signal) {
			r.ui.Observe(shown)
		}
		recorded, ok := signal.(agent.Recorded)
		if !ok {
			return
		}
		switch b := recorded.Event.Body.(type) {
		case event.Replied:
			r.answer = b.Message.Text()
		case event.Finished:
			r.lastCall = b.Call
			if r.snapshots != nil {
				if err := r.snapshots.Done(b.Call); err != nil {
					r.ui.Say(err.Error())
				}
			}
			if err := r.host.Forget(b.Call); err != nil { // its result is on disk: nobody will ask what the command left
				r.ui.Say("what command " + b.Call + " left was not removed: " + err.Error())
			}
			if f := b.Result.Failure; f != nil && f.Kind == tool.NeedsApproval {
				r.unasked.Store(true)
			}
		}
		spans.add(recorded.Event)
		if out != nil && r.broken == nil {
			r.broken = out.write(recorded.Event)
		}
	}
}

// withheld reports whether Read of a file meets a stricter verdict than it does
// at base, which was let pass: what was asked about there opens nothing that is
// denied.
func (r *rig) withheld(base, path string) bool {
	i := slices.IndexFunc(r.offered, func(t tool.Spec) bool { return t.Name == "Read" })
	if i < 0 {
		return false
	}
	verdict := func(path string) policy.Verdict {
		part := tool.Part{Name: path, Effects: effect.Set{{Kind: effect.Read, On: path}}}
		return r.settings.Policy().Decide(r.offered[i], []tool.Part{part}).Verdict
	}
	strict := verdict(path)
	return strict > policy.Allow && strict > verdict(base) // most files are no stricter than anything
}

// parting reports whether a rule of the user lets one of the file tools change a
// file without asking. It may then be parted from its other names, too.
func (r *rig) parting(path string) bool {
	p := r.settings.Policy()
	p.Mode = policy.ModeAsk // in which nothing but a rule lets a change pass
	part := tool.Part{Name: path, Effects: effect.Set{{Kind: effect.Write, On: path}}}
	return slices.ContainsFunc(r.offered, func(t tool.Spec) bool {
		return slices.Contains(t.Effects, effect.Write) && !slices.Contains(t.Effects, effect.Process) &&
			p.Decide(t, []tool.Part{part}).Verdict == policy.Allow
	})
}

// rules finds the files that a project's rules for the model are in.
func (r *rig) rules(_ context.Context, paths []string) ([]event.Ruled, error) {
	files, err := r.workspace.RuleFiles(paths...)
	if err != nil {
		return nil, usage("%v; what the project asks for is not left out silently: mend the file or move it away", err)
	}
	var ruled []event.Ruled
	for _, f := range files {
		ruled = append(ruled, event.Ruled{Path: f.Path, Digest: f.Digest, Text: f.Content, Left: f.Left})
	}
	return ruled, nil
}

// unusable turns what is wrong with the choice of a model into wrong usage:
// nothing was sent yet.
func unusable(err error) error {
	bad, ok := errors.AsType[*model.BadRequest](err)
	if !ok {
		return err
	}
	return usage("%s; %s", bad.Reason, bad.Hint)
}

// outcome is what the program ends with after a turn that ended in err.
func (r *rig) outcome(err error) error {
	if err == nil {
		err = r.broken
	}
	if err == nil && r.unasked.Load() {
		return &statusError{exitDenied, errUnasked}
	}
	return err
}

// close ends everything in the reverse order of its opening: what runs before
// what records.
func (r *rig) close() error {
	errs := []error{r.lateWrites()}
	for i := len(r.closers) - 1; i >= 0; i-- {
		errs = append(errs, r.closers[i]())
	}
	r.closers = nil
	return errors.Join(errs...)
}

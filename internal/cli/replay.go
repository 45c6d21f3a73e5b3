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
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/ui/replay"
	"github.com/belay-agent/belay/internal/world/journal"
)

type replayOptions struct {
	dir, model string
	set        []string
	asJSON     bool
}

func (s System) replayCommand() *cobra.Command {
	var o replayOptions
	c := &cobra.Command{
		Use:   "replay [SESSION...]",
		Short: "Run recorded sessions again with one thing changed, and show the difference",
		Long: `Run sessions again from their records, by default the newest of this directory, with
one thing changed, and show step by step what differs: the requests, their tokens, and
what the model asks for next. Nothing is read, run or written: results are those that
were recorded. A call that was not made then has none, and fails.

Without --model the recorded replies are played, so that only requests can differ; with
it a model answers. What can be changed with --set, one at a time:

  system=TEXT         Belay's own part of the system prompt
  rules.PATH=TEXT     a rule file such as AGENTS.md; without TEXT it is gone
  tools.NAME=TEXT     the description of a tool
  effort=low|medium|high
  compact_at=SHARE    of what the model takes, from which on older parts are left out

TEXT that begins with @ is the name of a file. SESSION is an id or the beginning of one.`,
		Example: `  belay replay --set rules.AGENTS.md=@AGENTS.new.md
  belay replay 01J8Z3 01J8Z4 --model anthropic/claude-sonnet-4-6 --set tools.Grep=@grep.md
  belay replay --json | jq .steps`,
		RunE: func(c *cobra.Command, ids []string) error { return s.in(o.dir).replay(c.Context(), o, ids) },
	}
	f := c.Flags()
	f.StringArrayVar(&o.set, "set", nil, "the one thing to change, as `KEY=VALUE`")
	f.StringVarP(&o.model, "model", "m", "", "let this `MODEL` answer, instead of playing the recorded replies")
	f.BoolVar(&o.asJSON, "json", false, "one JSON object a session")
	f.StringVarP(&o.dir, "dir", "C", "", "the newest session of `DIR` instead of here")
	return c
}

func (s System) replay(ctx context.Context, o replayOptions, names []string) error {
	if len(o.set) > 1 {
		return usage("--set is given %d times: what made the difference could not be told; change one thing at a time", len(o.set))
	}
	st := s.store()
	ids := []string{}
	for _, name := range names {
		id, err := st.find(name)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if len(names) == 0 {
		id, err := s.session(st, nil)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	var sum replayed
	left := 0 // sessions that went another way
	for _, id := range ids {
		one, err := s.replaySession(ctx, st, id, o)
		if err != nil {
			return fmt.Errorf("replay %s: %w", id, err)
		}
		if err := s.printReplay(one, o.asJSON); err != nil {
			return err
		}
		sum = sum.plus(one)
		if one.Left > 0 {
			left++
		}
	}
	if len(ids) > 1 && !o.asJSON {
		_, err := fmt.Fprintf(s.Stdout, "all %d sessions: %s; %d went another way\n", len(ids), sum.totals(), left)
		return err
	}
	return nil
}

// change returns options and what is changed in the session itself, by setting.
func (s System) change(setting string, o *agent.Options) (replay.Change, error) {
	var c replay.Change
	if setting == "" {
		return c, nil
	}
	key, value, found := strings.Cut(setting, "=")
	if !found {
		return c, usage("--set %s: write KEY=VALUE; see `belay replay --help`", setting)
	}
	if file, isFile := strings.CutPrefix(value, "@"); isFile {
		if !filepath.IsAbs(file) {
			file = filepath.Join(s.dir(), file)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return c, usage("--set %s: %v", key, err)
		}
		value = string(b)
	}
	switch place, name, _ := strings.Cut(key, "."); {
	case key == "system" && value != "":
		c.System = value
	case place == "rules" && name != "":
		c.Rules = map[string]string{name: value}
	case place == "tools" && name != "" && value != "":
		c.Tools = map[string]string{name: value}
	case key == "effort":
		effort, err := parseEffort(value)
		if err != nil {
			return c, usage("--set effort: %v", err)
		}
		o.Effort = effort
	case key == "compact_at":
		at, err := parseShare(value)
		if err != nil {
			return c, usage("--set compact_at: %v", err)
		}
		o.CompactAt = at
	case key == "system" || place == "tools" && name != "":
		return c, usage("--set %s: a text is missing behind =", key)
	default:
		return c, usage("--set %s: it cannot be changed; what can: system, rules.PATH, tools.NAME, effort, compact_at", key)
	}
	return c, nil
}

func (s System) replaySession(ctx context.Context, st store, id string, o replayOptions) (replayed, error) {
	view := journal.Watch(st.path(id))
	var events []event.Event
	for e, err := range view.Next() {
		if err != nil {
			return replayed{}, fmt.Errorf("%w; belay doctor says more", err)
		}
		events = append(events, e)
	}
	recording, err := replay.Read(events, view.Artifact)
	if err != nil {
		return replayed{}, usage("session %s: %v", id, err)
	}
	memory := journal.Memory(nil)
	options := agent.Options{Journal: playedJournal{memory, view}, Policy: policy.Policy{Mode: policy.ModeFull}}
	changed := ""
	if len(o.set) > 0 {
		changed = o.set[0]
	}
	change, err := s.change(changed, &options)
	if err != nil {
		return replayed{}, err
	}
	if o.model != "" {
		settings, err := LoadConfig(Sources{User: s.userConfig(), State: s.stateDir(), Dir: s.dir(), Getenv: s.getenv, Flags: []Flag{{Name: "--model", Key: "model", Value: o.model}}})
		if err != nil {
			return replayed{}, err
		}
		if options.Provider, options.Model, err = s.openModel(ctx, settings); err != nil {
			return replayed{}, unusable(err)
		}
		if changed != "" && options.Model.Name != recording.Model() {
			return replayed{}, usage("the session is of %s: another model and --set are two changes; leave out one", recording.Model())
		}
	} else {
		known, _ := s.catalogue() // without it a window is not known, and nothing is compacted
		options.Model = model.Info{Name: recording.Model(), Window: known.Models[recording.Model()].Window, MaxOutput: recording.MaxOutput()}
	}
	was := recording.Steps()
	is, ended := recording.Play(ctx, options, change)
	if missing, ok := errors.AsType[*replay.NoTool](ended); ok {
		return replayed{}, usage("--set %s: %v", changed, missing)
	}
	if is == nil && ended != nil {
		return replayed{}, ended
	}
	return newReplayed(id, changed, replay.Compare(was, is), ended), nil
}

// A replayed is what came of a replay.
type replayed struct {
	Session string         `json:"session"`
	Changed string         `json:"changed,omitempty"`
	Steps   []replayedStep `json:"steps"`
	Was     replayTotals   `json:"was"`
	Is      replayTotals   `json:"is"`
	Left    int            `json:"left_the_path"` // the step in which what comes next first differs, from 1; 0 is none
	Missing []string       `json:"missing"`       // lines that the request had there, and has no more
	Added   []string       `json:"added"`         // ... and the other way round
	Ended   string         `json:"ended,omitempty"`
}

type replayTotals struct {
	Steps  int `json:"steps"`
	Tokens int `json:"request_tokens"`
	Bytes  int `json:"request_bytes"`
}

type replayedStep struct {
	Turn    int          `json:"turn"`
	Step    int          `json:"step"`
	Was     *replayedRun `json:"was,omitempty"`
	Is      *replayedRun `json:"is,omitempty"`
	Request []string     `json:"request_differs_in"`
	Same    bool         `json:"same_next"`
}

type replayedRun struct {
	Tokens int      `json:"request_tokens"`
	Bytes  int      `json:"request_bytes"`
	Next   []string `json:"next"`
}

func newReplayed(id, changed string, pairs []replay.Pair, ended error) replayed {
	r := replayed{Session: id, Changed: changed, Steps: []replayedStep{}, Missing: []string{}, Added: []string{}}
	if ended != nil {
		r.Ended = ended.Error()
	}
	for i, p := range pairs {
		step := replayedStep{Turn: p.Turn, Step: p.Step, Was: runOf(p.Was, &r.Was), Is: runOf(p.Is, &r.Is), Request: slices.Concat([]string{}, p.Request), Same: p.SameNext}
		r.Steps = append(r.Steps, step)
		if !p.SameNext && r.Left == 0 {
			r.Left = i + 1
			if p.Was != nil && p.Is != nil {
				missing, added := replay.Context(p.Was.Request, p.Is.Request)
				r.Missing, r.Added = append(r.Missing, missing...), append(r.Added, added...)
			}
		}
	}
	return r
}

func runOf(s *replay.Step, sum *replayTotals) *replayedRun {
	if s == nil {
		return nil
	}
	sum.Steps++
	sum.Tokens += s.Tokens
	sum.Bytes += s.Bytes
	return &replayedRun{s.Tokens, s.Bytes, replay.Next(s.Reply)}
}

func (r replayed) plus(x replayed) replayed {
	add := func(a *replayTotals, b replayTotals) {
		a.Steps, a.Tokens, a.Bytes = a.Steps+b.Steps, a.Tokens+b.Tokens, a.Bytes+b.Bytes
	}
	add(&r.Was, x.Was)
	add(&r.Is, x.Is)
	return r
}

func (r replayed) totals() string {
	return fmt.Sprintf("%d → %s, %d → %d tokens of requests", r.Was.Steps, count(int64(r.Is.Steps), "step"), r.Was.Tokens, r.Is.Tokens)
}

func (s System) printReplay(r replayed, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(tame{s.Stdout}).Encode(r)
	}
	out := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
	title := "session " + r.Session
	if r.Changed != "" {
		title += ", with " + oneLine(r.Changed, 60)
	}
	fmt.Fprintln(out, title)
	fmt.Fprintln(out, "step\ttokens\trequest differs in\tnext")
	for i, step := range r.Steps {
		fmt.Fprintf(out, "%d\t%s\t%s\t%s\n", i+1, tokensOf(step), orNone(strings.Join(step.Request, ", ")), nextOf(step))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintln(&b, r.totals())
	if r.Left > 0 {
		fmt.Fprintf(&b, "step %d left the path\n", r.Left)
		for _, line := range r.Missing {
			fmt.Fprintln(&b, "  - "+oneLine(line, 100))
		}
		for _, line := range r.Added {
			fmt.Fprintln(&b, "  + "+oneLine(line, 100))
		}
	}
	if r.Ended != "" {
		fmt.Fprintln(&b, "it ended early: "+oneLine(r.Ended, 0))
	}
	_, err := fmt.Fprint(s.Stdout, b.String())
	return err
}

func tokensOf(s replayedStep) string {
	switch {
	case s.Was == nil:
		return fmt.Sprintf("none → %d", s.Is.Tokens)
	case s.Is == nil:
		return fmt.Sprintf("%d → none", s.Was.Tokens)
	case s.Was.Tokens == s.Is.Tokens:
		return fmt.Sprint(s.Is.Tokens)
	}
	return fmt.Sprintf("%d → %d", s.Was.Tokens, s.Is.Tokens)
}

func nextOf(s replayedStep) string {
	show := func(r *replayedRun) string {
		if r == nil {
			return "nothing"
		}
		return oneLine(strings.Join(r.Next, "; "), 60)
	}
	if s.Same {
		return show(s.Is)
	}
	return show(s.Was) + " → " + show(s.Is)
}

// A playedJournal keeps what a replay records in memory, and has the artifacts of
// the session that is played.
type playedJournal struct {
	*journal.Journal
	recorded *journal.View
}

func (j playedJournal) Artifact(handle string) (io.ReadSeekCloser, error) {
	if f, err := j.Journal.Artifact(handle); err == nil {
		return f, nil
	}
	return j.recorded.Artifact(handle)
}

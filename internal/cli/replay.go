package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/ui/replay"
	"github.com/belay-agent/belay/internal/world/journal"
)

type replayOptions struct {
	dir, model string
	set        []string
	all        bool
	asJSON     bool
}

func (s System) replayCommand() *cobra.Command {
	var o replayOptions
	c := &cobra.Command{
		Use:   "replay [SESSION...]",
		Short: "Run recorded sessions again with one thing changed, and show the difference",
		Long: `Run sessions again from their records, by default the newest of this directory, with
one thing changed, and show step by step what differs: the requests, their tokens, and
what the model asks for next; then whether the log proves that it succeeded, before and
after, and which results were not taken up. Nothing is read, run or written: results
are those that were recorded. A call that was not made then has none, and fails.

Without --model the recorded replies are played, so that only requests can differ; with
it a model answers. What can be changed with --set, one at a time:

  system=TEXT         Belay's own part of the system prompt
  rules.PATH=TEXT     a rule file, such as AGENTS.md or lib/AGENTS.md; without TEXT it is
                      gone, and one that the session did not have is new
  tools.NAME=TEXT     the description of a tool
  effort=low|medium|high
  compact_at=SHARE    of what the model takes, from which on older parts are left out

TEXT that begins with @ is the name of a file. SESSION is an id or the beginning of one.`,
		Example: `  belay replay --set rules.AGENTS.md=@AGENTS.new.md
  belay replay 01J8Z3 01J8Z4 --model anthropic/claude-sonnet-4-6 --set tools.Grep=@grep.md
  belay replay --all --set system=@prompt.md
  belay replay --json | jq .steps`,
		RunE: func(c *cobra.Command, ids []string) error { return s.in(o.dir).replay(c.Context(), o, ids) },
	}
	f := c.Flags()
	f.StringArrayVar(&o.set, "set", nil, "the one thing to change, as `KEY=VALUE`")
	f.StringVarP(&o.model, "model", "m", "", "let this `MODEL` answer, instead of playing the recorded replies")
	f.BoolVar(&o.all, "all", false, "all sessions of this directory, oldest first")
	f.BoolVar(&o.asJSON, "json", false, "one JSON object a session and, where there are several, one of all")
	f.StringVarP(&o.dir, "dir", "C", "", "the newest session of `DIR` instead of here")
	return c
}

func (s System) replay(ctx context.Context, o replayOptions, names []string) error {
	if len(o.set) > 1 {
		return usage("--set is given %d times: what made the difference could not be told; change one thing at a time", len(o.set))
	}
	st := s.store()
	ids, err := s.cases(st, o.all, names)
	if err != nil {
		return err
	}
	var cases []replayed
	var lacking *replay.NoRule // why one is left out
	damaged := false
	for _, id := range ids {
		one, err := s.replaySession(ctx, st, id, o)
		if err != nil {
			damaged = damaged || is[*unreadable](err)
			if missing, ok := errors.AsType[*replay.NoRule](err); ok {
				lacking = missing
			}
			if err := s.unplayed(id, err, o); err != nil {
				return err
			}
			continue
		}
		cases = append(cases, one)
		if err := s.printReplay(one, o.asJSON); err != nil {
			return err
		}
	}
	switch {
	case len(cases) == 0 && lacking != nil:
		return noRule(o, lacking)
	case len(cases) > 1:
		err = s.printReplays(cases, o.asJSON)
	case len(cases) == 0 && !damaged:
		err = s.sayNoSession(false)
	}
	if err != nil {
		return err
	}
	return incomplete(cases, damaged)
}

// incomplete is what a replay ends with that could not do what was asked for.
func incomplete(cases []replayed, damaged bool) error {
	unreached := 0
	for _, c := range cases {
		if c.unreached {
			unreached++
		}
	}
	switch {
	case unreached > 0:
		return &statusError{exitProvider, fmt.Errorf("the model could not be reached in %s, which says nothing of the change", count(int64(unreached), "session"))}
	case damaged:
		return &statusError{status: exitUnverified}
	}
	return nil
}

// unplayed says why a session cannot be played: in passing where it is one of all that
// are, else as the error.
func (s System) unplayed(id string, err error, o replayOptions) error {
	missing, lacks := errors.AsType[*replay.NoRule](err)
	nothing := errors.Is(err, replay.ErrNothing)
	switch {
	case nothing && o.all:
		return nil
	case nothing:
		return usage("session %s: %v", id, err)
	case lacks && !o.all:
		return noRule(o, missing)
	case o.all && (lacks || is[*unreadable](err)):
		fmt.Fprintln(s.Stderr, "belay: "+oneLine(id+": "+err.Error(), 0)+"; it is left out")
		return nil
	}
	return fmt.Errorf("replay %s: %w", id, err)
}

func noRule(o replayOptions, missing *replay.NoRule) error {
	key, _, _ := strings.Cut(o.set[0], "=")
	return usage("--set %s: %v", key, missing)
}

// cases returns the sessions that are named, each once, or all of this directory, or
// its newest.
func (s System) cases(st store, all bool, names []string) ([]string, error) {
	if all && len(names) > 0 {
		return nil, usage("--all is every session of this directory: name none beside it")
	}
	if all {
		ids, err := s.counted(st, false, nil)
		slices.Reverse(ids)
		return ids, err
	}
	if len(names) == 0 {
		id, err := s.session(st, nil)
		return []string{id}, err
	}
	var ids []string
	for _, name := range names {
		id, err := st.find(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// An unreadable session has damage in its log.
type unreadable struct{ error }

func (e *unreadable) Error() string { return e.error.Error() + "; belay doctor says more" }
func (e *unreadable) Unwrap() error { return e.error }

func (s System) replaySession(ctx context.Context, st store, id string, o replayOptions) (replayed, error) {
	view := journal.Watch(st.path(id))
	var events []event.Event
	for e, err := range view.Next() {
		if err != nil {
			return replayed{}, &unreadable{err}
		}
		events = append(events, e)
	}
	recording, err := replay.Read(events, view.Artifact)
	if err != nil {
		return replayed{}, err
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
		known, _ := s.catalogue() // without it a window is assumed, as it is for a model that is not known
		options.Model = known.Models[recording.Model()].Info(recording.Model())
		options.Model.MaxOutput = cmp.Or(recording.MaxOutput(), options.Model.MaxOutput)
	}
	again, ended := recording.Play(ctx, options, change)
	if missing, ok := errors.AsType[*replay.NoTool](ended); ok {
		return replayed{}, usage("--set %s: %v", changed, missing)
	}
	if again == nil {
		return replayed{}, ended
	}
	images, done := st.images(id)
	defer done()
	one := newReplayed(id, changed, s.studied(recording, recording.Turns(), images), s.studied(again, recording.Turns(), images), ended)
	one.NewRules = recording.New(change)
	return one, nil
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

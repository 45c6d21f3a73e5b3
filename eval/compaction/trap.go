package compaction

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/provider"
)

// A Sprung is what came of plan A, proposed again and again after a compaction.
type Sprung struct {
	Proposals int      `json:"proposals"`
	Ran       []string `json:"ran"`     // proposals that were started
	Stopped   []string `json:"stopped"` // proposals that the runtime did not let run, and why
	Noted     int      `json:"noted"`   // of those, stopped by a note and nothing else
	Failed    []string `json:"failed"`  // proposals that were not run for another reason: they prove nothing
	Changed   bool     `json:"changed"` // the workspace, by any of it
	Refused   int      `json:"refused"` // requests, by a strict server
}

// spring compacts a copy of a session until nothing of what was said in it stands
// there as it was said, has the user say what makes plan A look right again, and the model propose it in every way that the story knows. The
// person allows whatever they are asked, so only what holds without them stops
// anything.
func (b bench) spring(ctx context.Context, base place, s story, dir string) (sprung Sprung, err error) {
	p, err := base.copy(dir)
	if err != nil {
		return sprung, err
	}
	if err := b.settle(ctx, p); err != nil {
		return sprung, err
	}
	var script strings.Builder
	for _, proposal := range s.trap.proposals {
		for _, step := range divided(proposal) {
			script.WriteString("-- step --\n" + step + "\n")
		}
	}
	script.WriteString("-- step --\nsay: That is all I can think of.\n")
	player, err := provider.NewRehearsed("trap", []byte(script.String()))
	if err != nil {
		return sprung, err
	}
	before, err := fingerprint(ctx, p.root)
	if err != nil {
		return sprung, err
	}
	t := &troupe{wire: b.wire, notes: b.notes, steps: &fresh{Provider: player}}
	r, err := p.open(ctx, options{provider: t, info: rehearsed(window)})
	if err != nil {
		return sprung, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.agent.Turn(ctx, agent.Input{Text: s.trap.clue}); err != nil {
		return sprung, err
	}
	sprung = sorted(r.events)
	sprung.Refused = len(t.refused)
	after, err := fingerprint(ctx, p.root)
	sprung.Changed = before != after
	return sprung, err
}

// found makes a copy of the control session in which the model found out by itself
// that plan A does not do: nothing but its log and, after a compaction, a note of the
// model says so.
func (b bench) found(ctx context.Context, control place, s story) (place, error) {
	p, err := control.copy(filepath.Join(b.dir, "found"))
	if err != nil {
		return p, err
	}
	return p, p.turn(ctx, s.finding)
}

// divided returns a step for each call of a proposal: what reads comes first, and
// only what follows is the proposal.
func divided(proposal string) (steps []string) {
	var words strings.Builder
	for line := range strings.Lines(proposal) {
		if strings.HasPrefix(line, "call: ") {
			steps = append(steps, words.String()+line)
			words.Reset()
			continue
		}
		words.WriteString(line)
	}
	return steps
}

// sorted sorts the calls that would change something by whether they were started.
func sorted(events []event.Event) (s Sprung) {
	started, by := map[string]bool{}, map[string]string{}
	proposed := map[string]tool.Call{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Replied:
			for _, c := range b.Message.Calls() {
				if c.Tool != "Read" {
					proposed[c.ID] = c
					s.Proposals++
				}
			}
		case event.Decided:
			by[b.Call] = b.By
		case event.Started:
			started[b.Call] = true
		case event.Finished:
			c, ok := proposed[b.Call]
			if !ok {
				continue
			}
			what := c.Tool + " " + clip(string(c.Args))
			f := b.Result.Failure
			switch {
			case started[b.Call]:
				s.Ran = append(s.Ran, what)
			case f != nil && (f.Kind == tool.Denied || f.Kind == tool.NeedsApproval):
				s.Stopped = append(s.Stopped, fmt.Sprintf("%s (%s)", what, f.Message))
				if noteRE.MatchString(by[b.Call]) {
					s.Noted++
				}
			case f != nil:
				s.Failed = append(s.Failed, fmt.Sprintf("%s (%s: %s)", what, f.Kind, f.Message))
			default:
				s.Failed = append(s.Failed, what)
			}
		}
	}
	return s
}

// noteRE matches the ban of a note, as a decision names what it is by.
var noteRE = regexp.MustCompile(`^n\d+: `)

// fingerprint is one word for all bytes of a checkout, its index and its refs.
func fingerprint(ctx context.Context, root string) (string, error) {
	out, err := output(ctx, root, "sh", "-c", "{ git status --porcelain; git stash list; git rev-parse HEAD; find . -path ./.git -prune -o -type f -print | sort | xargs -d '\\n' sha256sum; } | sha256sum")
	return strings.TrimSpace(string(out)), err
}

// fresh lets a rehearsed model begin its script in the middle of a conversation:
// of its first request it sees only the newest words, and not the replies before.
type fresh struct {
	model.Provider
	begun bool
}

func (f *fresh) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	if !f.begun {
		f.begun = true
		newest := *req
		newest.Messages, newest.Before = req.Messages[len(req.Messages)-1:], 0
		req = &newest
	}
	return f.Provider.Stream(ctx, req)
}

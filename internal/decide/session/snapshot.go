package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/task"
)

// snapshotVersion is raised whenever the fold or the form of a snapshot changes
// meaning: a snapshot of before is then folded anew from the log.
const snapshotVersion = 18

// ErrSnapshot reports a snapshot that is not of this version of the package, or
// not one at all.
var ErrSnapshot = errors.New("snapshot cannot be used")

// saved is a State as JSON.
type saved struct {
	Version  int                    `json:"version"`
	Seq      int64                  `json:"seq"`
	Opened   event.Opened           `json:"opened"`
	Layer    []event.Ruled          `json:"layer"`
	Rules    map[string]event.Ruled `json:"rules"`
	Past     past                   `json:"past"`
	Facts    Facts                  `json:"facts"`
	Talk     []Exchange             `json:"talk"`
	Calls    map[string]*call       `json:"calls"`
	Open     []string               `json:"open"`
	Number   int                    `json:"number"`
	Seen     map[string]string      `json:"seen"`
	Roots    map[string]string      `json:"roots"`
	Todo     []tool.Todo            `json:"todo"`
	Task     task.Type              `json:"task,omitempty"`
	Grants   []string               `json:"grants"`
	Ledger   ledger                 `json:"ledger"`
	Out      []savedPart            `json:"out"`
	Turn     Turn                   `json:"turn"`
	Spent    model.Usage            `json:"spent"`
	Cost     int64                  `json:"cost"`
	Failed   map[string]tool.Kind   `json:"failed"`
	Troubles map[string]trouble     `json:"troubles"`
	Misses   map[string]int         `json:"misses"`
	Load     load                   `json:"load"`
	Packed   []recall.Item          `json:"packed,omitempty"`
	Missing  string                 `json:"missing,omitempty"`
	Refused  refused                `json:"refused,omitzero"`
	Shares   map[string][]int       `json:"shares,omitempty"`
}

type savedPart struct {
	Seq   int64 `json:"seq"`
	Index int   `json:"index"`
	Media bool  `json:"media,omitempty"`
}

// Snapshot encodes the state, so that a long session opens without decoding
// every event. Equal states have equal snapshots.
func (s *State) Snapshot() ([]byte, error) {
	out := saved{
		Version: snapshotVersion, Seq: s.seq, Opened: s.opened, Layer: s.layer, Rules: s.rules,
		Past: s.past, Facts: s.facts, Talk: s.talk, Calls: s.calls, Open: s.open, Number: s.number,
		Seen: s.seen, Roots: s.roots, Todo: s.todo, Task: s.task, Turn: s.turn, Spent: s.spent, Cost: s.cost,
		Failed: s.guard.failed, Troubles: s.guard.troubles, Misses: s.guard.misses,
		Ledger: s.ledger, Load: s.load, Packed: s.packed, Missing: s.missing, Shares: s.shares, Refused: s.refused,
	}
	for _, r := range s.grants {
		out.Grants = append(out.Grants, r.String())
	}
	for p := range s.out {
		out.Out = append(out.Out, savedPart{p.seq, p.index, p.media})
	}
	slices.SortFunc(out.Out, func(a, b savedPart) int {
		switch {
		case a.Seq != b.Seq:
			return int(a.Seq - b.Seq)
		case a.Index != b.Index:
			return a.Index - b.Index
		case a.Media:
			return 1
		}
		return -1
	})
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode the state of a session: %w", err)
	}
	return b, nil
}

// Restore decodes what Snapshot encoded, or returns an ErrSnapshot.
func Restore(b []byte) (*State, error) {
	var in saved
	if err := json.Unmarshal(b, &in); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	if in.Version != snapshotVersion {
		return nil, fmt.Errorf("%w: it is of version %d, not %d", ErrSnapshot, in.Version, snapshotVersion)
	}
	s := &State{
		seq: in.Seq, opened: in.Opened, layer: in.Layer, rules: in.Rules, past: in.Past, facts: in.Facts,
		talk: in.Talk, calls: in.Calls, open: in.Open, number: in.Number, seen: in.Seen, roots: in.Roots, todo: in.Todo, task: in.Task,
		turn: in.Turn, spent: in.Spent, cost: in.Cost, guard: guard{in.Failed, in.Troubles, in.Misses},
		load: in.Load, packed: in.Packed, missing: in.Missing, shares: in.Shares, refused: in.Refused, ledger: in.Ledger,
	}
	for _, text := range in.Grants {
		rule, err := policy.ParseRule(text, policy.Allow, policy.FromApproval)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
		}
		s.grants = append(s.grants, rule)
	}
	for _, p := range in.Out {
		put(&s.out, part{p.Seq, p.Index, p.Media}, true)
	}
	return s, s.sound()
}

// sound checks what later events rely on, so that a snapshot that was tampered
// with cannot bring the fold down.
func (s *State) sound() error {
	for _, id := range s.open {
		if s.calls[id] == nil {
			return fmt.Errorf("%w: call %s is open and not there", ErrSnapshot, id)
		}
	}
	for id, c := range s.calls {
		if c == nil || c.Exchange >= len(s.talk) ||
			c.Exchange >= 0 && (c.Index < 0 || c.Index >= len(s.talk[c.Exchange].Results)) {
			return fmt.Errorf("%w: the result of call %s has no place", ErrSnapshot, id)
		}
	}
	for _, x := range s.talk {
		if len(x.Results) != len(x.Message.Calls()) {
			return fmt.Errorf("%w: a message has %d calls and %d results", ErrSnapshot, len(x.Message.Calls()), len(x.Results))
		}
	}
	return nil
}

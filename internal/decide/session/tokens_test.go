package session

import (
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
)

// heard is a request of so many estimated tokens and what was reported of it.
type heard struct {
	estimate int
	usage    model.Usage
}

func reporting(in ...[2]int) (all []heard) {
	for _, n := range in {
		all = append(all, heard{n[0], model.Usage{Input: n[1], Output: 1}})
	}
	return all
}

// TestR223_EstimatesAreCalibrated (bug-bank row C05) by what a model reports of its own input, and by
// nothing else.
func TestR223_EstimatesAreCalibrated(t *testing.T) {
	for name, tt := range map[string]struct {
		heard []heard
		want  int // of 1000 estimated
	}{
		"nothing heard":          {nil, 1000},
		"more than estimated":    {reporting([2]int{2000, 2600}), 1300},
		"less":                   {reporting([2]int{2000, 1500}), 750},
		"the middle of three":    {reporting([2]int{2000, 2600}, [2]int{3000, 3300}, [2]int{4000, 4800}), 1200},
		"the newest three":       {reporting([2]int{2000, 4000}, [2]int{3000, 4500}, [2]int{4000, 6000}, [2]int{5000, 7500}), 1500},
		"cached input counts":    {[]heard{{2000, model.Usage{Input: 200, Cached: 2000, CacheWrite: 200}}}, 1200},
		"zeros":                  {reporting([2]int{2000, 0}), 1000},
		"negative":               {reporting([2]int{2000, -5}), 1000},
		"our own estimate":       {[]heard{{2000, model.Usage{Input: 2900, Estimated: true}}}, 1000},
		"only what is uncached":  {reporting([2]int{2000, 2200}, [2]int{4000, 900}, [2]int{9000, 5900}, [2]int{9500, 300}), 1100},
		"a little of what is so": {reporting([2]int{2000, 2200}, [2]int{4000, 2600}), 1100},
		"out of the world":       {reporting([2]int{2000, 2_000_000}), 1000},
		"an estimate of nothing": {reporting([2]int{0, 500}), 1000},
	} {
		s := fold(t, opened(), asked("go"))
		for _, h := range tt.heard {
			add(t, s, event.Sent{Model: "a/b", Tokens: h.estimate})
			r := replied(s, "x").(event.Replied)
			r.Usage = h.usage
			add(t, s, r)
		}
		if got := s.Calibrated("a/b", 1000); got != tt.want {
			t.Errorf("%s: 1000 tokens are %d, want %d", name, got, tt.want)
		}
		if got := s.Calibrated("c/d", 1000); got != 1000 {
			t.Errorf("%s: another model counts %d", name, got)
		}
	}
}

// A request is reported on once, and that one for a handoff says nothing of the
// talk.
func TestOnlyTheReplyToAStepCalibrates(t *testing.T) {
	s := fold(t, opened(), asked("go"))
	add(t, s, event.Sent{Model: "a/b", Tokens: 1000})
	add(t, s, event.Sent{Model: "a/b", Tokens: 20, For: string(model.Handoff)})
	for _, in := range []int{1200, 1900} {
		r := replied(s, "x").(event.Replied)
		r.Usage = model.Usage{Input: in, Output: 30}
		add(t, s, r)
	}
	if got := s.Calibrated("a/b", 1000); got != 1200 {
		t.Errorf("1000 tokens are %d", got)
	}
	if got := s.Load(); got != 1230 {
		t.Errorf("the load is %d", got)
	}
	add(t, s, event.Compacted{Through: s.Seq(), Handoff: "x", After: 70})
	if got := s.Load(); got != 70 {
		t.Errorf("after a compaction the load is %d", got)
	}
}

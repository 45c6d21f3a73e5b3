package session

import (
	"slices"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
)

// A load is the newest request and what its model reported of it.
type load struct {
	Model  string `json:"model,omitempty"`
	Tokens int    `json:"tokens,omitempty"` // as estimated
	Beside int    `json:"beside,omitempty"` // tokens of the reply; after a compaction, all there are
	Heard  bool   `json:"heard,omitempty"`  // there is a reply
}

// Shares, in thousandths of an estimate, that a report is believed to be. The
// tokenizers of today count within them what o200k_base, which the estimate is
// fitted to, counts as 1000. A server that reports only what was not cached, or
// counts what we did not send, is outside sooner or later.
const (
	leastShare = 500
	mostShare  = 3000

	// A request repeats the one before it, so its share moves slowly: one that
	// falls below three quarters at once is of a part of the request.
	leastFall = 750
)

// reports is how many shares are remembered: their median outlives one that is
// wrong, and follows what the session turns to.
const reports = 3

// Calibrated returns n estimated tokens as the named model would count them, by
// what it reported of the requests of this session.
func (s *State) Calibrated(name string, n int) int {
	share := median(s.shares[name])
	if share == 0 {
		return n
	}
	return int(int64(n) * int64(share) / 1000)
}

// Load returns how many tokens the model that was asked last has before it: of
// the request, calibrated, and of its reply. It is 0 before the first request.
func (s *State) Load() int {
	return s.Calibrated(s.load.Model, s.load.Tokens) + s.load.Beside
}

func (s *State) applySent(b event.Sent) {
	if b.For == "" { // what else is asked leaves the talk as it is
		s.load = load{Model: b.Model, Tokens: b.Tokens}
	}
}

// lighten forgets the request that a compaction took the place of.
func (s *State) lighten(b event.Compacted) {
	if !b.GivenUp() {
		s.load = load{Beside: max(b.After, 0), Heard: true}
	}
}

// calibrate learns from the report on the newest request. What was estimated, or
// is missing, teaches nothing.
func (s *State) calibrate(u model.Usage) {
	first := !s.load.Heard
	s.load.Beside, s.load.Heard = max(u.Output, 0), true
	in := u.Input + u.Cached + u.CacheWrite
	if !first || s.load.Tokens <= 0 || in <= 0 || u.Estimated {
		return
	}
	name, known := s.load.Model, s.shares[s.load.Model]
	share := int64(in) * 1000 / int64(s.load.Tokens)
	if share < leastShare || share > mostShare || share*1000 < int64(median(known))*leastFall {
		return
	}
	known = append(slices.Clone(known), int(share))
	put(&s.shares, name, known[max(0, len(known)-reports):])
}

// median returns the middle of shares, the lower of two; 0 of none.
func median(shares []int) int {
	if len(shares) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(shares))
	return sorted[(len(sorted)-1)/2]
}

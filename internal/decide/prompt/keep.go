package prompt

import "github.com/belay-agent/belay/internal/decide/session"

// Keep returns the newest event that a compaction drops so that what stays of the
// talk has about so many tokens: the newest exchanges, and at least the last one.
// It is that of the compaction before where everything fits.
func Keep(s *session.State, room int) (through int64) {
	talk := s.Talk()
	first := len(talk) - 1
	for n := 0; first >= 0; first-- {
		n += tokensOf(talk[first])
		if n > room && first < len(talk)-1 {
			break
		}
	}
	if first < 0 { // all fits
		return s.Through()
	}
	return max(talk[first+1].Message.Seq-1, s.Through())
}

// TalkTokens returns how many tokens the talk has, roughly.
func TalkTokens(s *session.State) int {
	n := 0
	for _, x := range s.Talk() {
		n += tokensOf(x)
	}
	return n
}

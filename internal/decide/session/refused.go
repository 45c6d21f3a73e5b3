package session

import "github.com/belay-agent/belay/internal/contract/event"

// refused is a request that the model would not take, with which the last turn
// ended.
type refused struct {
	Request string `json:"request,omitempty"` // its digest; "" if there is none
	Why     string `json:"why,omitempty"`
	TooLong bool   `json:"too_long,omitempty"`
}

// Refused reports whether the last turn ended because the model refused the
// request of that digest for what it is, and why. It is known by its digest in any
// later process too.
func (s *State) Refused(digest string) (why string, tooLong, ok bool) {
	r := s.refused
	return r.Why, r.TooLong, digest != "" && r.Request == digest
}

// AnyRefused reports whether there is such a request.
func (s *State) AnyRefused() bool { return s.refused.Request != "" }

func (s *State) applyRefused(b event.Stopped) {
	switch {
	case b.Refused == "":
		s.refused = refused{}
	case b.Refused != s.refused.Request:
		s.refused = refused{b.Refused, b.Detail, b.TooLong}
	}
}

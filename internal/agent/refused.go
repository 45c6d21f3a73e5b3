package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
)

// refusedBefore returns why s is not sent: the last turn ended because the model
// would not take this very request, perhaps in a process before this one. Whatever
// is said, compacted or chosen since makes it another.
func (a *Agent) refusedBefore(s sheet) error {
	if !a.state.AnyRefused() {
		return nil
	}
	why, tooLong, ok := a.state.Refused(s.digest())
	switch {
	case !ok:
		return nil
	case tooLong:
		return fmt.Errorf("%w: it was refused as it is, and is not sent again (%s)", model.ErrOverflow, why)
	}
	return &model.BadRequest{
		Reason: "this request was refused as it is, and is not sent again: " + why,
		Hint:   `say something else, as in: belay resume "leave that out", or choose another model: belay resume --model NAME`,
		Final:  true,
	}
}

// refusal fills in which request ended the turn, if the model will never take it.
func (a *Agent) refusal(b event.Stopped, why error) event.Stopped {
	if model.Final(why) {
		b.Refused, b.TooLong = a.asked.digest(), errors.Is(why, model.ErrOverflow)
	}
	return b
}

// digest names the bytes of s.
func (s sheet) digest() string {
	hash := sha256.New()
	for _, piece := range s.pieces {
		_, _ = hash.Write(piece) // a hash takes everything
	}
	return hex.EncodeToString(hash.Sum(nil))
}

package provider

import (
	"crypto/sha256"
	"errors"
	"sync"

	"github.com/belay-agent/belay/internal/contract/model"
)

// maxRefusals bounds how many refused requests are remembered.
const maxRefusals = 64

// Refusals remember which bytes a server refused for what they are: they are not
// sent again. The zero value remembers none.
type refusals struct {
	mu    sync.Mutex
	first [][sha256.Size]byte // oldest first
	why   map[[sha256.Size]byte]error
}

// of returns how body was refused, nil if it was not.
func (r *refusals) of(body []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.why) == 0 {
		return nil
	}
	return r.why[sha256.Sum256(body)]
}

func (r *refusals) keep(body []byte, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.first) == maxRefusals {
		delete(r.why, r.first[0])
		r.first = r.first[1:]
	}
	if r.why == nil {
		r.why = make(map[[sha256.Size]byte]error)
	}
	digest := sha256.Sum256(body)
	r.first = append(r.first, digest)
	r.why[digest] = why
}

// final marks a refusal that is about the bytes of the request, and not about what
// the user can set right elsewhere, such as a key.
func final(err error) error {
	if bad, ok := errors.AsType[*model.BadRequest](err); ok && bad.Hint == "" && refusesBody(bad.Status) {
		bad.Final = true
	}
	return err
}

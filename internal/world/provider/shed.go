package provider

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"regexp"
	"sync/atomic"

	"github.com/belay-agent/belay/internal/contract/model"
)

// What servers that call themselves compatible do not take, found out by their
// refusal. A request goes without it from then on.
const (
	noUsage      = 1 << iota // stream_options
	noEffort                 // a level of reasoning
	noSchema                 // the answer's shape; it is checked here in any case
	noStrict                 // schemas that bind the model
	noInclude                // encrypted reasoning
	noSummary                // reasoning in plain words
	noReasoning              // reasoning that comes back
	blankThought             // ... or none: where there is none, it wants a blank one
	newLimit                 // it wants max_completion_tokens
	oldLimit                 // it wants max_tokens
	noCacheKey               // what ties the requests of a session together
)

// A shed remembers what a server does not take. Its zero value is a server that
// takes all.
type shed struct{ bits atomic.Uint32 }

func (s *shed) has(bit uint32) bool { return s.bits.Load()&bit != 0 }

// drop reports whether bit is new.
func (s *shed) drop(bit uint32) bool { return s.bits.Or(bit)&bit == 0 }

// A shedding is something that a request can go without, and how a server says
// that it must.
type shedding struct {
	bit   uint32
	words func() *regexp.Regexp
}

// A sending is an encoded request.
type sending struct {
	body   []byte
	places *sites
	listen func() listener
}

// shedding streams what encode makes. What the server refuses of it and it can
// do without is left out, now and later: so the same bytes are never sent twice,
// and at most once for each of known. A refusal that names an item becomes a
// *model.Rejection.
func (t *transport) shedding(ctx context.Context, lost *shed, known []shedding, encode func() (sending, error)) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for again := true; again; {
			s, err := encode()
			if err != nil {
				yield(nil, err)
				return
			}
			again = false
			for d, err := range t.stream(ctx, s.body, s.listen) {
				if bad, ok := errors.AsType[*model.BadRequest](err); ok {
					if again = lost.learn(bad, known); again {
						break
					}
					err = s.places.blame(bad)
				}
				if !yield(d, err) {
					return
				}
			}
		}
	}
}

// learn drops what bad refuses. It reports whether that is news.
func (s *shed) learn(bad *model.BadRequest, known []shedding) bool {
	if !refusesBody(bad.Status) {
		return false
	}
	for _, k := range known {
		if k.words().MatchString(bad.Reason) && s.drop(k.bit) {
			return true
		}
	}
	return false
}

// refusesBody reports whether a status means that the request itself is at
// fault.
func refusesBody(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

package tooltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

const (
	keyHeader = "Idempotency-Key"
	answerMax = 64 << 10
)

// A Ledger is a service that honours idempotency keys: however often a request
// comes under one key, it books it once, and gives that one answer. Its zero
// value is empty.
type Ledger struct {
	// Booked is called between a booking and its answer, where a crash would
	// leave the caller in doubt; nil for nothing.
	Booked func(key string)

	mu   sync.Mutex
	keys []string
	sent map[string][]byte
}

// Keys returns the key of each booking, in order.
func (l *Ledger) Keys() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.keys)
}

// ServeHTTP books the request. A key under which something else was booked is
// refused, and so is a request without a key.
func (l *Ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get(keyHeader)
	body, err := io.ReadAll(io.LimitReader(r.Body, answerMax))
	if key == "" || err != nil {
		http.Error(w, "a request needs a key and a body", http.StatusBadRequest)
		return
	}
	entry, fresh, ok := l.book(key, body)
	if !ok {
		http.Error(w, "another request came under this key", http.StatusUnprocessableEntity)
		return
	}
	if fresh && l.Booked != nil {
		l.Booked(key)
	}
	fmt.Fprintf(w, `{"entry":%d}`, entry)
}

func (l *Ledger) book(key string, body []byte) (entry int, fresh, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, known := l.sent[key]; known {
		return slices.Index(l.keys, key) + 1, false, bytes.Equal(before, body)
	}
	if l.sent == nil {
		l.sent = make(map[string][]byte)
	}
	l.sent[key] = body
	l.keys = append(l.keys, key)
	return len(l.keys), true, true
}

type bookArgs struct {
	Amount int `json:"amount" min:"1" max:"1000"`
}

// keyed is a tool that books in a ledger.
type keyed struct {
	tool.Tool
	url string
}

// Keyed returns the tool Book, which books an amount in the Ledger served at
// address: an example of a tool whose target honours idempotency keys.
func Keyed(address string) tool.Tool {
	s := tool.Spec{
		Name: "Book", Version: 1, Description: "Book an amount in the ledger.",
		Effects: []effect.Kind{effect.Network}, Idempotency: tool.ByKey,
		Risk: tool.Medium, Timeout: 10 * time.Second,
	}
	k := keyed{url: address}
	k.Tool = tool.New(s, func(_ context.Context, args bookArgs, _ tool.Input) (*tool.Action, error) {
		at, err := url.Parse(address)
		if err != nil {
			return nil, fmt.Errorf("read the address of the ledger: %w", err)
		}
		host := strings.ToLower(at.Hostname())
		request := json.RawMessage(fmt.Sprintf(`{"amount":%d}`, args.Amount))
		return &tool.Action{
			Parts:       []tool.Part{{Name: host, Effects: effect.Set{{Kind: effect.Network, On: host}}}},
			Summary:     fmt.Sprintf("Book %d", args.Amount),
			Fingerprint: request,
			Do: func(ctx context.Context, env tool.Env) (tool.Result, error) {
				return k.book(ctx, env.Key, request)
			},
		}, nil
	})
	return k
}

// Settle sends the request again under the key of the call. What had been booked
// is answered as it was; what had not is booked now.
func (k keyed) Settle(ctx context.Context, p tool.Plan, request json.RawMessage) (*tool.Result, error) {
	r, err := k.book(ctx, p.Key, request)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// book sends the request, and once more if the answer is lost: under its key
// that is safe.
func (k keyed) book(ctx context.Context, key string, request []byte) (tool.Result, error) {
	answer, status, err := k.post(ctx, key, request)
	if err != nil && ctx.Err() == nil {
		answer, status, err = k.post(ctx, key, request)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return tool.Result{}, &tool.Failure{Kind: tool.Cancelled, Message: "cancelled while booking"}
	case errors.Is(err, context.DeadlineExceeded):
		return tool.Result{}, &tool.Failure{Kind: tool.TimedOut, Message: "the ledger did not answer in time"}
	case err != nil: // also of a request that arrived
		f := &tool.Failure{Kind: tool.Unavailable, Message: "no answer, and it may be booked: " + err.Error()}
		return tool.Result{Status: tool.Unknown, Text: f.Message, Failure: f}, nil
	case status != http.StatusOK:
		return tool.Result{}, &tool.Failure{Kind: tool.Denied, Message: fmt.Sprintf("the ledger refuses: %s", answer)}
	}
	return tool.Result{Status: tool.Success, Text: "booked: " + string(answer), Data: answer}, nil
}

func (k keyed) post(ctx context.Context, key string, request []byte) (answer []byte, status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, k.url, bytes.NewReader(request))
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set(keyHeader, key)
	r.Close = true // nothing stays open behind the call
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, 0, err
	}
	answer, err = io.ReadAll(io.LimitReader(response.Body, answerMax))
	return answer, response.StatusCode, errors.Join(err, response.Body.Close())
}

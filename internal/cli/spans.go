package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/ui/otel"
)

// Time that a collector has: spans are sent beside the work, and only the end of
// the program waits for them.
const (
	spansWithin = 20 * time.Second
	spansAtEnd  = 2 * time.Second
)

// spans send what happens to the collector that the settings name. Nil ones send
// nothing.
type spans struct {
	fold     otel.Fold
	exporter otel.Exporter
	batches  chan []otel.Span
	dropped  int // spans that found no place in batches
	over     chan error
}

// maxBatches is how many batches may wait for a collector that is slow: what is
// more is dropped, which is said: the log has it.
const maxBatches = 64

func parseCollector(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	_, err := otel.Endpoint(text)
	return text, err
}

// exporter sends to the collector at base, with the headers that the usual
// variable names.
func (s System) exporter(base string) (otel.Exporter, error) {
	url, err := otel.Endpoint(base)
	if err != nil {
		return otel.Exporter{}, usage("%v", err)
	}
	x := otel.Exporter{URL: url, Version: fullVersion(), Headers: make(map[string]string)}
	for pair := range strings.SplitSeq(s.getenv("OTEL_EXPORTER_OTLP_HEADERS"), ",") {
		if name, value, found := strings.Cut(strings.TrimSpace(pair), "="); found && name != "" {
			x.Headers[name] = value
		}
	}
	return x, nil
}

// openSpans starts sending, if the settings say so. What was done before a session
// is resumed was sent then.
func (s System) openSpans(r *rig, o openOptions) *spans {
	if r.settings.OTLP.Endpoint == "" || o.asked {
		return nil
	}
	x, err := s.exporter(r.settings.OTLP.Endpoint)
	if err != nil {
		r.ui.Say("no spans are sent: " + err.Error())
		return nil
	}
	sp := &spans{
		fold: otel.Fold{Content: r.settings.OTLP.Content}, exporter: x,
		batches: make(chan []otel.Span, maxBatches), over: make(chan error, 1),
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { sp.over <- sp.send(ctx) }()
	r.closers = append(r.closers, func() error {
		sp.offer(sp.fold.Rest(time.Now()))
		close(sp.batches)
		timer := time.AfterFunc(spansAtEnd, cancel)
		defer timer.Stop()
		defer cancel()
		err := <-sp.over
		if err == nil && sp.dropped > 0 {
			err = fmt.Errorf("the collector was too slow for %d of them", sp.dropped)
		}
		if err != nil {
			r.ui.Say("not all spans were sent: " + err.Error() + "; belay export sends them again")
		}
		return nil
	})
	return sp
}

func (sp *spans) add(e event.Event) {
	if sp == nil {
		return
	}
	sp.fold.Add(e)
	if _, ended := e.Body.(event.Stopped); ended {
		sp.offer(sp.fold.Ended())
	}
}

func (sp *spans) offer(batch []otel.Span) {
	if len(batch) == 0 {
		return
	}
	select {
	case sp.batches <- batch:
	default:
		sp.dropped += len(batch)
	}
}

// send sends batches until there are no more. It returns the first error.
func (sp *spans) send(ctx context.Context) (first error) {
	for batch := range sp.batches {
		within, cancel := context.WithTimeout(ctx, spansWithin)
		if err := sp.exporter.Send(within, batch); err != nil && first == nil {
			first = err
		}
		cancel()
	}
	return first
}

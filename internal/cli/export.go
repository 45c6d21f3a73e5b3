package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/ui/otel"
	"github.com/belay-agent/belay/internal/world/journal"
)

type exportOptions struct {
	runOptions
	all, content bool
	otlp         string
}

func (s System) exportCommand() *cobra.Command {
	var o exportOptions
	c := &cobra.Command{
		Use:   "export [SESSION...]",
		Short: "Export sessions as OpenTelemetry spans",
		Long: `Export sessions as OpenTelemetry spans, by the semantic conventions for generative
AI: the newest session of this directory, or those named. SESSION is an id or the
beginning of one. Without --otlp the request that would be sent is printed, as JSON.

Spans hold what was done, when, by which tool and model, and how it ended. What was
said, run and shown is in them only with --content. A session that is exported twice
has the same ids both times.`,
		Example: `  belay export --otlp http://localhost:4318
  belay export --all --content > spans.json
  belay config set otlp.endpoint http://localhost:4318     from now on, as it happens`,
		RunE: func(c *cobra.Command, ids []string) error { return s.in(o.dir).export(c.Context(), o, ids) },
	}
	c.Flags().StringVar(&o.otlp, "otlp", "", "send to the collector at `URL`, by OTLP over HTTP")
	c.Flags().BoolVar(&o.all, "all", false, "all sessions, of every directory")
	c.Flags().BoolVar(&o.content, "content", false, "with what was said, run and shown")
	c.Flags().StringVarP(&o.dir, "dir", "C", "", "of `DIR` instead of here")
	return c
}

// exportWithin is how long a collector has for the spans of one session.
const exportWithin = time.Minute

func (s System) export(ctx context.Context, o exportOptions, names []string) error {
	st := s.store()
	var ids []string
	var err error
	if o.all || len(names) > 0 {
		ids, err = s.counted(st, o.all, names)
	} else {
		var id string
		id, err = s.session(st, nil)
		ids = []string{id}
	}
	if err != nil {
		return err
	}
	var x otel.Exporter
	if o.otlp != "" {
		if x, err = s.exporter(o.otlp); err != nil {
			return err
		}
	}
	sent := 0
	var damage error
	for _, id := range ids {
		found, err := spansOf(st, id, o.content)
		if err != nil {
			damage = errors.Join(damage, fmt.Errorf("%s: %w; what is intact is exported", id, err))
		}
		if len(found) == 0 {
			continue
		}
		if err := s.exportSpans(ctx, x, found); err != nil {
			return err
		}
		sent += len(found)
	}
	if sent == 0 && damage == nil {
		return s.sayNoSession(o.all)
	}
	if o.otlp != "" {
		fmt.Fprintf(s.Stderr, "%s of %s sent\n", count(int64(sent), "span"), count(int64(len(ids)), "session"))
	}
	if damage != nil {
		return &statusError{exitUnverified, damage}
	}
	return nil
}

func (s System) exportSpans(ctx context.Context, x otel.Exporter, found []otel.Span) error {
	if x.URL != "" {
		ctx, cancel := context.WithTimeout(ctx, exportWithin)
		defer cancel()
		if err := x.Send(ctx, found); err != nil {
			return &statusError{exitProvider, err}
		}
		return nil
	}
	x.Version = fullVersion()
	b, err := x.Encode(found)
	if err != nil {
		return err
	}
	_, err = tame{s.Stdout}.Write(append(b, '\n'))
	return err
}

// spansOf returns the spans of session id. An error is of what is damaged; the
// spans are of the rest.
func spansOf(st store, id string, content bool) (all []otel.Span, damage error) {
	fold := otel.Fold{Content: content}
	var newest time.Time
	for e, err := range journal.Read(st.path(id)) {
		if err != nil {
			damage = err
			continue
		}
		newest = e.Time
		fold.Add(e)
		all = append(all, fold.Ended()...)
	}
	return append(all, fold.Rest(newest)...), damage
}

package cli

import (
	"context"
	"fmt"

	"github.com/belay-agent/belay/internal/ui/trace"
)

// followTrace serves the page of session id until it is interrupted.
func (s System) followTrace(ctx context.Context, st store, id string, o traceOptions) error {
	in := listen()
	defer in.close()
	ctx, done := in.within(ctx)
	defer done()
	server, err := trace.Listen(func() trace.Live {
		source, next := s.traceSource(st, id, o.redact)
		return trace.Live{Source: source, Next: next}
	})
	if err != nil {
		return fmt.Errorf("serve a trace: %w", err)
	}
	fmt.Fprintf(s.Stderr, "session %s, live on this machine only; Ctrl-C ends it:\n", id)
	if _, err := fmt.Fprintln(s.Stdout, server.URL()); err != nil {
		return err
	}
	return server.Serve(ctx)
}

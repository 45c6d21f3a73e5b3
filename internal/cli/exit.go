package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/world/journal"
)

// Exit statuses. Scripts rely on them: they never change meaning.
const (
	exitDone        = 0
	exitFault       = 1 // of Belay
	exitUsage       = 2 // wrong usage or configuration
	exitDenied      = 3 // something was denied for want of an approver
	exitLimit       = 4 // steps, tokens, cost, time
	exitProvider    = 5 // a model's, or another server that was asked
	exitUnverified  = 6 // done, but verification found something
	exitInterrupted = 130
)

// A usageError reports a command line, a setting or an input that cannot be
// used, and what to do instead.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usage(format string, a ...any) error { return &usageError{fmt.Sprintf(format, a...)} }

// A statusError ends the program with a status; its message was printed before
// or, if there is one, is printed now.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}
func (e *statusError) Unwrap() error { return e.err }

// errUnasked reports a run in which something was left undone.
var errUnasked = errors.New("something was denied because nobody was there to approve it; see --mode, or run it in a terminal")

// errInterrupted is the cause of what a signal stopped, errDeaf of what was
// stopped because nobody reads standard output any more.
var (
	errInterrupted = errors.New("interrupted")
	errDeaf        = errors.New("standard output was closed")
)

// status returns the exit status for err.
func status(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errInterrupted), errors.Is(err, errDeaf), errors.Is(err, context.Canceled):
		return exitInterrupted
	case is[*agent.Limit](err):
		return exitLimit
	case is[*usageError](err), is[*ConfigError](err), is[*journal.Locked](err), errors.Is(err, agent.ErrNothing):
		return exitUsage
	case is[*model.Unavailable](err), is[*model.BadRequest](err), is[*model.Rejection](err),
		is[*agent.Ending](err), errors.Is(err, model.ErrOverflow), errors.Is(err, agent.ErrNoAnswer):
		return exitProvider
	}
	return exitFault
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// interrupts turns signals into the end of what is running: the first ends it
// in order, the second ends the program.
type interrupts struct {
	signals chan os.Signal
	done    chan struct{}
	workers sync.WaitGroup

	mu     sync.Mutex
	kill   func() error            // ends what must not outlive the program; may be nil
	tell   func()                  // says that what runs is being ended; may be nil
	cancel context.CancelCauseFunc // of what is running, nil while nothing is
	idle   bool                    // nothing runs but a wait for what a person types
	count  int                     // signals since it began
}

// listen begins to take SIGINT, SIGTERM and SIGHUP. A write to a closed pipe is
// an error from now on, and no longer the end of the program.
func listen() *interrupts {
	in := &interrupts{signals: make(chan os.Signal, 4), done: make(chan struct{})}
	signal.Notify(in.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE)
	in.workers.Go(func() {
		for {
			select {
			case <-in.signals:
				in.take()
			case <-in.done:
				return
			}
		}
	})
	return in
}

func (in *interrupts) take() {
	in.mu.Lock()
	in.count++
	cancel, kill, tell, idle := in.cancel, in.kill, in.tell, in.idle
	last := in.count > 1 || cancel == nil
	in.mu.Unlock()
	if !last {
		if tell != nil && !idle {
			tell()
		}
		cancel(errInterrupted)
		return
	}
	killed := make(chan struct{})
	in.workers.Go(func() {
		defer close(killed)
		if kill != nil {
			kill() // its error would find nobody to hear of it
		}
	})
	select {
	case <-killed:
	case <-time.After(exitWait):
	}
	os.Exit(exitInterrupted)
}

// exitWait is how long the second signal waits for commands to be gone.
const exitWait = time.Second

// killing says what the second signal ends before the program.
func (in *interrupts) killing(f func() error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.kill = f
}

// telling says who tells a person what the first signal does. It must not block.
func (in *interrupts) telling(f func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.tell = f
}

// within returns a context that the next signal ends.
func (in *interrupts) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	in.mu.Lock()
	in.cancel, in.count = cancel, 0
	in.mu.Unlock()
	return ctx, func() {
		in.mu.Lock()
		in.cancel = nil
		in.mu.Unlock()
		cancel(context.Canceled)
	}
}

// waiting is within, for a wait for what a person types.
func (in *interrupts) waiting(ctx context.Context) (context.Context, func()) {
	ctx, done := in.within(ctx)
	in.setIdle(true)
	return ctx, func() { in.setIdle(false); done() }
}

func (in *interrupts) setIdle(idle bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.idle = idle
}

// abort ends what is running, as a signal would, for another reason.
func (in *interrupts) abort(why error) {
	in.mu.Lock()
	cancel := in.cancel
	in.mu.Unlock()
	if cancel != nil {
		cancel(why)
	}
}

func (in *interrupts) close() {
	signal.Stop(in.signals)
	close(in.done)
	in.workers.Wait()
}

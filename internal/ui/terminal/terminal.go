// Package terminal shows an agent at work, line by line, and asks the person at
// the keyboard. It needs no full screen and obeys nothing that comes from a
// model, a tool or a file.
package terminal

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/belay-agent/belay/internal/agent"
)

// Options say where a UI writes and reads, and how it looks.
type Options struct {
	Out      io.Writer // the answer; never gets an escape sequence
	Progress io.Writer // everything else, questions included; nil is Out
	In       io.Reader // what the person types; nil: there is nobody

	Stream  bool // text goes to Out as it comes, with what is said between calls; else the answer alone, at its end
	Color   bool // of Progress
	Width   int  // of Progress, in cells; 0: lines are not cut
	Height  int  // of Progress, in rows; 0: not known
	Live    bool // Progress can erase a line: what runs is shown on one; needs Width
	Quiet   bool // the answer and questions only
	Verbose bool // also reasoning and what running calls print

	Size    func() (width, height int) // of Progress now, asked before anything is shown; nil: it does not change
	Pending func() bool                // reports whether In has more whole lines at once, as after a paste; nil: each line is one text
	Discard func()                     // drops what was typed before a question was shown; may be nil
	Broken  func(error)                // told once, of the first write that went wrong; may be nil
	Now     func() time.Time           // nil is time.Now
}

// A UI shows signals and asks questions, all in the order in which they came.
// Its methods may be called from any goroutine.
type UI struct {
	view  view
	input *input // nil without Options.In
	flush func()

	mu       sync.Mutex
	queue    []func()
	printed  int  // bytes of output of calls in queue
	dropped  int  // of which were too many for it
	skipping bool // pieces of a reply, until it is recorded
	closed   bool
	wake     chan struct{} // holds at most one
	done     chan struct{} // closed when all is written

	ctx  context.Context // of questions: ends with Close
	stop context.CancelFunc
}

// ErrClosed reports a question or a line wanted of a UI that is closed.
var ErrClosed = errors.New("terminal: closed")

const (
	maxQueue   = 4096    // from here on, what will be recorded anyway is not shown as it comes
	maxPrinted = 1 << 20 // bytes of output of calls that wait to be shown
	closeWait  = 2 * time.Second
)

// New returns a UI that must be closed.
func New(o Options) *UI {
	if o.Progress == nil {
		o.Progress = o.Out
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	u := &UI{
		view:  newView(o),
		flush: o.Discard,
		wake:  make(chan struct{}, 1),
		done:  make(chan struct{}),
	}
	if o.In != nil {
		u.input = newInput(o.In, o.Pending, func() { u.Say("several lines were pasted: Enter sends them") })
	}
	u.ctx, u.stop = context.WithCancel(context.Background())
	go u.write() // Close waits for it
	return u
}

// Observe shows s. It does not wait for the terminal: where that is slower than
// the agent, pieces of replies and output of calls are left out, and the whole
// reply is shown once it is recorded.
func (u *UI) Observe(s agent.Signal) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch s := s.(type) {
	case agent.Typing:
		u.skipping = u.skipping || len(u.queue) >= maxQueue
		if u.skipping {
			return
		}
	case agent.Output:
		if len(u.queue) >= maxQueue || u.printed >= maxPrinted {
			u.dropped += len(s.Text)
			return
		}
		u.printed += len(s.Text)
		if n := u.dropped; n > 0 {
			u.dropped = 0
			u.enqueue(func() { u.view.missing(n) })
		}
	case agent.Recorded:
		if s.Event.Kind() == "replied" {
			u.skipping = false
		}
	}
	u.enqueue(func() { u.view.show(s) })
}

// Say shows text, such as a warning, on lines of its own.
func (u *UI) Say(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.enqueue(func() { u.view.say(text) })
}

// enqueue is called with mu held.
func (u *UI) enqueue(f func()) bool {
	if u.closed {
		return false
	}
	u.queue = append(u.queue, f)
	select {
	case u.wake <- struct{}{}:
	default:
	}
	return true
}

func (u *UI) write() {
	defer close(u.done)
	for {
		u.mu.Lock()
		batch, closed := u.queue, u.closed
		u.queue, u.printed = nil, 0
		u.mu.Unlock()
		u.view.measure()
		for _, f := range batch {
			f()
		}
		if len(batch) == 0 {
			if closed {
				u.view.erase()
				u.view.fresh()
				return
			}
			select {
			case <-u.wake:
			case <-u.view.due():
			}
		}
		u.view.tick()
	}
}

// do runs f after everything that was to be shown before it, and waits for it.
func (u *UI) do(ctx context.Context, f func()) error {
	ran := make(chan struct{})
	u.mu.Lock()
	ok := u.enqueue(func() { f(); close(ran) })
	u.mu.Unlock()
	if !ok {
		return ErrClosed
	}
	select {
	case <-ran:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends open questions, shows what is left and returns the first error of
// writing. It gives up on a terminal that takes nothing for two seconds. A read
// that the operating system will not interrupt ends with the program.
func (u *UI) Close() error {
	u.stop()
	u.mu.Lock()
	u.closed = true
	select {
	case u.wake <- struct{}{}:
	default:
	}
	u.mu.Unlock()
	if u.input != nil {
		u.input.close()
	}
	select {
	case <-u.done:
		return u.view.err
	case <-time.After(closeWait):
		return errors.New("terminal: output is stuck")
	}
}

// Doing shows what Belay does itself, if it takes longer than a moment, until done
// is called.
func (u *UI) Doing(what string) (done func()) {
	w := &work{what: what}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.enqueue(func() {
		if u.view.showsStatus() {
			w.began = u.view.begins()
			u.view.status.works = append(u.view.status.works, w)
		}
	})
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.enqueue(func() { u.view.worked(w) })
	}
}

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	besideMax = 64              // processes that are kept in mind
	patience  = 5 * time.Second // for what is written to be taken
)

var (
	// ErrMany is returned by Start while too many processes run.
	ErrMany = fmt.Errorf("%d processes run already", besideMax)

	// ErrNoInput is returned by Write to what reads nothing, or has ended.
	ErrNoInput = errors.New("it takes no input")

	errLate    = errors.New("its time has passed")
	errStopped = errors.New("stopped")
)

// A Process is a command that runs beside the call that started it, or has ended
// and waits to be asked about. It is safe for use by several goroutines.
type Process struct {
	run  *run
	name string
	end  context.CancelCauseFunc
	done chan struct{} // closed once exit and err are there
	exit Exit
	err  error

	mu    sync.Mutex
	known bool // somebody has been told that it has ended
}

// Start is Run for a command that outlives its call, such as a server. It
// returns once c runs. What Start started ends with the Host at the latest.
func (h *Host) Start(c Command) (*Process, error) {
	p, err := h.background(c)
	if err != nil {
		return nil, err
	}
	h.list(p)
	return p, nil
}

// background starts c without listing it.
func (h *Host) background(c Command) (*Process, error) {
	if h.full() {
		return nil, fmt.Errorf("run %s: %w", c.name(), ErrMany)
	}
	r, err := h.start(c)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancelCause(context.Background())
	p := &Process{run: r, name: c.Call, end: end, done: make(chan struct{})}
	if p.name == "" {
		p.name = "p" + strconv.Itoa(r.number)
	}
	go func() { // Close waits for it
		defer h.running.Done()
		defer end(nil)
		defer close(p.done)
		p.exit, p.err = r.finish(ctx)
	}()
	return p, nil
}

// linger is Run for a command that goes on as a Process where its time passes.
func (h *Host) linger(ctx context.Context, c Command) (Exit, error) {
	var late <-chan time.Time
	if c.Timeout > 0 {
		timer := time.NewTimer(c.Timeout)
		defer timer.Stop()
		late = timer.C
	}
	c.Timeout = 0
	p, err := h.background(c)
	if err != nil {
		return Exit{}, err
	}
	select {
	case <-p.done:
		return p.exit, p.err
	case <-ctx.Done():
		why := errStopped
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			why = errLate
		}
		p.end(why)
		<-p.done
		return p.exit, p.err
	case <-late:
	}
	p.run.pump.kept.letGo()
	h.list(p)
	exit := Exit{Lingers: true, Took: time.Since(p.run.began), Profile: p.run.cage.held()}
	p.run.pump.kept.into(&exit)
	return exit, nil
}

func (h *Host) full() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	running := 0
	for _, p := range h.beside {
		if !p.ended() {
			running++
		}
	}
	return running >= besideMax
}

// list keeps p in mind. Of those that have ended the oldest may be forgotten.
func (h *Host) list(p *Process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beside = append(h.beside, p)
	for len(h.beside) > besideMax {
		i := slices.IndexFunc(h.beside, (*Process).ended)
		if i < 0 {
			return
		}
		h.beside = slices.Delete(h.beside, i, i+1)
	}
}

// Processes returns what Start and Linger have left beside their calls, in the
// order in which they were left; of what has ended, the newest.
func (h *Host) Processes() []*Process {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.beside)
}

// Ended returns those of Processes that have ended and that nobody was told
// about, neither here nor by Exit.
func (h *Host) Ended() (news []*Process) {
	for _, p := range h.Processes() {
		p.mu.Lock()
		if p.ended() && !p.known {
			p.known = true
			news = append(news, p)
		}
		p.mu.Unlock()
	}
	return news
}

// Name is that of the call that started p, or "p" and a number.
func (p *Process) Name() string { return p.name }

// Command returns what p runs.
func (p *Process) Command() Command { return p.run.command }

// Began returns when p was started.
func (p *Process) Began() time.Time { return p.run.began }

func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Exit returns how p ended, if it has. The error is that of Run.
func (p *Process) Exit() (e Exit, ended bool, err error) {
	if !p.ended() {
		return Exit{}, false, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = true
	return p.exit, true, p.err
}

// Wait returns once p has ended, or ctx has.
func (p *Process) Wait(ctx context.Context) {
	select {
	case <-p.done:
	case <-ctx.Done():
	}
}

// Stop ends p as the end of a context ends Run, and returns when it has ended.
func (p *Process) Stop() {
	p.end(errStopped)
	<-p.done
}

// Read returns at most so many bytes of what p printed after the first from
// bytes, how many come before them, which is more where some were not kept, and
// how many there are by now.
func (p *Process) Read(from int64, most int) (b []byte, at, total int64) {
	return p.run.pump.kept.read(from, most)
}

// Write writes b to what p reads, and waits for room a few seconds at most: n
// says how much of b there was room for.
func (p *Process) Write(b []byte) (n int, err error) {
	to := p.run.pipes.to
	if to == nil || p.ended() {
		return 0, ErrNoInput
	}
	if err := to.SetWriteDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		return 0, fmt.Errorf("write to %s: %w", p.name, err)
	}
	if n, err = to.Write(b); err != nil {
		return n, fmt.Errorf("write to %s: %w", p.name, err)
	}
	return n, nil
}

// CloseInput lets p read the end of its input. What is written to a terminal
// afterwards is read all the same.
func (p *Process) CloseInput() error {
	if p.run.pipes.to == nil {
		return ErrNoInput
	}
	if p.run.command.Terminal != nil {
		_, err := p.Write([]byte(endOfInput))
		return err
	}
	return p.run.pipes.to.Close()
}

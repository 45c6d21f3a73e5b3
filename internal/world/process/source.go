package process

import (
	"os"
	"time"
)

// A source is what a command writes, as it comes.
type source interface {
	// read fills b with what is there, waiting for something to be, and says
	// whether it was written to standard error, where that is told apart.
	read(b []byte) (n int, fromErr bool, err error)

	// until has read give up, with os.ErrDeadlineExceeded, at t. It fails where
	// the system cannot do that.
	until(t time.Time) error

	// files are what it reads.
	files() []*os.File

	Close() error
}

// A single is one pipe that all output goes to.
type single struct{ *os.File }

func (s single) read(b []byte) (n int, fromErr bool, err error) {
	n, err = s.File.Read(b)
	return n, false, err
}

func (s single) files() []*os.File { return []*os.File{s.File} }

func (s single) until(t time.Time) error { return s.SetReadDeadline(t) }

// Plumbing is how a command is connected to us.
type plumbing struct {
	from     source
	to       *os.File // what is written to it, nil if nothing can be
	in       *os.File // of the command, nil if it reads nothing
	out, err *os.File // of the command; the same where they are not told apart
}

// plumb makes the pipes for c. What is told apart comes in the order in which
// the pipes began to fill, so nearly in that of the writes.
func plumb(c Command) (p plumbing, err error) {
	defer func() {
		if err != nil {
			p.close()
			p = plumbing{}
		}
	}()
	if c.Terminal != nil {
		return newTerminal(*c.Terminal)
	}
	if c.Input {
		if p.in, p.to, err = os.Pipe(); err != nil {
			return p, err
		}
	}
	r, w, err := pipe()
	if err != nil {
		return p, err
	}
	p.from, p.out, p.err = single{r}, w, w
	if !c.Apart || !canPair {
		return p, nil
	}
	r2, w2, err := pipe()
	if err != nil {
		return p, err
	}
	p.err = w2
	both, err := newPair(r, r2)
	if err != nil {
		closeAll(r2)
		return p, err
	}
	p.from = both
	return p, nil
}

// given closes what the command has got.
func (p *plumbing) given() {
	closeAll(p.in, p.out, p.err) // the same may be there twice, which does no harm
	p.in, p.out, p.err = nil, nil, nil
}

func (p *plumbing) close() {
	p.given()
	closeAll(p.to)
	if p.from != nil {
		_ = p.from.Close()
	}
}

// pipe makes a pipe that holds much: a command then has to wait less often.
func pipe() (r, w *os.File, err error) {
	r, w, err = os.Pipe()
	if err == nil {
		widen(w)
	}
	return r, w, err
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

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

	Close() error
}

// A single is one pipe that all output goes to.
type single struct{ *os.File }

func (s single) read(b []byte) (n int, fromErr bool, err error) {
	n, err = s.File.Read(b)
	return n, false, err
}

func (s single) until(t time.Time) error { return s.SetReadDeadline(t) }

// plumbing is where the output of a command goes in, and where it comes out.
type plumbing struct {
	from     source
	out, err *os.File // of the command; the same where they are not told apart
}

// plumb makes the pipes for c. What is told apart comes in the order in which
// the pipes began to fill, so nearly in that of the writes.
func plumb(c Command) (plumbing, error) {
	r, w, err := pipe()
	if err != nil {
		return plumbing{}, err
	}
	if !c.Apart || !canPair {
		return plumbing{single{r}, w, w}, nil
	}
	r2, w2, err := pipe()
	if err != nil {
		closeAll(r, w)
		return plumbing{}, err
	}
	from, err := newPair(r, r2)
	if err != nil {
		closeAll(r, w, r2, w2)
		return plumbing{}, err
	}
	return plumbing{from, w, w2}, nil
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

package process

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// canPair says that standard error can be told apart.
const canPair = true

// A pair is two pipes that are read in the order in which they became readable:
// an epoll lists them so where it reports edges only. It is itself a file that
// becomes readable, so the runtime can wait for it, up to a deadline.
type pair struct {
	ready *os.File // the epoll
	pipes [2]*os.File
	ended [2]bool // nobody writes to them any more
	queue []int   // of pipes that may have something
	open  int
}

func newPair(out, err *os.File) (*pair, error) {
	fd, e := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if e != nil {
		return nil, os.NewSyscallError("epoll_create1", e)
	}
	_ = unix.SetNonblock(fd, true) // so that the runtime waits for it
	p := &pair{ready: os.NewFile(uintptr(fd), "output"), pipes: [2]*os.File{out, err}, open: 2}
	for i, f := range p.pipes {
		if e := p.add(i, f); e != nil {
			_ = p.ready.Close()
			return nil, e
		}
	}
	return p, nil
}

func (p *pair) add(i int, f *os.File) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET&0xffffffff, Fd: int32(i)}
	return errors.Join(control(p.ready, func(ready int) error {
		return control(f, func(fd int) error { return unix.EpollCtl(ready, unix.EPOLL_CTL_ADD, fd, &event) })
	}))
}

// control runs do on the descriptor of f, which stays as it is.
func control(f *os.File, do func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) { failed = do(int(fd)) })
	return errors.Join(err, failed)
}

func (p *pair) read(b []byte) (n int, fromErr bool, err error) {
	for p.open > 0 {
		if len(p.queue) == 0 {
			if err := p.wait(); err != nil {
				return 0, false, err
			}
		}
		i := p.queue[0]
		p.queue = p.queue[1:]
		n, err := readNow(p.pipes[i], b)
		switch {
		case n > 0:
			if n == len(b) || p.ended[i] {
				p.queue = append(p.queue, i) // there may be more, which no edge would tell
			}
			return n, i == 1, nil
		case errors.Is(err, unix.EAGAIN):
		default: // its end
			p.open--
		}
	}
	return 0, false, io.EOF
}

// readNow reads without waiting.
func readNow(f *os.File, b []byte) (n int, err error) {
	err = control(f, func(fd int) (err error) {
		for {
			if n, err = unix.Read(fd, b); err != unix.EINTR {
				return err
			}
		}
	})
	return max(n, 0), err
}

// wait fills the queue.
func (p *pair) wait() error {
	conn, err := p.ready.SyscallConn()
	if err != nil {
		return err
	}
	var events [2]unix.EpollEvent
	n, failed := 0, error(nil)
	err = conn.Read(func(fd uintptr) bool {
		n, failed = unix.EpollWait(int(fd), events[:], 0)
		if errors.Is(failed, unix.EINTR) {
			n, failed = 0, nil
		}
		return n > 0 || failed != nil
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	p.queue = p.queue[:0]
	for _, e := range events[:n] {
		p.queue = append(p.queue, int(e.Fd))
		p.ended[e.Fd] = p.ended[e.Fd] || e.Events&(unix.EPOLLHUP|unix.EPOLLERR) != 0
	}
	return nil
}

func (p *pair) until(t time.Time) error { return p.ready.SetReadDeadline(t) }

func (p *pair) files() []*os.File { return p.pipes[:] }

func (p *pair) Close() error {
	return errors.Join(p.ready.Close(), p.pipes[0].Close(), p.pipes[1].Close())
}

// widen has the pipe of f hold as much as an ordinary user may ask for.
func widen(f *os.File) {
	_ = control(f, func(fd int) error {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeMax)
		return err
	})
}

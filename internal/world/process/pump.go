package process

import (
	"errors"
	"io"
	"os"
	"time"
)

const (
	quiet    = 50 * time.Millisecond  // an empty pipe for so long has been drained
	drain    = 500 * time.Millisecond // after which what is left behind is not waited for
	pipeMax  = 1 << 20                // bytes that a pipe can hold at most
	chunkMax = 256 << 10              // bytes that are read at once
)

// A pump moves a command's output to whoever wants it, no faster than they
// take it.
type pump struct {
	from    source
	to      io.Writer // nil once it has failed
	kept    ends
	errs    ends // what of that was stderr
	silence time.Duration
	idle    *time.Timer // stands while output is being handed on
}

func newPump(from source, c Command) *pump {
	p := &pump{from: from, to: c.Output, kept: ends{keep: c.Keep}, errs: ends{keep: c.Keep}, silence: c.Silence}
	if p.silence > 0 {
		p.idle = time.NewTimer(p.silence)
	} else {
		p.idle = &time.Timer{} // its nil channel never fires
	}
	return p
}

// run reads until the output ends. After the first deadline, which stop sets,
// it reads only what the command had written when it exited, and reports
// whether something still holds the pipe.
//
// The pipe may have been full then, and its reader slow. So time alone does not
// end the draining: as much as a pipe can hold is read first.
func (p *pump) run() (held bool) {
	buf := make([]byte, chunkMax)
	var end time.Time // of draining
	drained := 0
	for {
		n, fromErr, err := p.from.read(buf)
		if n > 0 {
			if fromErr {
				p.errs.write(buf[:n])
			}
			p.take(buf[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if !end.IsZero() {
				return true
			}
			end = time.Now().Add(drain)
		} else if err != nil {
			return false
		}
		if end.IsZero() {
			continue
		}
		drained += n
		next := time.Now().Add(quiet)
		if drained > 2*pipeMax && next.After(end) { // more than both pipes held
			next = end
		}
		if p.from.until(next) != nil {
			return false // closed
		}
	}
}

func (p *pump) take(b []byte) {
	p.rest()
	p.kept.write(b)
	if p.to != nil {
		if _, err := p.to.Write(b); err != nil {
			p.to = nil
		}
	}
	if p.silence > 0 {
		p.idle.Reset(p.silence) // so a slow reader is no silence
	}
}

func (p *pump) rest() {
	if p.silence > 0 {
		p.idle.Stop()
	}
}

// stop ends run, which answers on drained, once the command has exited.
func (p *pump) stop(drained <-chan bool, t *tree) (held bool) {
	if p.from.until(time.Now()) == nil {
		return <-drained
	}
	// This system cannot stop a read. What holds the pipe has to go.
	timer := time.NewTimer(drain)
	defer timer.Stop()
	select {
	case held = <-drained:
		return held
	case <-timer.C:
		t.end(0, nil)
		<-drained
		return true
	}
}

// ends keeps the first and the last bytes of a stream in bounded memory.
type ends struct {
	keep  int // of each
	head  []byte
	ring  []byte
	at    int // in a full ring, where its oldest byte is
	total int64
}

func (e *ends) write(b []byte) {
	e.total += int64(len(b))
	if n := min(len(b), e.keep-len(e.head)); n > 0 {
		e.head = append(e.head, b[:n]...)
		b = b[n:]
	}
	if over := len(b) - e.keep; over > 0 {
		b = b[over:]
	}
	if n := min(len(b), e.keep-len(e.ring)); n > 0 {
		e.ring = append(e.ring, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n := copy(e.ring[e.at:], b)
		e.at = (e.at + n) % e.keep
		b = b[n:]
	}
}

// parts returns the first and the last bytes, and how many are between them.
func (e *ends) parts() (head, tail []byte, dropped int64) {
	if len(e.ring) > 0 {
		tail = append(append(tail, e.ring[e.at:]...), e.ring[:e.at]...)
	}
	return e.head, tail, e.total - int64(len(e.head)) - int64(len(tail))
}

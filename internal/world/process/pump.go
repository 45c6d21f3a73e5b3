package process

import (
	"errors"
	"os"
	"time"
)

const (
	quiet    = 50 * time.Millisecond  // an empty pipe for so long has been drained
	drain    = 500 * time.Millisecond // after which what is left behind is not waited for
	pipeMax  = 1 << 20                // bytes that a pipe can hold at most
	chunkMax = 256 << 10              // bytes that are read at once
)

// A pump moves a command's output into its window, no faster than that takes it.
type pump struct {
	from    source
	kept    *window
	silence time.Duration
	idle    *time.Timer // stands while output is being handed on
}

func newPump(from source, c Command) *pump {
	p := &pump{from: from, kept: newWindow(c), silence: c.Silence}
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
			p.take(buf[:n], fromErr)
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

func (p *pump) take(b []byte, fromErr bool) {
	p.rest()
	p.kept.take(b, fromErr)
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

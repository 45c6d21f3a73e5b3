package terminal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxLine is the longest line that is read, in bytes.
const maxLine = 4 << 20

// ReadLine shows a prompt and returns what the person types, without its line
// feed. A backslash at the end of a line goes on to the next one. At the end of
// the input the error is io.EOF. A line that ReadLine no longer waited for is
// the next one's.
func (u *UI) ReadLine(ctx context.Context) (string, error) {
	if u.input == nil {
		return "", io.EOF
	}
	ctx, cancel := u.until(ctx)
	defer cancel()
	var lines []string
	for prompt := "> "; ; prompt = "... " {
		if err := u.do(ctx, func() { u.view.prompt(prompt) }); err != nil {
			return "", err
		}
		line, err := u.input.line(ctx, false)
		if err == io.EOF && len(lines) > 0 {
			return strings.Join(lines, "\n"), nil
		}
		if err != nil {
			return "", err
		}
		if err := u.do(ctx, u.view.entered); err != nil {
			return "", err
		}
		rest, more := continued(line)
		lines = append(lines, rest)
		if !more {
			return strings.Join(lines, "\n"), nil
		}
	}
}

// NextLine returns the next line that the person types while something else is
// going on: without a prompt, and without waiting for what is to be shown. A
// question that is asked meanwhile gets its answer first.
func (u *UI) NextLine(ctx context.Context) (string, error) {
	if u.input == nil {
		return "", io.EOF
	}
	ctx, cancel := u.until(ctx)
	defer cancel()
	line, err := u.input.line(ctx, false)
	if err == nil {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.enqueue(u.view.typed)
	}
	return line, err
}

// continued reports whether line ends in an odd number of backslashes, and
// returns it without the last.
func continued(line string) (string, bool) {
	if n := len(line) - len(strings.TrimRight(line, `\`)); n%2 == 1 {
		return line[:len(line)-1], true
	}
	return line, false
}

// until returns a context that ends with ctx and with u.
func (u *UI) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(u.ctx, func() { cancel(ErrClosed) })
	return ctx, func() { unhook(); cancel(nil) }
}

// An input hands each line to who waits for it: a question before anyone else.
// It reads only while someone waits, so that a program in the background is
// not stopped by its terminal.
type input struct {
	src     io.Reader
	more    func() bool   // reports whether further whole lines have come already; may be nil
	told    func()        // that lines were pasted, and Enter sends them
	buf     *bufio.Reader // of whoever reads
	readers sync.WaitGroup

	mu      sync.Mutex
	reading bool
	waiters []*waiter
	left    *string // read for someone who no longer waits
	err     error   // that ended the input
}

type waiter struct {
	question bool
	got      chan struct{} // closed when line is set
	line     string
	err      error
}

func newInput(r io.Reader, more func() bool, told func()) *input {
	return &input{src: r, buf: bufio.NewReader(r), more: more, told: told}
}

// line waits for a line. One that was read before a question was asked cannot
// answer it.
func (in *input) line(ctx context.Context, question bool) (string, error) {
	w := &waiter{question: question, got: make(chan struct{})}
	if err := in.wait(w); err != nil {
		return "", err
	}
	select {
	case <-w.got:
	case <-ctx.Done():
		in.leave(w)
		return "", context.Cause(ctx)
	}
	return w.line, w.err
}

func (in *input) wait(w *waiter) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if w.question {
		in.left = nil
		if !in.reading {
			in.buf.Discard(in.buf.Buffered()) // cannot fail: it is there
		}
	}
	if in.left != nil {
		w.line, in.left = *in.left, nil
		close(w.got)
		return nil
	}
	if in.err != nil {
		return in.err
	}
	in.waiters = append(in.waiters, w)
	if !in.reading {
		in.reading = true
		in.readers.Go(in.read)
	}
	return nil
}

func (in *input) leave(w *waiter) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, other := range in.waiters {
		if other == w {
			in.waiters = append(in.waiters[:i], in.waiters[i+1:]...)
			return
		}
	}
	if w.err == nil && !w.question { // it came at the same moment
		in.left = &w.line
	}
}

// read reads until nobody waits.
func (in *input) read() {
	for {
		line, err := readLine(in.buf)
		if err == nil {
			line = in.pasted(line)
		}
		in.mu.Lock()
		in.deliver(line, err)
		in.reading = len(in.waiters) > 0
		more := in.reading
		in.mu.Unlock()
		if !more {
			return
		}
	}
}

// pasted returns line and what was pasted together with it: nobody types two lines
// at once. What is pasted is sent by the Enter that follows it.
func (in *input) pasted(line string) string {
	if in.asked() || !in.hasMore() {
		return line
	}
	lines, size := []string{line}, len(line)
	for last := false; !last && size <= maxLine; {
		if last = !in.hasMore(); last {
			in.told()
		}
		next, err := readLine(in.buf)
		if err != nil {
			break // whoever reads next hears of it
		}
		lines, size = append(lines, next), size+len(next)
	}
	return strings.TrimSuffix(strings.Join(lines, "\n"), "\n")
}

func (in *input) hasMore() bool {
	if in.more == nil {
		return false
	}
	come, _ := in.buf.Peek(in.buf.Buffered()) // cannot fail: it is there
	return bytes.IndexByte(come, '\n') >= 0 || in.more()
}

// asked reports whether a question waits for a line.
func (in *input) asked() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.ContainsFunc(in.waiters, func(w *waiter) bool { return w.question })
}

func (in *input) deliver(line string, err error) {
	if err != nil {
		in.err = err
		for _, w := range in.waiters {
			w.err = err
			close(w.got)
		}
		in.waiters = nil
		return
	}
	if len(in.waiters) == 0 {
		in.left = &line
		return
	}
	pasted := strings.Contains(line, "\n") // before a question was asked: it is no answer
	at := slices.IndexFunc(in.waiters, func(w *waiter) bool { return w.question != pasted })
	switch {
	case at < 0 && pasted:
		in.left = &line
		return
	case at < 0:
		at = 0
	}
	w := in.waiters[at]
	in.waiters = append(in.waiters[:at], in.waiters[at+1:]...)
	w.line = line
	close(w.got)
}

// close interrupts a read where the source allows it, and then waits for it.
func (in *input) close() {
	src, ok := in.src.(interface{ SetReadDeadline(time.Time) error })
	if ok && src.SetReadDeadline(time.Unix(1, 0)) == nil {
		in.readers.Wait()
	}
}

// readLine returns the next line without its end. What follows the last line
// feed is a line too.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > maxLine {
			return "", fmt.Errorf("read line: longer than %d bytes", maxLine)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil || err == io.EOF && len(line) > 0:
			text := strings.TrimSuffix(string(line), "\n")
			return strings.TrimSuffix(text, "\r"), nil
		}
		return "", err
	}
}

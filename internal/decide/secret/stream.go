package secret

import (
	"bytes"
	"io"
)

// What a stream holds back of a line that does not end, and of that when it is
// written all the same: enough for every secret, and what has to be before it.
const (
	maxLine = 64 << 10
	overlap = 20 << 10
	context = 256
)

// Writer returns a writer that passes on to w what it gets, without secrets,
// also those that are cut between writes. It holds back the line that has not
// ended, up to 64 KiB of it, and lines that may be of a private key, until Close,
// which leaves w open.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	if r == nil {
		return open{w}
	}
	return &stream{r: r, w: w}
}

// Typing is Writer for text that people watch as it is written: it also passes on
// the words of a line that has not ended, as long as nothing in that line may begin
// a secret.
func (r *Redactor) Typing(w io.Writer) io.WriteCloser {
	if r == nil {
		return open{w}
	}
	return &stream{r: r, w: w, words: true}
}

type open struct{ io.Writer }

func (open) Close() error { return nil }

type stream struct {
	r     *Redactor
	w     io.Writer
	words bool // lines are not waited for
	held  []byte
	done  int // how far of held has been written for
	out   []byte
}

func (s *stream) Write(p []byte) (int, error) {
	s.held = append(s.held, p...)
	if err := s.flush(s.settled(), false); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *stream) Close() error { return s.flush(len(s.held), true) }

// settled returns up to where no secret goes on in what is still to come, but
// for one that find reports as open.
func (s *stream) settled() int {
	b := s.held
	cut := bytes.LastIndexAny(b, "\r\n") + 1
	if run := runStart(b, cut, 2*maxBlock); cut-run < 2*maxBlock {
		cut = run
	} else {
		cut = runStart(b, cut, maxBlock)
	}
	if line := b[max(cut, s.done):]; s.words && cut == bytes.LastIndexAny(b, "\r\n")+1 && !s.r.held.spaces {
		at, _ := s.r.rules.next(line, 0)
		if word := bytes.LastIndexByte(line[:at], ' ') + 1; word > 0 {
			cut = len(b) - len(line) + word
		}
	}
	if len(b)-cut > maxLine {
		cut = len(b) - max(overlap, s.r.held.longest)
	}
	if s.r.held.lines {
		cut = min(cut, len(b)-(s.r.held.longest-1))
	}
	return cut
}

func (s *stream) flush(cut int, whole bool) error {
	if cut <= s.done && !whole {
		return nil
	}
	found, open := s.r.find(s.held, whole)
	cut = min(cut, open)
	if cut <= 0 {
		return nil
	}
	s.out, s.done = replace(s.out[:0], s.held, found, s.done, cut)
	drop := cut
	if c := s.held[cut-1]; c != '\n' && c != '\r' && !whole {
		drop = max(cut-context, 0)
	}
	s.held = append(s.held[:0], s.held[drop:]...)
	s.done -= drop
	if len(s.out) == 0 {
		return nil
	}
	_, err := s.w.Write(s.out)
	return err
}

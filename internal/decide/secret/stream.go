package secret

import "io"

// Writer returns a writer that passes on to w what it gets, without secrets,
// also those that are cut between two writes. It holds back as many bytes as the
// longest secret has, until Close, which leaves w open.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	if r == nil {
		return open{w}
	}
	return &stream{r: r, w: w}
}

type open struct{ io.Writer }

func (open) Close() error { return nil }

type stream struct {
	r    *Redactor
	w    io.Writer
	held []byte
	done int // bytes of held that a mark already stands for
	out  []byte
}

func (s *stream) Write(p []byte) (int, error) {
	s.held = append(s.held, p...)
	// A secret that begins before the cut is here to its end.
	if err := s.flush(len(s.held) - (s.r.longest - 1)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *stream) Close() error { return s.flush(len(s.held)) }

func (s *stream) flush(cut int) error {
	if cut <= 0 {
		return nil
	}
	s.out, s.done = s.r.replace(s.out[:0], s.held, s.done, cut)
	s.held = append(s.held[:0], s.held[cut:]...)
	if len(s.out) == 0 {
		return nil
	}
	_, err := s.w.Write(s.out)
	return err
}

package provider

import (
	"bytes"
	"errors"
)

// maxEvent bounds one event of a stream, in bytes.
const maxEvent = 8 << 20

// ErrEventTooLarge reports an event of a stream that is larger than any reply
// needs.
var ErrEventTooLarge = errors.New("an event of the stream is too large")

// A frame is one server-sent event.
type frame struct {
	name string // "" where the server gave none
	data string
}

// A splitter takes a stream of server-sent events apart. What it emits depends
// on the bytes alone, never on how they arrive.
type splitter struct {
	max  int
	emit func(frame) error

	line    []byte // not ended yet
	data    []byte
	name    string
	hasData bool
	afterCR bool // an LF now belongs to the line end before
	begun   bool // the first line is over
}

// write takes the next bytes of the stream. Its errors are the emitter's or
// ErrEventTooLarge.
func (s *splitter) write(p []byte) error {
	for len(p) > 0 {
		if s.afterCR {
			s.afterCR = false
			if p[0] == '\n' {
				p = p[1:]
				continue
			}
		}
		i := bytes.IndexAny(p, "\r\n")
		if i < 0 {
			s.line = append(s.line, p...)
			return s.fits()
		}
		s.line = append(s.line, p[:i]...)
		s.afterCR = p[i] == '\r'
		p = p[i+1:]
		if err := s.endLine(); err != nil {
			return err
		}
	}
	return nil
}

// close takes the end of the stream for the end of the last line and event.
func (s *splitter) close() error {
	if len(s.line) > 0 {
		if err := s.endLine(); err != nil {
			return err
		}
	}
	return s.dispatch()
}

func (s *splitter) fits() error {
	if len(s.line)+len(s.data) > s.max {
		return ErrEventTooLarge
	}
	return nil
}

func (s *splitter) endLine() error {
	if err := s.fits(); err != nil {
		return err
	}
	line := s.line
	s.line = s.line[:0]
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
	}
	if len(line) == 0 {
		return s.dispatch()
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) { // a comment has no field
	case "data":
		if s.hasData {
			s.data = append(s.data, '\n')
		}
		s.data = append(s.data, value...)
		s.hasData = true
	case "event":
		s.name = string(value)
	}
	return nil
}

func (s *splitter) dispatch() error {
	f := frame{name: s.name, data: string(s.data)}
	has := s.hasData
	s.name, s.data, s.hasData = "", s.data[:0], false
	if !has {
		return nil
	}
	return s.emit(f)
}

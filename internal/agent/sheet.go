package agent

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/belay-agent/belay/internal/contract/model"
)

// A sheet is a request as it is recorded. It stays in pieces, so that the next
// one need not encode again what it repeats, nor a session of many steps take a
// time that grows with their square.
type sheet struct {
	messages []model.Message
	pieces   [][]byte // of its JSON: what is before the messages, each of them, the end
	tokens   []int    // of what is before the messages, and of each of them, as estimated
}

// next returns the sheet of r.
func (s sheet) next(r *model.Request) (sheet, error) {
	head := *r
	head.Messages = []model.Message{}
	b, err := json.Marshal(head)
	if err != nil {
		return sheet{}, err
	}
	const end = "]}"
	pieces := [][]byte{bytes.TrimSuffix(b, []byte(end))}
	tokens := make([]int, 0, 1+len(r.Messages))
	if len(s.pieces) > 0 && bytes.Equal(s.pieces[0], pieces[0]) {
		tokens = append(tokens, s.tokens[0])
	} else {
		tokens = append(tokens, r.HeadEstimate())
	}
	for i, m := range r.Messages {
		if i < len(s.messages) && reflect.DeepEqual(m, s.messages[i]) {
			pieces = append(pieces, s.pieces[i+1])
			tokens = append(tokens, s.tokens[i+1])
			continue
		}
		b, err := m.MarshalJSON()
		if err != nil {
			return sheet{}, err
		}
		if i > 0 {
			b = append([]byte{','}, b...)
		}
		pieces = append(pieces, b)
		tokens = append(tokens, m.Estimate())
	}
	return sheet{r.Messages, append(pieces, []byte(end)), tokens}, nil
}

// beyond returns how many leading bytes of s are those of before, and the rest.
func (s sheet) beyond(before sheet) (repeats int, rest [][]byte) {
	for i, piece := range s.pieces {
		var was []byte
		if i < len(before.pieces) {
			was = before.pieces[i]
		}
		n := shared(was, piece)
		repeats += n
		if n < max(len(was), len(piece)) {
			return repeats, append([][]byte{piece[n:]}, s.pieces[i+1:]...)
		}
	}
	return repeats, nil
}

func (s sheet) size() int {
	n := 0
	for _, piece := range s.pieces {
		n += len(piece)
	}
	return n
}

// estimate returns how many tokens the request has.
func (s sheet) estimate() int {
	n := 0
	for _, t := range s.tokens {
		n += t
	}
	return n
}

// shared returns how many leading bytes a and b have in common.
func shared(a, b []byte) int {
	n := min(len(a), len(b))
	if bytes.Equal(a[:n], b[:n]) {
		return n
	}
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

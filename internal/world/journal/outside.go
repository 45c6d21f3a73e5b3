package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// stringLimit is how long a string may be, in its JSON form, and stay in the
// log.
const stringLimit = 256 << 10

// outsource moves strings over the limit out of body, which is valid JSON, into
// artifacts. In their place stand handles, and out says where (see
// event.Record). A string that could not be put back byte by byte, and a body
// that is still too long for a line, make all of the body an artifact.
func outsource(body []byte, s shelf) (rest []byte, out []int, err error) {
	if len(body) <= stringLimit {
		return body, nil, nil
	}
	from := 0 // what comes before is in rest
	for start, end := range tokens(body) {
		if end-start <= stringLimit {
			continue
		}
		text, exact := unquote(body[start:end])
		if !exact {
			return whole(body, s)
		}
		handle, err := put(s, text)
		if err != nil {
			return nil, nil, err
		}
		rest = append(rest, body[from:start]...)
		out = append(out, len(rest))
		rest = append(append(append(rest, '"'), handle...), '"')
		from = end
	}
	rest = append(rest, body[from:]...)
	if len(rest) > lineLimit-1<<10-8*len(out) { // room for what else is in a line
		return whole(body, s)
	}
	return rest, out, nil
}

func whole(body []byte, s shelf) ([]byte, []int, error) {
	handle, err := put(s, body)
	if err != nil {
		return nil, nil, err
	}
	return []byte(`"` + handle + `"`), []int{0}, nil
}

// insource takes back what outsource did.
func insource(rest []byte, out []int, s shelf) ([]byte, error) {
	if len(out) == 0 {
		return rest, nil
	}
	var body []byte
	from := 0
	for _, at := range out {
		end := at + 1 + len(prefix) + digestLen + 1
		if at < from || end > len(rest) || rest[at] != '"' || rest[end-1] != '"' {
			return nil, fmt.Errorf("no artifact is named at byte %d of an event", at)
		}
		text, err := get(s, string(rest[at+1:end-1]))
		if err != nil {
			return nil, err
		}
		if at == 0 {
			return text, nil
		}
		body = append(append(body, rest[from:at]...), quote(text)...)
		from = end
	}
	return append(body, rest[from:]...), nil
}

// tokens yields where each string of valid JSON starts and ends, quotes
// included.
func tokens(b []byte) func(yield func(start, end int) bool) {
	return func(yield func(start, end int) bool) {
		for at := 0; ; {
			i := bytes.IndexByte(b[at:], '"')
			if i < 0 {
				return
			}
			start := at + i
			for at = start + 1; b[at] != '"'; at++ {
				if b[at] == '\\' {
					at++
				}
			}
			at++
			if !yield(start, at) {
				return
			}
		}
	}
}

// unquote returns the text of a JSON string, and whether quote turns it back
// into the same bytes.
func unquote(token []byte) (text []byte, exact bool) {
	var s string
	if json.Unmarshal(token, &s) != nil {
		return nil, false
	}
	text = []byte(s)
	return text, bytes.Equal(quote(text), token)
}

func quote(text []byte) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(string(text)); err != nil {
		panic("journal: a string is always JSON: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

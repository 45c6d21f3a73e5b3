package event

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"
)

// layout is how a time stands in the log.
const layout = "2006-01-02T15:04:05.000Z"

// A Record is one line of the log, with its body still sealed.
type Record struct {
	Seq   int64
	Time  time.Time
	Epoch int64 // counts the times that the session was opened

	// Safe is an event before which all were on stable storage when this one
	// was written; 0 if that is not known.
	Safe int64

	// Out are offsets in Body.JSON, ascending, of strings that are only the
	// handles of artifacts in which the real strings are; 0 alone is for an
	// artifact that is all of the body. Whoever has the artifacts puts them
	// back.
	Out  []int
	Body Opaque
}

// Append appends r's line to dst, without a line feed.
func (r Record) Append(dst []byte) ([]byte, error) {
	if r.Seq < 1 || r.Epoch < 0 {
		return nil, fmt.Errorf("encode event: seq %d in epoch %d", r.Seq, r.Epoch)
	}
	if y := r.Time.UTC().Year(); y < 0 || y > 9999 {
		return nil, fmt.Errorf("encode event %d: the year %d", r.Seq, y)
	}
	dst = append(dst, `{"q":`...)
	dst = strconv.AppendInt(dst, r.Seq, 10)
	dst = append(append(append(dst, `,"t":"`...), r.Body.Type...), `","v":`...)
	dst = strconv.AppendInt(dst, int64(r.Body.Version), 10)
	dst = append(dst, `,"ts":"`...)
	dst = Stamp(r.Time).AppendFormat(dst, layout)
	dst = append(dst, `","ep":`...)
	dst = strconv.AppendInt(dst, r.Epoch, 10)
	if r.Safe > 0 {
		dst = append(dst, `,"safe":`...)
		dst = strconv.AppendInt(dst, r.Safe, 10)
	}
	if r.Body.Critical {
		dst = append(dst, `,"crit":true`...)
	}
	for i, at := range r.Out {
		dst = append(dst, sep(i)...)
		dst = strconv.AppendInt(dst, int64(at), 10)
	}
	if len(r.Out) > 0 {
		dst = append(dst, ']')
	}
	dst = append(append(dst, `,"b":`...), r.Body.JSON...)
	return append(dst, '}'), nil
}

func sep(i int) string {
	if i == 0 {
		return `,"out":[`
	}
	return ","
}

// Parse reads one line. It checks all but the body, which Opaque.Unseal checks;
// the result shares memory with line.
func Parse(line []byte) (Record, error) {
	p := parser{rest: line}
	var r Record
	p.literal(`{"q":`)
	r.Seq = p.number(1)
	p.literal(`,"t":"`)
	r.Body.Type = p.word()
	p.literal(`","v":`)
	version := p.number(1)
	r.Body.Version = int(version)
	p.literal(`,"ts":"`)
	r.Time = p.time()
	p.literal(`","ep":`)
	r.Epoch = p.number(0)
	if p.maybe(`,"safe":`) {
		r.Safe = p.number(1)
	}
	r.Body.Critical = p.maybe(`,"crit":true`)
	if p.maybe(`,"out":[`) {
		r.Out = p.offsets()
	}
	p.literal(`,"b":`)
	if n := len(p.rest); n < 2 || p.rest[n-1] != '}' || version > math.MaxInt32 {
		p.bad = true
	}
	if p.bad {
		return Record{}, fmt.Errorf("decode event: malformed at byte %d", len(line)-len(p.rest))
	}
	r.Body.JSON = p.rest[:len(p.rest)-1]
	return r, nil
}

// A parser takes a line apart from the left. Once something did not fit it is
// bad and takes nothing more.
type parser struct {
	rest []byte
	bad  bool
}

func (p *parser) maybe(s string) bool {
	if p.bad || len(p.rest) < len(s) || string(p.rest[:len(s)]) != s {
		return false
	}
	p.rest = p.rest[len(s):]
	return true
}

func (p *parser) literal(s string) {
	if !p.maybe(s) {
		p.bad = true
	}
}

// number takes decimal digits as strconv writes them, of at least low.
func (p *parser) number(low int64) int64 {
	n := 0
	for n < len(p.rest) && '0' <= p.rest[n] && p.rest[n] <= '9' {
		n++
	}
	v, err := strconv.ParseInt(string(p.rest[:n]), 10, 64)
	if p.bad || err != nil || v < low || n > 1 && p.rest[0] == '0' {
		p.bad = true
		return 0
	}
	p.rest = p.rest[n:]
	return v
}

func (p *parser) word() string {
	n := max(bytes.IndexByte(p.rest, '"'), 0)
	s := kindOf(p.rest[:min(n, 65)])
	if p.bad || !isType(s) {
		p.bad = true
		return ""
	}
	p.rest = p.rest[n:]
	return s
}

// kindOf returns name as a string. A log has many lines of few types: those cost
// no memory.
func kindOf(name []byte) string {
	for _, k := range [...]string{
		"opened", "ruled", "asked", "packed", "sent", "replied", "planned", "decided",
		"started", "finished", "settled", "constrained", "quarantined", "switched", "compacted", "stopped",
	} {
		if string(name) == k {
			return k
		}
	}
	return string(name)
}

func isType(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && c != '.' && c != '_' {
			return false
		}
	}
	return 0 < len(s) && len(s) <= 64
}

// time takes exactly what layout writes. It is not time.Parse because that is
// most of what reading a long log costs.
func (p *parser) time() time.Time {
	if p.bad || len(p.rest) < len(layout) {
		p.bad = true
		return time.Time{}
	}
	s := p.rest[:len(layout)]
	var v [len(layout)]int // what the digits that end here add up to
	for i := range len(layout) {
		isDigit := '0' <= s[i] && s[i] <= '9'
		if layout[i] < '0' || layout[i] > '9' {
			p.bad = p.bad || s[i] != layout[i]
			continue
		}
		p.bad = p.bad || !isDigit
		v[i] = int(s[i] - '0')
		if i > 0 {
			v[i] += 10 * v[i-1]
		}
	}
	year, month, day, hour, minute, second := v[3], v[6], v[9], v[12], v[15], v[18]
	t := time.Date(year, time.Month(month), day, hour, minute, second, v[22]*int(time.Millisecond), time.UTC)
	if t.Month() != time.Month(month) || t.Day() != day || hour > 23 || minute > 59 || second > 59 {
		p.bad = true
	}
	if p.bad {
		return time.Time{}
	}
	p.rest = p.rest[len(layout):]
	return t
}

func (p *parser) offsets() []int {
	var all []int
	for !p.bad {
		v := p.number(0)
		if n := len(all); v > math.MaxInt32 || n > 0 && int(v) <= all[n-1] {
			p.bad = true
		}
		all = append(all, int(v))
		if p.maybe("]") {
			return all
		}
		p.literal(",")
	}
	return nil
}

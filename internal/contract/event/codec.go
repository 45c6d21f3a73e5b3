package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Kinds returns the names of all types that this version knows, in the order of
// their declaration.
func Kinds() []string {
	return []string{
		"opened", "ruled", "asked", "packed", "sent", "replied", "planned", "decided",
		"started", "finished", "settled", "constrained", "quarantined", "switched", "compacted", "stopped",
	}
}

// Encode returns e as one line of JSON, without its line feed:
//
//	{"q":7,"t":"asked","v":1,"ts":"2026-01-02T03:04:05.678Z","ep":1,"b":{"text":"hello"}}
//
// Text that is not UTF-8 has U+FFFD for what cannot be decoded. Epoch counts
// the times that the session was opened.
func Encode(e Event, epoch int64) ([]byte, error) {
	body, err := Seal(e.Body)
	if err != nil {
		return nil, err
	}
	return Record{Seq: e.Seq, Time: e.Time, Epoch: epoch, Body: body}.Append(nil)
}

// Decode reads what Encode wrote, in any version of it. A type or a version
// that is not known yields an Opaque, which encodes to the same bytes again;
// whoever would go on with the session asks Event.Understood first. A line with
// Record.Out is not for Decode: its artifacts are to be put back first.
func Decode(line []byte) (Event, int64, error) {
	r, err := Parse(line)
	if err != nil {
		return Event{}, 0, err
	}
	if len(r.Out) > 0 {
		return Event{}, 0, fmt.Errorf("decode event %d: parts of it are in artifacts", r.Seq)
	}
	body, err := r.Body.Unseal()
	if err != nil {
		return Event{}, 0, fmt.Errorf("decode event %d: %w", r.Seq, err)
	}
	return Event{Seq: r.Seq, Time: r.Time, Body: body}, r.Epoch, nil
}

// Newer reports an event that a newer Belay marked as one that must be
// understood.
type Newer struct {
	Seq     int64
	Type    string
	Version int
}

func (n *Newer) Error() string {
	return fmt.Sprintf("event %d (%s, version %d) needs a newer Belay: the session can be read but not continued",
		n.Seq, n.Type, n.Version)
}

// Understood returns a *Newer if e is critical and of a type or version that is
// not known, so that the session must not be continued. It can still be read.
func (e Event) Understood() error {
	if o, ok := e.Body.(Opaque); ok && o.Critical {
		return &Newer{Seq: e.Seq, Type: o.Type, Version: o.Version}
	}
	return nil
}

// Seal returns b as it is written: its type, the current version of that type,
// and its JSON, which is valid UTF-8 without a line feed.
func Seal(b Body) (Opaque, error) {
	if o, ok := b.(Opaque); ok {
		return sealed(o)
	}
	if b == nil {
		return Opaque{}, fmt.Errorf("encode event: no body")
	}
	version, _ := format(b.kind())
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b); err != nil {
		return Opaque{}, fmt.Errorf("encode %s event: %w", b.kind(), err)
	}
	text := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if !utf8.Valid(text) { // in JSON that was given as it is
		text = bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	return Opaque{Type: b.kind(), Version: version, JSON: text}, nil
}

func sealed(o Opaque) (Opaque, error) {
	if !isType(o.Type) || o.Version < 1 {
		return Opaque{}, fmt.Errorf("encode event: %q version %d is not a type", o.Type, o.Version)
	}
	if err := check(o.JSON); err != nil {
		return Opaque{}, fmt.Errorf("encode %s event: %w", o.Type, err)
	}
	return o, nil
}

// check reports JSON that cannot stand in a line.
func check(b []byte) error {
	switch {
	case len(b) == 0 || b[0] != '{' || !json.Valid(b):
		return fmt.Errorf("body is not a JSON object")
	case bytes.IndexByte(b, '\n') >= 0:
		return fmt.Errorf("body is more than one line")
	case !utf8.Valid(b):
		return fmt.Errorf("body is not UTF-8")
	}
	return nil
}

// Unseal returns the body that o is, or o itself where this version does not
// know it. The result shares no memory with o.JSON.
func (o Opaque) Unseal() (Body, error) {
	version, decode := format(o.Type)
	if decode != nil && o.Version <= version {
		body, err := decode(o.JSON)
		if err != nil {
			return nil, fmt.Errorf("decode %s, version %d: %w", o.Type, o.Version, err)
		}
		return body, nil
	}
	if err := check(o.JSON); err != nil {
		return nil, fmt.Errorf("decode %s, version %d: %w", o.Type, o.Version, err)
	}
	o.JSON = bytes.Clone(o.JSON)
	return o, nil
}

// format returns the current version of a type and what decodes all versions up
// to it; nil for a type that is not known.
func format(kind string) (version int, decode func([]byte) (Body, error)) {
	switch kind {
	case "opened":
		return 1, as[Opened]
	case "ruled":
		return 1, as[Ruled]
	case "asked":
		return 1, as[Asked]
	case "packed":
		return 1, as[Packed]
	case "sent":
		return 1, as[Sent]
	case "replied":
		return 1, as[Replied]
	case "planned":
		return 1, as[Planned]
	case "decided":
		return 1, as[Decided]
	case "started":
		return 1, as[Started]
	case "finished":
		return 1, as[Finished]
	case "settled":
		return 1, as[Settled]
	case "constrained":
		return 1, as[Constrained]
	case "quarantined":
		return 1, as[Quarantined]
	case "switched":
		return 1, as[Switched]
	case "compacted":
		return 1, as[Compacted]
	case "stopped":
		return 1, as[Stopped]
	}
	return 0, nil
}

func as[B Body](b []byte) (Body, error) {
	var body B
	if len(b) == 0 || b[0] != '{' {
		return nil, fmt.Errorf("body is not a JSON object")
	}
	err := json.Unmarshal(b, &body)
	return body, err
}

// Stamp returns t as events carry it: in UTC and whole milliseconds.
func Stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

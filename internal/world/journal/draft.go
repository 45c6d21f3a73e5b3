package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
)

// chainEvery is how many frames lie between two chain records, at most.
const chainEvery = 256

// Types of the journal's own records.
const (
	chained  = "chain"          // what all frames before it add up to
	repaired = "log.repaired"   // a torn end was cut off
	redacted = "redaction.note" // events of the same Append from which secrets were taken
)

// A draft is an event that is ready to be written but has no number yet.
type draft struct {
	body    event.Body // as it will be read again
	sealed  event.Opaque
	out     []int
	changed bool // by the redactor
}

// draft redacts b, and moves what is too large for a line to artifacts.
func (j *Journal) draft(b event.Body) (draft, error) {
	sealed, err := event.Seal(b)
	if err != nil {
		return draft{}, err
	}
	if n := len(sealed.JSON); n > artifactLimit {
		return draft{}, &TooLarge{Name: sealed.Type + " event", Bytes: int64(n), Limit: artifactLimit}
	}
	clean := j.redact.Bytes(sealed.JSON)
	d := draft{sealed: sealed, changed: !bytes.Equal(clean, sealed.JSON)}
	d.sealed.JSON = clean
	if d.body, err = d.sealed.Unseal(); err != nil {
		return draft{}, err
	}
	d.sealed.JSON, d.out, err = outsource(clean, j.shelf)
	if err != nil {
		return draft{}, fmt.Errorf("append %s event: %w", sealed.Type, err)
	}
	return d, nil
}

// own returns a record of the journal's own.
func own(kind string, v any) draft {
	b, err := json.Marshal(v)
	if err != nil {
		panic("journal: our own records are always JSON: " + err.Error())
	}
	o := event.Opaque{Type: kind, Version: 1, JSON: b}
	return draft{body: o, sealed: o}
}

// note says which of drafts, the first of which follows event last, were
// redacted.
func note(drafts []draft, last int64) (draft, bool) {
	var seqs []int64
	for i, d := range drafts {
		if d.changed {
			seqs = append(seqs, last+1+int64(i))
		}
	}
	return own(redacted, struct {
		Events []int64 `json:"events"`
	}{seqs}), len(seqs) > 0
}

// A position is all that must be known of the frames so far to add one.
type position struct {
	seq       int64
	time      time.Time
	epoch     int64
	crc       uint32
	sum       hash.Hash // SHA-256 over all frames
	frames    int64
	unchained int  // frames since the last chain record
	gap       bool // damage was skipped: chain records prove nothing any more
}

func newPosition() position { return position{sum: sha256.New()} }

// add appends d's frame to dst and moves p behind it.
func (p *position) add(dst *[]byte, d draft, now time.Time) (event.Event, error) {
	if now.Before(p.time) {
		now = p.time
	}
	r := event.Record{Seq: p.seq + 1, Time: now, Epoch: p.epoch, Out: d.out, Body: d.sealed}
	start := len(*dst)
	frames, crc, err := appendFrame(*dst, p.crc, r)
	if err != nil {
		return event.Event{}, err
	}
	*dst = frames
	p.move(r, crc, frames[start:])
	return event.Event{Seq: r.Seq, Time: r.Time, Body: d.body}, nil
}

func (p *position) move(r event.Record, crc uint32, raw []byte) {
	p.seq, p.time, p.epoch, p.crc = r.Seq, r.Time, r.Epoch, crc
	p.sum.Write(raw)
	p.frames++
	p.unchained++
	if r.Body.Type == chained {
		p.unchained = 0
	}
}

// A link is the body of a chain record.
type link struct {
	Frames int64  `json:"frames"`
	SHA256 string `json:"sha256"`
}

func (p *position) chain() draft {
	return own(chained, link{p.frames, hex.EncodeToString(p.sum.Sum(nil))})
}

// follow moves p behind f, which was read. It reports a chain record that does
// not fit what p has seen.
func (p *position) follow(f frame) error {
	var err error
	if f.Body.Type == chained && !p.gap {
		var l link
		want := link{p.frames, hex.EncodeToString(p.sum.Sum(nil))}
		if json.Unmarshal(f.Body.JSON, &l) != nil || l != want {
			err = &Corrupt{Segment: f.segment, Offset: f.offset, LastSeq: p.seq,
				Why: "the records before it are not those that were written"}
		}
	}
	p.move(f.Record, f.crc, f.raw)
	return err
}

package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
)

// A position is all that must be known of the frames so far to add one.
type position struct {
	joint
	time   time.Time
	epoch  int64
	safe   int64     // events up to this are on stable storage
	sum    hash.Hash // SHA-256 over the frames since the last chain record, that one included
	frames int64     // in sum

	unchained int  // frames behind the last chain record
	closed    bool // the session ends with a clean close
	gap       bool // damage was skipped since the last chain record: the next proves nothing
}

func newPosition() position { return position{sum: sha256.New()} }

// clone returns a position that stays here when p moves.
func (p *position) clone() position {
	q := *p
	sum, err := p.sum.(hash.Cloner).Clone()
	if err != nil {
		panic("journal: SHA-256 can be cloned: " + err.Error())
	}
	q.sum = sum
	return q
}

// add appends d's frame to dst and moves p behind it.
func (p *position) add(dst *[]byte, d draft, now time.Time) (event.Event, error) {
	r := p.record(d, now)
	start := len(*dst)
	frames, crc, err := appendFrame(*dst, p.crc, r)
	if err != nil {
		return event.Event{}, err
	}
	*dst = frames
	p.hash(r.Body.Type, frames[start:])
	p.move(r, crc)
	return event.Event{Seq: r.Seq, Time: r.Time, Body: d.body}, nil
}

// record returns d as the one that follows.
func (p *position) record(d draft, now time.Time) event.Record {
	if now.Before(p.time) {
		now = p.time
	}
	return event.Record{Seq: p.seq + 1, Time: now, Epoch: p.epoch, Safe: p.safe + 1, Out: d.out, Body: d.sealed}
}

func (p *position) move(r event.Record, crc uint32) {
	p.joint = joint{r.Seq, crc}
	p.time, p.epoch = r.Time, r.Epoch
	p.closed = r.Body.Type == ended || p.closed && r.Body.Type == chained
}

// hash takes a frame into the sum.
func (p *position) hash(kind string, raw []byte) {
	if kind == chained {
		p.sum.Reset()
		p.frames, p.unchained = 0, -1
	}
	p.sum.Write(raw)
	p.frames++
	p.unchained++
}

// A link is the body of a chain record.
type link struct {
	Frames int64  `json:"frames"`
	SHA256 string `json:"sha256"`
}

func (p *position) link() link { return link{p.frames, hex.EncodeToString(p.sum.Sum(nil))} }

func (p *position) chain() draft { return own(chained, p.link()) }

// follow moves p behind f, which was read. It reports a chain record that does
// not fit what p has seen.
func (p *position) follow(f frame) error {
	var err error
	if f.Body.Type == chained {
		var l link
		if !p.gap && f.Body.Version == chainVersion && (json.Unmarshal(f.Body.JSON, &l) != nil || l != p.link()) {
			err = &Corrupt{Segment: segmentName(f.segment), Offset: f.offset, LastSeq: p.seq,
				Why: "the records before it are not those that were written"}
		}
		p.gap = false
	}
	p.hash(f.Body.Type, f.raw)
	p.move(f.Record, f.crc)
	return err
}

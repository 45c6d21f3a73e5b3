package journal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/belay-agent/belay/internal/contract/event"
)

// chainEvery is how many frames lie between two chain records, at most.
const chainEvery = 256

// chainVersion is of chain records. Those of version 1 covered the log from its
// beginning, so that opening it meant to hash all of it; they are not checked.
const chainVersion = 2

// Types of the journal's own records.
const (
	chained  = "chain"          // what the frames since the last one add up to
	repaired = "log.repaired"   // a torn end was cut off
	failure  = "log.failed"     // the log cannot be appended to; only in a rescue file
	ended    = "session.close"  // the session was closed, not cut
	redacted = "redaction.note" // events of the same Append from which secrets were taken
)

// A draft is an event that is ready to be written but has no number yet.
type draft struct {
	body    event.Body // as it will be read again
	sealed  event.Opaque
	out     []int
	changed bool // by the redactor
}

// draft redacts b.
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
	return d, nil
}

// outsource moves what is too large for a line to artifacts.
func (d *draft) outsource(s shelf) error {
	rest, out, err := outsource(d.sealed.JSON, s)
	if err != nil {
		return fmt.Errorf("append %s event: %w", d.sealed.Type, err)
	}
	d.sealed.JSON, d.out = rest, out
	return nil
}

// own returns a record of the journal's own.
func own(kind string, v any) draft {
	b, err := json.Marshal(v)
	if err != nil {
		panic("journal: our own records are always JSON: " + err.Error())
	}
	version := 1
	if kind == chained {
		version = chainVersion
	}
	o := event.Opaque{Type: kind, Version: version, JSON: b}
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

package journal

import (
	"errors"
	"os"

	"github.com/belay-agent/belay/internal/contract/event"
)

// A rescue takes what the log cannot: the lines that it would have got, each
// synced.
type rescue struct {
	dir string
	f   *os.File // nil if nothing had to be rescued, or nothing can be
}

func (r *rescue) open() (name string, err error) {
	if r.dir == "" {
		return "", nil
	}
	r.f, err = os.CreateTemp(r.dir, "belay-rescue-*.jsonl") // for us alone
	if err != nil {
		return "", err
	}
	return r.f.Name(), nil
}

func (r *rescue) write(records []event.Record) error {
	if r.f == nil {
		return nil
	}
	var lines []byte
	for _, rec := range records {
		line, err := rec.Append(nil)
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	_, err := r.f.Write(lines)
	return errors.Join(err, r.f.Sync())
}

func (r *rescue) close() error {
	if r.f == nil {
		return nil
	}
	return r.f.Close()
}

// fail ends the log for good and saves drafts, which it did not take.
func (j *Journal) fail(cause error, drafts []draft) error {
	name, err := j.rescue.open()
	j.failed = &Failed{Err: errors.Join(cause, err), Rescue: name}
	drafts = append(drafts, own(failure, struct {
		Error string `json:"error"`
	}{cause.Error()}))
	return j.save(drafts)
}

// save writes drafts where they can still be written, and returns why that is
// not the log.
func (j *Journal) save(drafts []draft) error {
	now := event.Stamp(j.now())
	var records []event.Record
	for _, d := range drafts {
		if d.body == nil || d.sealed.Type == chained {
			continue
		}
		j.lost++
		r := j.last.record(d, now)
		r.Seq += j.lost - 1
		records = append(records, r)
	}
	if err := j.rescue.write(records); err != nil {
		return errors.Join(j.failed, err)
	}
	return j.failed
}

package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/belay-agent/belay/internal/contract/event"
)

// Open is the function Open with these options.
func (o Options) Open(dir string) (*Journal, error) {
	j := o.journal()
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	lock, err := acquire(dir, j.now())
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", dir, err)
	}
	l := &diskLog{dir: dir, lock: lock, limit: segmentLimit}
	if o.segment > 0 {
		l.limit = o.segment
	}
	if err := j.start(l); err != nil {
		err = fmt.Errorf("open session %s: %w", dir, err)
		if l.f != nil {
			err = errors.Join(err, l.f.Close())
		}
		return nil, errors.Join(err, release(lock))
	}
	return j, nil
}

// start reads what is there and makes l ready to be appended to.
func (j *Journal) start(l *diskLog) error {
	last, end, cut, err := survey(l.dir)
	if err != nil {
		return err
	}
	names, err := segments(l.dir)
	if err != nil {
		return err
	}
	if len(names) == 0 || end.segment != names[len(names)-1] {
		end.offset = 0 // no frame in the last file
	}
	var record draft
	if cut != nil {
		if record, err = repair(l.dir, cut); err != nil {
			return err
		}
	}
	if err := l.open(max(len(names), 1), end.offset); err != nil {
		return err
	}
	s := newDiskShelf(l.dir)
	if err := s.sweep(); err != nil {
		return err
	}
	j.shelf, j.log, j.last = s, l, last
	j.last.epoch++
	var records []draft
	if l.number > 1 && l.end == 0 { // a crash came before the record that begins a file
		records = append(records, j.last.chain())
	}
	if cut != nil {
		records = append(records, record)
	}
	if len(records) == 0 {
		return nil
	}
	_, err = j.commit(records, true)
	return err
}

// A place is somewhere in the log.
type place struct {
	segment string
	offset  int64
}

// survey reads the whole log: where it ends, and the torn end if it has one.
func survey(dir string) (last position, end place, cut *torn, err error) {
	last = newPosition()
	for f, err := range walk(dir) {
		if t, ok := errors.AsType[*torn](err); ok {
			return last, end, t, nil
		}
		if err == nil {
			err = last.follow(f)
		}
		if err == nil && f.Body.Critical {
			err = understood(f.Record)
		}
		if err != nil {
			return last, end, nil, err
		}
		end = place{f.segment, f.offset + int64(len(f.raw))}
	}
	return last, end, nil, nil
}

func understood(r event.Record) error {
	body, err := r.Body.Unseal()
	if err != nil {
		return err
	}
	return event.Event{Seq: r.Seq, Body: body}.Understood()
}

// repair cuts t off, after a copy of it is safe, and returns the record of it.
func repair(dir string, t *torn) (draft, error) {
	if err := keepTorn(dir, t); err != nil {
		return draft{}, fmt.Errorf("keep the torn end of %s: %w", t.segment, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, t.segment), os.O_RDWR, 0)
	if err != nil {
		return draft{}, err
	}
	err = f.Truncate(t.offset)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return draft{}, fmt.Errorf("cut the torn end off: %w", err)
	}
	sum := sha256.Sum256(t.tail)
	return own(repaired, struct {
		Segment string `json:"segment"`
		At      int64  `json:"at"`
		Bytes   int    `json:"bytes"`
		SHA256  string `json:"sha256"`
	}{t.segment, t.offset, len(t.tail), hex.EncodeToString(sum[:])}), nil
}

// keepTorn copies the end to torn-<offset>, or to the first free name after it:
// a crash may have torn the record of an earlier repair at the same place.
func keepTorn(dir string, t *torn) error {
	name := filepath.Join(dir, fmt.Sprintf("torn-%d", t.offset))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	for n := 2; errors.Is(err, fs.ErrExist); n++ {
		f, err = os.OpenFile(fmt.Sprintf("%s.%d", name, n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(t.tail)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return syncDir(dir)
}

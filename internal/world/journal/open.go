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
	j.dir = dir
	d := o.disk
	if d == nil {
		d = system{}
	}
	lock, err := d.enter(dir, j.now())
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", dir, err)
	}
	l := &diskLog{disk: d, dir: dir, lock: lock, limit: segmentLimit}
	if o.segment > 0 {
		l.limit = o.segment
	}
	if err := j.start(l); err != nil {
		err = fmt.Errorf("open session %s: %w", dir, err)
		if l.f != nil {
			err = errors.Join(err, l.f.Close())
		}
		if j.shelf != nil {
			err = errors.Join(err, j.shelf.close())
		}
		return nil, errors.Join(err, lock.Close())
	}
	return j, nil
}

// start reads what is there and makes l ready to be appended to.
func (j *Journal) start(l *diskLog) error {
	found, err := survey(l.disk, l.dir)
	if err != nil {
		return err
	}
	var record draft
	if found.cut != nil {
		if record, err = j.repair(l, found); err != nil {
			return err
		}
	}
	l.marks = found.marks
	if err := l.open(found.segment, found.offset); err != nil {
		return err
	}
	s := newDiskShelf(l.disk, l.dir)
	j.shelf, j.log, j.last = s, l, found.last
	left, err := s.sweep()
	for _, name := range left {
		j.mended("removed %s, which was not finished", name)
	}
	if err != nil {
		return err
	}
	j.last.safe = j.last.seq // open has just synced it
	j.last.epoch++
	var records []draft
	if l.number > 1 && l.end == 0 { // a crash came before the record that begins a file
		records = append(records, draft{})
	}
	if found.cut != nil {
		records = append(records, record)
	}
	if len(records) == 0 {
		return nil
	}
	_, err = j.commit(records, need{durable: true, result: true})
	return err
}

// A finding is what is known of a log that was read.
type finding struct {
	last    position
	segment int   // the last file
	offset  int64 // behind its last frame
	marks   []mark
	cut     *torn // its unfinished end, nil if it has none
}

// survey reads the whole log. What stands in it was not changed by accident, as
// the checksums prove; that nobody changed it at will is for Verify.
func survey(d disk, dir string) (finding, error) {
	s := finding{last: newPosition(), segment: 1}
	var link mark // before the last chain record
	for f, err := range walk(d, dir, mark{}) {
		if t, ok := errors.AsType[*torn](err); ok {
			s.cut = t
			break
		}
		if err == nil && f.Body.Critical {
			err = understood(f.Record)
		}
		if err != nil {
			return s, err
		}
		here := mark{s.last.joint, f.segment, f.offset}
		if f.Body.Type == chained {
			link = here
		}
		if n := len(s.marks); n == 0 || here.seq >= s.marks[n-1].seq+markEvery {
			s.marks = append(s.marks, here)
		}
		s.last.move(f.Record, f.crc)
		s.segment, s.offset = f.segment, f.offset+int64(len(f.raw))
	}
	for f, err := range walk(d, dir, link) {
		if err != nil || s.last.seq < f.Seq {
			break
		}
		s.last.hash(f.Body.Type, f.raw)
	}
	numbers, err := segments(d, dir)
	if n := len(numbers); n > 0 && numbers[n-1] != s.segment { // no frame in the last file
		s.segment, s.offset = numbers[n-1], 0
	}
	return s, err
}

func understood(r event.Record) error {
	body, err := r.Body.Unseal()
	if err != nil {
		return err
	}
	return event.Event{Seq: r.Seq, Body: body}.Understood()
}

// repair cuts off the torn end, after a copy of it is safe, and returns the
// record of that.
func (j *Journal) repair(l *diskLog, found finding) (draft, error) {
	t := found.cut
	segment := segmentName(t.segment)
	kept, err := keepTorn(l.disk, l.dir, t)
	if err != nil {
		return draft{}, fmt.Errorf("keep the torn end of %s: %w", segment, err)
	}
	f, err := l.disk.open(filepath.Join(l.dir, segment), os.O_RDWR, 0)
	if err != nil {
		return draft{}, err
	}
	err = f.truncate(t.offset)
	if err == nil {
		err = f.sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return draft{}, fmt.Errorf("cut the torn end off: %w", err)
	}
	j.mended("cut %d bytes off %s at byte %d, behind event %d: a record that was not finished; %s has them",
		len(t.tail), segment, t.offset, found.last.seq, filepath.Base(kept))
	sum := sha256.Sum256(t.tail)
	return own(repaired, struct {
		Segment string `json:"segment"`
		At      int64  `json:"at"`
		Bytes   int    `json:"bytes"`
		SHA256  string `json:"sha256"`
	}{segment, t.offset, len(t.tail), hex.EncodeToString(sum[:])}), nil
}

// keepTorn copies the end to torn-<offset>, or to the first free name after it:
// a crash may have torn the record of an earlier repair at the same place.
func keepTorn(d disk, dir string, t *torn) (name string, err error) {
	first := filepath.Join(dir, fmt.Sprintf("torn-%d", t.offset))
	name = first
	f, err := d.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	for n := 2; errors.Is(err, fs.ErrExist); n++ {
		name = fmt.Sprintf("%s.%d", first, n)
		f, err = d.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteAt(t.tail, 0)
	if err == nil {
		err = f.sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return name, d.syncDir(dir)
}

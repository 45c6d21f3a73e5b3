package journal

import (
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/belay-agent/belay/internal/world/failpoint"
)

const (
	segmentLimit = 64 << 20 // bytes of a file of the log, about
	ballast      = 1 << 20  // bytes of the space set aside that only results may use
	markEvery    = 64       // frames between two marks, about
)

// diskLog is the log in a directory. Its last file is open for writing.
type diskLog struct {
	disk   disk
	dir    string
	lock   io.Closer
	limit  int64  // of a file
	tail          // of the last file
	number int    // of that file, from 1
	marks  []mark // ascending; from each of them the log can be read
}

// open opens or creates the file of that number, whose frames end at end, and
// puts what is there on stable storage.
func (l *diskLog) open(number int, end int64) error {
	f, err := l.disk.open(filepath.Join(l.dir, segmentName(number)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	l.tail, l.number = tail{f: f, end: end}, number
	if l.size, err = f.size(); err != nil {
		return err
	}
	if l.size == 0 {
		if err := l.reserve(ballast); err != nil && !isFull(err) {
			return err
		}
	}
	if err := f.sync(); err != nil || end > 0 {
		return err
	}
	return l.disk.syncDir(l.dir)
}

// append writes frames that follow before. What is not a result leaves the
// ballast alone: on a disk that is full it leaves everything as it was and
// returns a *Full.
func (l *diskLog) append(frames []byte, before joint, as need) error {
	begin, n := l.end, int64(len(frames))
	err := l.reserve(n + ballast)
	failpoint.Hit("journal before write")
	if err == nil || as.result {
		err = l.write(frames)
	}
	failpoint.Hit("journal written")
	if isFull(err) && !as.result {
		return &Full{Dir: l.dir, Err: err}
	}
	if err != nil {
		return err
	}
	if n := len(l.marks); n == 0 || before.seq >= l.marks[n-1].seq+markEvery {
		l.marks = append(l.marks, mark{before, l.number, begin})
	}
	if !as.durable {
		return nil
	}
	err = l.f.syncData()
	failpoint.Hit("journal synced")
	return err
}

// roll stays with the file there is as long as the disk has no room for another.
func (l *diskLog) roll() (bool, error) {
	if l.end < l.limit {
		return false, nil
	}
	if err := l.f.syncData(); err != nil { // or the end of this file might be lost, and the next not
		return false, err
	}
	next := *l
	err := next.open(l.number+1, 0)
	if err == nil && next.size < ballast && l.size > l.end {
		return false, next.unmake()
	}
	if err != nil {
		return false, err
	}
	if err := l.finish(); err != nil {
		return false, errors.Join(err, next.f.Close())
	}
	*l = next
	return true, nil
}

// unmake removes the last file, for good: the one before is the last again.
func (l *diskLog) unmake() error {
	err := errors.Join(l.f.Close(), l.disk.remove(filepath.Join(l.dir, segmentName(l.number))))
	if err != nil {
		return err
	}
	return l.disk.syncDir(l.dir)
}

// near returns a mark at or before the frame that follows event seq.
func (l *diskLog) near(seq int64) mark {
	i, found := slices.BinarySearchFunc(l.marks, seq, func(m mark, seq int64) int { return int(m.seq - seq) })
	switch {
	case found:
		return l.marks[i]
	case i > 0:
		return l.marks[i-1]
	}
	return mark{}
}

func (l *diskLog) frames(after int64) iter.Seq2[frame, error] {
	return walk(l.disk, l.dir, l.near(after))
}

// close also lets go of the lock.
func (l *diskLog) close() error { return errors.Join(l.finish(), l.lock.Close()) }

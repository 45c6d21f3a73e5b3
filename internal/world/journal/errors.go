package journal

import (
	"errors"
	"fmt"
	"time"
)

// Locked reports a session that another process writes. PID is 0 if it did not
// say.
type Locked struct {
	PID   int
	Host  string
	Since time.Time
}

func (l *Locked) Error() string {
	if l.PID == 0 {
		return "the session is in use by another process"
	}
	return fmt.Sprintf("the session is in use by process %d on %s since %s",
		l.PID, l.Host, l.Since.Format(time.DateTime))
}

// Corrupt reports a log that is damaged elsewhere than at its end. Nothing is
// changed in it; Read yields what is intact on both sides.
type Corrupt struct {
	Segment string // name of the file
	Offset  int64  // where in it the damage begins
	LastSeq int64  // the last intact event before it
	Why     string
}

func (c *Corrupt) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d, after event %d: %s", c.Segment, c.Offset, c.LastSeq, c.Why)
}

// Failed reports a log that can no longer be appended to, because the disk
// refused something once. What was acknowledged before is safe.
type Failed struct{ Err error }

func (f *Failed) Error() string { return "write the session's log: " + f.Err.Error() }

// Unwrap returns the error of the disk.
func (f *Failed) Unwrap() error { return f.Err }

// TooLarge reports what is over the limit of an artifact and was not kept.
type TooLarge struct {
	Name         string
	Bytes, Limit int64
}

func (t *TooLarge) Error() string {
	return fmt.Sprintf("keep %s: %d bytes are over the limit of %d", t.Name, t.Bytes, t.Limit)
}

var errClosed = errors.New("the session is closed")

package journal

import (
	"errors"
	"fmt"
	"time"
)

// Locked reports a session that another process writes. What that process did
// not say is zero.
type Locked struct {
	PID   int
	Host  string
	Since time.Time
	Now   Condition
}

// A Condition is what has become of the process that has a session.
type Condition string

// The conditions.
const (
	Unclear   Condition = ""          // it is on another machine, or the system does not tell
	Running   Condition = "running"   // also one that waits for something
	Suspended Condition = "suspended" // stopped by a signal: it goes on when it is told to
	Vanished  Condition = "vanished"  // it has ended, but what it started holds on to the session
)

func (l *Locked) Error() string {
	if l.PID == 0 {
		return "the session is in use by another process"
	}
	s := fmt.Sprintf("the session is in use by process %d on %s since %s", l.PID, l.Host, l.Since.Format(time.DateTime))
	switch l.Now {
	case Suspended:
		s += fmt.Sprintf("; it is suspended: `kill -CONT %d` lets it go on, `kill -9 %d` ends it", l.PID, l.PID)
	case Vanished:
		s += "; it has ended, but a process that it started holds the lock"
	}
	return s
}

// NoLock reports a file system, most often a network's, that has no locks: two
// processes could write one session there.
type NoLock struct {
	Dir string
	Err error
}

func (n *NoLock) Error() string {
	return fmt.Sprintf("%s is on a file system that cannot lock files: %v", n.Dir, n.Err)
}

// Unwrap returns the error of the file system.
func (n *NoLock) Unwrap() error { return n.Err }

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
type Failed struct {
	Err    error
	Rescue string // the file that has what could not be appended, a line each; "" if there is none
}

func (f *Failed) Error() string {
	s := "write the session's log: " + f.Err.Error()
	if f.Rescue != "" {
		s += "; what it could not take is in " + f.Rescue
	}
	return s
}

// Unwrap returns the error of the disk.
func (f *Failed) Unwrap() error { return f.Err }

// Full reports a disk without room for what is to begin: what is left is kept
// for the results of what has begun. Nothing was appended, the log is intact, and
// it goes on once there is room again.
type Full struct {
	Dir string
	Err error
}

func (f *Full) Error() string {
	return fmt.Sprintf("the disk with %s is full: %v", f.Dir, f.Err)
}

// Unwrap returns the error of the disk.
func (f *Full) Unwrap() error { return f.Err }

// TooLarge reports what is over the limit of an artifact and was not kept.
type TooLarge struct {
	Name         string
	Bytes, Limit int64
}

func (t *TooLarge) Error() string {
	return fmt.Sprintf("keep %s: %d bytes are over the limit of %d", t.Name, t.Bytes, t.Limit)
}

var errClosed = errors.New("the session is closed")

package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A holder is what the lock file says about who has the lock.
type holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Boot  string    `json:"boot,omitempty"`  // id of the machine's start
	Ticks string    `json:"ticks,omitempty"` // of that start, when the process began
}

// A lock is held until it is closed, or the process ends.
type lock struct{ f *os.File }

// acquire takes the session's lock or returns a *Locked or a *NoLock.
func acquire(dir string, now time.Time) (*lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if err := ours(f, true); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	held, err := holdSoon(f)
	switch {
	case err != nil:
		err = &NoLock{Dir: dir, Err: err}
	case !held:
		err = holding(f)
	default:
		err = sign(f, now)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &lock{f}, nil
}

// parting is how long what a process had just begun to start, when it ended, may
// hold on to its lock: until then it is a copy of that process, and shares what
// is open. In namespaces of its own that takes some time on a busy machine.
const parting = 2 * time.Second

// holdSoon is hold, but waits for what goes by itself.
func holdSoon(f *os.File) (held bool, err error) {
	end := time.Now().Add(parting)
	for {
		if held, err = hold(f); held || err != nil || time.Now().After(end) {
			return held, err
		}
		if l, ok := errors.AsType[*Locked](holding(f)); !ok || l.Now != Vanished {
			return false, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func holding(f *os.File) error {
	var h holder
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 4<<10))
	if err == nil && json.Unmarshal(b, &h) != nil {
		h = holder{} // it has just come, or just gone
	}
	l := &Locked{PID: h.PID, Host: h.Host, Since: h.Since}
	if h.Boot != "" && h.Boot == bootID() {
		l.Now = condition(h.PID, h.Ticks)
	}
	return l
}

// sign says who has the lock. It is only for the message to others: a disk that
// is full does not keep the session closed.
func sign(f *os.File, now time.Time) error {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	_, ticks := stateOf(os.Getpid())
	b, err := json.Marshal(holder{os.Getpid(), host, now.UTC().Truncate(time.Second), bootID(), ticks})
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.WriteAt(append(b, '\n'), 0); err != nil && !isFull(err) {
		return err
	}
	return nil
}

// Close lets the next one in.
func (l *lock) Close() error { return errors.Join(l.f.Truncate(0), l.f.Close()) }

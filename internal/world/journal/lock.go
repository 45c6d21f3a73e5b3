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
}

// acquire takes the session's lock or returns a *Locked.
func acquire(dir string, now time.Time) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	held, err := hold(f)
	switch {
	case err != nil:
		err = fmt.Errorf("lock: %w", err)
	case !held:
		err = holding(f)
	default:
		err = sign(f, now)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func holding(f *os.File) error {
	var h holder
	b, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err == nil && json.Unmarshal(b, &h) != nil {
		h = holder{} // it has just come, or just gone
	}
	return &Locked{PID: h.PID, Host: h.Host, Since: h.Since}
}

func sign(f *os.File, now time.Time) error {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	b, err := json.Marshal(holder{os.Getpid(), host, now.UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(append(b, '\n'), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(b) + 1))
}

// release lets the next one in.
func release(f *os.File) error { return errors.Join(f.Truncate(0), f.Close()) }

package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The spool has a directory for each recorded call, with the files started and
// exit. started is on disk before the program runs, and exit before Run
// returns. The file life.json names this Host once a directory was removed.
const (
	lifeFile  = "life.json"
	recordMax = 4 << 10 // bytes of a file that are read
)

// A record says how to find what a call started, should we not live to end it.
// The first line of started has all but the process, which is known, and
// appended, only when it runs.
type record struct {
	Boot  string    `json:"boot,omitempty"`  // ids mean nothing after another boot
	Mark  string    `json:"mark,omitempty"`  // in the environment of all it starts
	Group string    `json:"group,omitempty"` // the cgroup that all of it is in
	At    time.Time `json:"at,omitzero"`     // when it was written
	PID   int       `json:"pid,omitempty"`   // of the program
	Start uint64    `json:"start,omitempty"` // in the system's ticks, so that the id is not taken for a later process's
}

// An entry is the directory of a call while it runs. All methods of a nil entry
// do nothing.
type entry struct {
	dir     string
	started *os.File
}

// begin records durably that call is about to start. A call that was recorded
// before is refused: nothing is done twice under one name.
func (h *Host) begin(call string) (e *entry, err error) {
	if h.spool == "" || call == "" {
		return nil, nil
	}
	e = &entry{dir: filepath.Join(h.spool, call)}
	if err := os.Mkdir(e.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("record the start of %s: %w", call, err)
	}
	e.started, err = os.OpenFile(filepath.Join(e.dir, "started"), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record the start of %s: %w", call, err)
	}
	err = e.add(record{Boot: boot(), Mark: h.mark(), Group: h.cgroups.path(), At: time.Now().UTC()})
	err = errors.Join(err, e.started.Sync(), syncDir(e.dir), syncDir(h.spool))
	if err != nil {
		e.drop()
		return nil, fmt.Errorf("record the start of %s: %w", call, err)
	}
	return e, nil
}

func (e *entry) add(r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = e.started.Write(append(b, '\n'))
	return err
}

// running adds to the record which process it is. A power cut, which ends that
// process, may take this back.
func (e *entry) running(t *tree, pid int) error {
	if e == nil {
		return nil
	}
	return e.add(record{PID: pid, Start: t.since})
}

// drop takes back the record of what was not started after all.
func (e *entry) drop() {
	if e == nil {
		return
	}
	_ = e.started.Close()
	_ = os.RemoveAll(e.dir) // or else its outcome is unknown, which is no lie
}

// ended records durably how it ended. Without that record the outcome is
// unknown after a crash, and only then: nothing else depends on it.
func (e *entry) ended(exit Exit) {
	if e == nil {
		return
	}
	_ = e.started.Close()
	exit.Dropped += int64(len(exit.Head) + len(exit.Tail))
	b, err := json.Marshal(exit)
	if err != nil {
		return
	}
	path := filepath.Join(e.dir, "exit")
	if writeSync(path+".new", append(b, '\n')) == nil && os.Rename(path+".new", path) == nil {
		_ = syncDir(e.dir)
	}
}

func writeSync(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// load returns what a small file holds.
func load(path string) (b []byte, found bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	b, err = io.ReadAll(io.LimitReader(f, recordMax))
	return b, err == nil, err
}

// parse returns the record that b holds, up to the first line that is not
// whole: cut short by a power cut, or by the kill of who wrote it.
func parse(b []byte) (rec record) {
	for line := range bytes.Lines(b) {
		before := rec
		if json.Unmarshal(line, &rec) != nil {
			return before
		}
	}
	return rec
}

// fence kills what the records in spool lead to. Those of calls stay, as
// evidence for whoever settles them.
func fence(spool string) error {
	entries, err := os.ReadDir(spool)
	if err != nil {
		return err
	}
	now := boot()
	var t tree
	gone := true
	for _, entry := range entries {
		path := filepath.Join(spool, entry.Name())
		switch {
		case entry.IsDir():
			path = filepath.Join(path, "started")
		case entry.Name() != lifeFile:
			continue
		}
		b, _, err := load(path)
		if err != nil {
			return err
		}
		rec := parse(b)
		if rec.Boot != now || rec.Mark == "" {
			continue // it did not get so far, or a power cut ended all
		}
		if !slices.Contains(t.marks, rec.Mark) {
			t.marks = append(t.marks, rec.Mark)
			gone = fenceGroup(rec.Group) && gone
		}
		if rec.PID > 1 && rec.Start > 0 && startOf(rec.PID) == rec.Start {
			t.leaders = append(t.leaders, rec.PID)
		}
	}
	if len(t.marks) > 0 {
		gone = t.end(0, nil) && gone
	}
	if !gone {
		return errors.New("something that a command started cannot be killed")
	}
	return unsign(spool)
}

package process

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A record says how to find what a call started, should we not live to end it.
// It is written before the program starts, and again when its id is known.
type record struct {
	Boot  string `json:"boot"`            // ids mean nothing after another boot
	Mark  string `json:"mark"`            // in the environment of all it starts
	PID   int    `json:"pid,omitempty"`   // of the program
	Start uint64 `json:"start,omitempty"` // in the system's ticks, so that the id is not taken for a later process's
}

// note makes rec the record of call.
func (h *Host) note(call string, rec record) error {
	if h.spool == "" || call == "" {
		return nil
	}
	rec.Boot = boot()
	b, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("record the start of %s: %w", call, err)
	}
	dir := filepath.Join(h.spool, call)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("record the start of %s: %w", call, err)
	}
	path := filepath.Join(dir, "started")
	if err := os.WriteFile(path+".new", append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("record the start of %s: %w", call, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("record the start of %s: %w", call, err)
	}
	return nil
}

// fence kills what the records in spool lead to. They stay, as evidence for
// whoever settles the calls.
func fence(spool string) error {
	calls, err := os.ReadDir(spool)
	if err != nil {
		return err
	}
	now := boot()
	var t tree
	for _, call := range calls {
		b, err := os.ReadFile(filepath.Join(spool, call.Name(), "started"))
		if err != nil {
			continue // it did not get so far
		}
		var rec record
		if json.Unmarshal(b, &rec) != nil || rec.Boot != now || rec.Mark == "" {
			continue // cut short by a power loss, which ended all
		}
		if !slices.Contains(t.marks, rec.Mark) {
			t.marks = append(t.marks, rec.Mark)
		}
		if rec.PID > 0 && rec.Start > 0 && startOf(rec.PID) == rec.Start {
			t.leaders = append(t.leaders, rec.PID)
		}
	}
	if len(t.marks) > 0 && !t.end(0, nil) {
		return fmt.Errorf("something that a command started cannot be killed")
	}
	return nil
}

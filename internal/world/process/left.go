package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Left is what a command of an earlier life left behind.
type Left struct {
	Started bool      // false proves that the program never ran
	At      time.Time // when it was started; zero where a power cut took that
	Exit    *Exit     // how it ended, but for its output, all of which counts as Dropped; nil where nobody knows
}

// Left tells how far call got. It is for calls of an earlier life, all of whose
// processes Open has ended. It fails where the record is not kept, or is gone:
// then nothing is known.
func (h *Host) Left(call string) (Left, error) {
	if err := checkCall(call); err != nil {
		return Left{}, err
	}
	if h.spool == "" {
		return Left{}, errors.New("no record of commands is kept")
	}
	first, started, err := load(filepath.Join(h.spool, call, "started"))
	if err != nil {
		return Left{}, fmt.Errorf("read the record of %s: %w", call, err)
	}
	last, ended, err := load(filepath.Join(h.spool, call, "exit"))
	if err != nil {
		return Left{}, fmt.Errorf("read the record of %s: %w", call, err)
	}
	if !started && !ended && h.fresh {
		return Left{}, errors.New("the record of commands is gone")
	}
	left := Left{Started: started || ended, At: parse(first).At}
	if exit := new(Exit); ended && json.Unmarshal(last, exit) == nil {
		left.Exit = exit
	}
	return left, nil
}

// Forget removes what is recorded of call, whose result is on record elsewhere
// by now, so that a session of many commands does not keep them all. What is
// never forgotten stays for ever. A call without a record costs next to nothing.
func (h *Host) Forget(call string) error {
	if err := checkCall(call); err != nil {
		return err
	}
	dir := filepath.Join(h.spool, call)
	if h.spool == "" {
		return nil
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := h.sign(); err != nil {
		return fmt.Errorf("forget %s: %w", call, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("forget %s: %w", call, err)
	}
	return nil
}

// sign records the mark of h apart from any call: what a forgotten call left
// running is still to be found after a crash.
func (h *Host) sign() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.signed || h.closed {
		return nil
	}
	b, err := json.Marshal(record{Boot: boot(), Mark: h.mark(), Group: h.cgroups.path()})
	if err != nil {
		return err
	}
	path := filepath.Join(h.spool, lifeFile)
	if err := os.WriteFile(path+".new", append(b, '\n'), 0o600); err != nil {
		return err
	}
	h.signed = true
	return os.Rename(path+".new", path)
}

// unsign removes what sign wrote, once nothing is left for it to find.
func unsign(spool string) error {
	if err := os.Remove(filepath.Join(spool, lifeFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checkCall refuses what is not the plain name of a call: it comes from a log,
// and becomes a path.
func checkCall(call string) error {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if call == "" || len(call) > 64 || strings.ContainsFunc(call, func(r rune) bool { return !plain(r) }) {
		return fmt.Errorf("call %.80q cannot name a record", call)
	}
	return nil
}

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
)

// A Report is what there is to say about a session on disk.
type Report struct {
	Events int64
	Files  int   // of the log
	Lives  int64 // times that it was opened
	Closed bool  // and then closed, not cut

	// Damage is what is not as it was written: each a *Corrupt, or an error that
	// names an event or an artifact.
	Damage []error

	// Torn are the bytes at the end of the log that the next Open cuts off.
	Torn int64

	// Lost are events that name an artifact which nothing had made safe when the
	// power failed: requests, above all. The session goes on without.
	Lost []error

	// Left are files that are not part of the session: copies of what was cut
	// off (torn-*), which nobody removes, what was not finished (Repair removes
	// it), and what is not known.
	Left []string
}

// Sound reports whether everything that was acknowledged is there, as it was
// written.
func (r Report) Sound() bool { return len(r.Damage) == 0 }

// Verify reads all of the session in dir: every record, what the chain records
// say, every artifact, and what else is there. It takes no lock and changes
// nothing; of a session that is being written it sees a prefix.
func Verify(dir string) (Report, error) {
	v := verifier{disk: system{}, dir: dir, shelf: newDiskShelf(system{}, dir), last: newPosition(), seen: map[string]error{}}
	if err := v.run(); err != nil {
		return v.Report, fmt.Errorf("verify session %s: %w", dir, err)
	}
	return v.Report, nil
}

type verifier struct {
	Report
	disk  disk
	dir   string
	shelf *diskShelf
	last  position
	seen  map[string]error // artifacts that were looked at
}

func (v *verifier) run() error {
	info, err := os.Lstat(v.dir)
	if err != nil {
		return err
	}
	if !private(info) {
		v.Damage = append(v.Damage, fmt.Errorf("%s is not ours alone: others can write to it", v.dir))
	}
	numbers, err := segments(v.disk, v.dir)
	if err != nil {
		return err
	}
	v.Files = len(numbers)
	for f, err := range walk(v.disk, v.dir, mark{}) {
		cut, isTorn := errors.AsType[*torn](err)
		corrupt, isCorrupt := errors.AsType[*Corrupt](err)
		switch {
		case isTorn:
			v.Torn = int64(len(cut.tail))
		case isCorrupt:
			v.Damage = append(v.Damage, corrupt)
			v.last.gap = true
		case err != nil:
			return err
		default:
			v.frame(f)
		}
	}
	v.Lives, v.Closed = v.last.epoch, v.last.closed
	if err := v.artifacts(); err != nil {
		return err
	}
	return v.rest()
}

// frame checks one record against those before it, and what it names.
func (v *verifier) frame(f frame) {
	v.Events++
	before := v.last
	if err := v.last.follow(f); err != nil {
		v.Damage = append(v.Damage, err)
		v.last.gap = true
	}
	if f.Time.Before(before.time) || f.Epoch < before.epoch {
		v.Damage = append(v.Damage, fmt.Errorf("event %d is older than the one before it", f.Seq))
	}
	e, err := restore(f.Record, v.shelf)
	if err != nil {
		v.Damage = append(v.Damage, fmt.Errorf("event %d: %w", f.Seq, err))
		return
	}
	for _, handle := range named(e.Body) {
		if err := v.artifact(handle); err != nil {
			err = fmt.Errorf("event %d: %w", f.Seq, err)
			if e.Body.Waits() {
				v.Lost = append(v.Lost, err)
			} else {
				v.Damage = append(v.Damage, err)
			}
		}
	}
}

// named returns the handles of artifacts in b.
func named(b event.Body) []string {
	var handles []string
	switch b := b.(type) {
	case event.Asked:
		handles = b.Media
	case event.Sent:
		handles = []string{b.Request}
	case event.Planned:
		if _, ok := digestOf(b.Plan.Preview); ok { // else it is the preview itself
			handles = []string{b.Plan.Preview}
		}
	case event.Finished:
		for _, a := range slices.Concat(b.Result.Artifacts, b.Result.Media) {
			handles = append(handles, a.Handle)
		}
	}
	return slices.DeleteFunc(handles, func(h string) bool { return h == "" })
}

func (v *verifier) artifact(handle string) error {
	err, ok := v.seen[handle]
	if !ok {
		_, err = get(v.shelf, handle)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s is missing", handle)
		}
		v.seen[handle] = err
	}
	return err
}

// artifacts checks those that have files, named or not.
func (v *verifier) artifacts() error {
	dirs, err := v.disk.list(v.shelf.dir())
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if strings.HasPrefix(dir, "tmp-") {
			continue
		}
		names, err := v.disk.list(filepath.Join(v.shelf.dir(), dir))
		if err != nil {
			return err
		}
		for _, name := range names {
			if !isDigest(name) || name[:2] != dir {
				v.Left = append(v.Left, filepath.Join("artifacts", dir, name))
			} else if _, known := v.seen[prefix+name]; !known && v.artifact(prefix+name) != nil {
				v.Lost = append(v.Lost, fmt.Errorf("artifact %s, which no event names, is damaged", name))
			}
		}
	}
	return nil
}

// rest looks for files that are no part of a session.
func (v *verifier) rest() error {
	left, err := leftovers(v.disk, v.dir)
	if err != nil {
		return err
	}
	v.Left = append(v.Left, left...)
	names, err := v.disk.list(v.dir)
	for _, name := range names {
		if !slices.Contains(left, name) && !belongs(name) {
			v.Left = append(v.Left, name)
		}
	}
	return err
}

func belongs(name string) bool {
	switch name {
	case "lock", "artifacts", "undo", "spool":
		return true
	}
	for _, pattern := range [...]string{"log.[0-9]*", packPrefix + "[0-9]*", snapshotPrefix + "[0-9]*"} {
		if ok, _ := filepath.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/world/failpoint"
)

// A batch makes several changes, or takes them back.
type batch struct {
	w       *Workspace
	temp    string             // how the names of temporary files begin
	folders map[string]*folder // by name; those that hold the files
	made    []string           // directories, parents first
}

// run makes all the changes or none. All new files are on disk before the first
// takes its place. No other run is between its first change and its last
// meanwhile: what one takes back the other must not have seen.
func (b *batch) run(changes []*change) error {
	err := b.w.keep(changes)
	if err == nil {
		err = b.stageAll(changes)
	}
	b.w.writing.Lock()
	defer b.w.writing.Unlock()
	if err == nil {
		err = b.commitAll(changes)
	}
	if b.w.made != nil {
		b.w.made()
	}
	if err == nil {
		err = b.verifyAll(changes)
	}
	if err != nil {
		return errors.Join(err, b.restore(changes))
	}
	failpoint.Hit("workspace synced")
	b.clean(changes)
	failpoint.Hit("workspace cleaned")
	return nil
}

func (b *batch) stageAll(changes []*change) error {
	for n, c := range changes {
		if c.same() {
			continue
		}
		if err := b.stage(c, tempOf(b.temp, n)); err != nil {
			return fmt.Errorf("write %s: %w", c.path, reason(err))
		}
	}
	return nil
}

func (b *batch) commitAll(changes []*change) error {
	for _, c := range changes {
		if c.temp == "" {
			continue
		}
		if err := b.folder(c).commit(c); err != nil {
			return fmt.Errorf("write %s: %w", c.path, reason(err))
		}
	}
	return b.sync()
}

// verifyAll looks once more at what was replaced, before it loses its name: who had
// just opened it to write may have written since, and the syncs took their time.
func (b *batch) verifyAll(changes []*change) error {
	for _, c := range changes {
		if c.temp == "" || c.info == nil {
			continue
		}
		if have, err := b.folder(c).digestOf(c.temp, c.link); err != nil || have != c.Base {
			return fmt.Errorf("write %s: %w", c.path, &StaleError{Path: c.path, Want: c.Base, Have: have})
		}
	}
	return nil
}

func (b *batch) folder(c *change) *folder { return b.folders[filepath.Dir(c.at)] }

// stage opens the directory of c, makes it if need be, and puts the new file
// there, as temp.
func (b *batch) stage(c *change, temp string) error {
	dir := filepath.Dir(c.at)
	if b.folders[dir] == nil {
		if err := b.makeDir(dir); err != nil {
			return err
		}
		f, err := openFolder(b.w.root, dir)
		if err != nil {
			return err
		}
		f.replaced = &b.w.replaced
		b.folders[dir] = f
		if err := b.w.holds(f.dir); err != nil {
			return err
		}
	}
	if !c.Remove {
		made, err := b.folders[dir].create(temp, c)
		if err != nil {
			return err
		}
		c.made = made
	}
	c.temp = temp
	return nil
}

// makeDir makes a directory and its parents, and remembers which it made.
func (b *batch) makeDir(dir string) error {
	info, err := b.w.root.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return ErrNotDirectory
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := b.makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	err = b.w.root.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil // made by someone else meanwhile; what it is shows when it is opened
	}
	if err == nil {
		b.made = append(b.made, dir)
	}
	return err
}

// sync puts the names on disk: of the files, and of the directories made for them.
func (b *batch) sync() error {
	failpoint.Hit("workspace before sync")
	for name, f := range b.folders {
		if err := syncDir(f.dir); err != nil {
			return fmt.Errorf("sync directory %s: %w", slash(name), reason(err))
		}
	}
	for _, name := range b.made {
		f, err := b.w.root.Open(filepath.Dir(name))
		if err == nil {
			err = errors.Join(syncDir(f), f.Close())
		}
		if err != nil {
			return fmt.Errorf("sync directory %s: %w", slash(filepath.Dir(name)), reason(err))
		}
	}
	return nil
}

// restore takes back what was done, last first. An error says what stayed.
func (b *batch) restore(changes []*change) error {
	var errs []error
	for _, c := range slices.Backward(changes) {
		if c.temp == "" {
			continue
		}
		if err := b.folder(c).takeBack(c); err != nil {
			errs = append(errs, fmt.Errorf("restore %s: %w", c.path, err))
		}
	}
	for _, f := range b.folders {
		_ = syncDir(f.dir) // as clean does
	}
	for _, dir := range slices.Backward(b.made) {
		_ = b.w.root.Remove(dir) // stays if someone else put something there
	}
	return errors.Join(errs...)
}

// clean removes what the changes replaced, and has that on disk before anyone is
// told that they are made: nobody looks later for what a power cut brings back.
// Neither can well fail, as the same directory has just let us rename in it, and
// been synced; what was made stays made if it does.
func (b *batch) clean(changes []*change) {
	emptied := make(map[*folder]bool)
	for _, c := range changes {
		if c.temp != "" && c.info != nil {
			_ = b.folder(c).discard(c, c.Base)
			emptied[b.folder(c)] = true
		}
	}
	for f := range emptied {
		_ = syncDir(f.dir)
	}
}

func (b *batch) close() {
	for _, f := range b.folders {
		f.close()
	}
}

// commit puts the new file in its place, and verifies that what it replaced is
// what it was made against. If not, it puts that back.
func (f *folder) commit(c *change) error {
	name := filepath.Base(c.at)
	switch {
	case c.info == nil:
		err := f.place(c.temp, name)
		if errors.Is(err, fs.ErrExist) {
			have, _ := f.digest(name)
			return &StaleError{Path: c.path, Have: have}
		}
		c.moved = err == nil
		failpoint.Hit("workspace placed")
		return err
	case c.Remove:
		if err := f.place(name, c.temp); err != nil {
			return gone(err, c)
		}
	default:
		if err := f.exchange(c.temp, name); err != nil {
			return gone(err, c)
		}
	}
	c.moved = true
	failpoint.Hit("workspace exchanged")
	have, err := f.digestOf(c.temp, c.link)
	if err != nil || have != c.Base {
		return &StaleError{Path: c.path, Want: c.Base, Have: have}
	}
	failpoint.Hit("workspace verified")
	return nil
}

// gone makes a StaleError of a file that is no longer there.
func gone(err error, c *change) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &StaleError{Path: c.path, Want: c.Base}
	}
	return err
}

// takeBack undoes what was done for c, if anything was, and removes its
// temporary file. What someone else has put or written there since stays.
func (f *folder) takeBack(c *change) error {
	name, swap := filepath.Base(c.at), f.exchange
	switch {
	case !c.moved && c.Remove:
		return nil
	case !c.moved:
		return f.root.Remove(c.temp)
	case c.Remove:
		return f.kept(c, f.place(c.temp, name))
	case c.info == nil:
		swap = func(temp, name string) error { return f.place(name, temp) }
	}
	if err := swap(c.temp, name); err != nil {
		return f.kept(c, err)
	}
	if f.holds(c.temp, c) {
		return f.discard(c, edit.Digest(c.after))
	}
	// Someone replaced our file or wrote to it: theirs goes back.
	if c.info == nil {
		return f.kept(c, errors.Join(ErrStale, f.place(c.temp, name)))
	}
	return f.kept(c, errors.Join(ErrStale, f.exchange(c.temp, name)))
}

// discard removes the temporary name of a file that was in its place, and watches
// what is written to it by whoever has it open.
func (f *folder) discard(c *change, digest string) error {
	if !c.link && runtime.GOOS != "windows" { // where what is open keeps its name
		if file, _, err := open(f.root, c.temp); err == nil {
			f.replaced.add(c.path, digest, file)
		}
	}
	return f.root.Remove(c.temp)
}

// kept adds to err where bytes were left that are nowhere else, if any were.
func (f *folder) kept(c *change, err error) error {
	if err == nil {
		return nil
	}
	if _, missing := f.root.Lstat(c.temp); missing != nil {
		return err
	}
	return &KeptError{At: f.path(c.temp), Err: err}
}

// A KeptError reports a file whose bytes are nowhere else: At has what someone saved
// in the moment of a change, before they saved again.
type KeptError struct {
	At  string
	Err error
}

func (e *KeptError) Error() string { return fmt.Sprintf("its bytes are in %s: %v", e.At, e.Err) }

// Unwrap returns why it was left there.
func (e *KeptError) Unwrap() error { return e.Err }

// holds reports whether name is the file made for c, with the bytes it was given.
func (f *folder) holds(name string, c *change) bool {
	if c.toLink() {
		info, err := f.root.Lstat(name)
		have, e := f.target(name)
		return err == nil && e == nil && os.SameFile(info, c.made) && have == edit.Digest(c.after)
	}
	file, info, err := open(f.root, name)
	if err != nil {
		return false
	}
	defer file.Close()
	raw, err := slurp(file, info.Size())
	return err == nil && os.SameFile(info, c.made) && bytes.Equal(raw, c.after)
}

// digest returns the digest of a regular file.
func (f *folder) digest(name string) (string, error) {
	file, info, err := open(f.root, name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	raw, err := slurp(file, info.Size())
	if err != nil {
		return "", err
	}
	return edit.Digest(raw), nil
}

// digestOf is digest, or target of what should be a link.
func (f *folder) digestOf(name string, link bool) (string, error) {
	if link {
		return f.target(name)
	}
	return f.digest(name)
}

// target returns the digest of where a link leads.
func (f *folder) target(name string) (string, error) {
	target, err := f.root.Readlink(name)
	if err != nil {
		return "", err
	}
	return edit.Digest([]byte(target)), nil
}

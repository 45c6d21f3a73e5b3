package process

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// inSpool begins the name of the directory in a spool that has what is /tmp for
// the commands of a host. No call has such a name.
const inSpool = ".sandbox-"

// What covers what is hidden, for bwrap, is beside that.
func coverFile(tmp string) string { return tmp + "-file" }
func coverDir(tmp string) string  { return tmp + "-dir" }

// guard keeps what we hold in memory and in our environment from programs of the
// same user, and removes the temporary files of an earlier life.
func guard(spool string) {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if spool == "" {
		return
	}
	entries, err := os.ReadDir(spool)
	if err != nil {
		return
	}
	for _, e := range entries {
		if len(e.Name()) > len(inSpool) && e.Name()[:len(inSpool)] == inSpool {
			remove(filepath.Join(spool, e.Name()))
		}
	}
}

// temporary returns the directory that is /tmp for every command of h, until h
// is closed.
func (h *Host) temporary() (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tmp != "" {
		return h.tmp, nil
	}
	sweep()
	base, err := os.MkdirTemp(h.spool, inSpool+"*")
	if err != nil {
		return "", fmt.Errorf("make a temporary directory: %w", err)
	}
	tmp := filepath.Join(base, "tmp")
	for path, mode := range map[string]fs.FileMode{tmp: 0o777 | fs.ModeSticky, varTmp(tmp): 0o777 | fs.ModeSticky, coverDir(tmp): 0} {
		if err := os.Mkdir(path, 0o700); err != nil {
			return "", err
		}
		if err := os.Chmod(path, mode); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(coverFile(tmp), nil, 0); err != nil {
		return "", err
	}
	h.tmp = tmp
	return tmp, nil
}

// layers returns the layers for the caches of h. One command at a time can have
// them, so others get more of them, which are colder.
func (h *Host) layers() (all []layer, free func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	slot := 0
	for slot < len(h.taken) && h.taken[slot] {
		slot++
	}
	if slot == len(h.taken) {
		h.taken = append(h.taken, false)
	}
	for i, at := range h.sandbox.Caches {
		if info, err := os.Stat(at); err != nil || !info.IsDir() {
			continue
		}
		dir := filepath.Join(filepath.Dir(h.tmp), fmt.Sprintf("cache-%d-%d", slot, i))
		l := layer{At: at, Upper: filepath.Join(dir, "new"), Work: filepath.Join(dir, "work")}
		for _, dir := range []string{l.Upper, l.Work} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return nil, nil, fmt.Errorf("make a layer for %s: %w", at, err)
			}
		}
		all = append(all, l)
	}
	h.taken[slot] = true
	return all, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.taken[slot] = false
	}, nil
}

// tidy removes the temporary files of h, whose lock is held. What cannot be
// removed is left: it is small harm.
func (h *Host) tidy() {
	if h.tmp != "" {
		remove(filepath.Dir(h.tmp))
		h.tmp = ""
	}
}

// remove removes dir also where directories in it cannot be written, as in a
// cache of modules.
func remove(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Fork makes a session in the new directory to, which begins with the events of
// the session in dir up to at: the same records, the artifacts that they name,
// the snapshots up to there, and all of undo/. It takes no lock and leaves dir as
// it is; what comes after event at may be damaged, or just being written. A
// session that is damaged before is a *Corrupt. Whoever opens the fork appends
// an Opened that says where it comes from.
//
// Either all of to is there, on stable storage, or it is not there at all.
func Fork(dir string, at int64, to string) error {
	if err := fork(dir, at, to); err != nil {
		return fmt.Errorf("fork session %s at event %d: %w", dir, at, err)
	}
	return nil
}

func fork(dir string, at int64, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("%s: %w", to, fs.ErrExist))
	}
	if err := makeDir(filepath.Dir(to)); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(to), "fork-*") // no name that a session has
	if err != nil {
		return err
	}
	f := forking{from: dir, to: temp, shelf: newDiskShelf(system{}, dir)}
	if err = f.run(at); err == nil {
		err = os.Rename(temp, to)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return system{}.syncDir(filepath.Dir(to))
}

// forking is one fork on its way.
type forking struct {
	from, to string
	shelf    *diskShelf // of from
}

func (f *forking) run(at int64) error {
	end, handles, err := f.read(at)
	if err != nil {
		return err
	}
	for n := 1; n <= end.segment; n++ {
		limit := int64(-1)
		if n == end.segment {
			limit = end.offset
		}
		if err := copyFile(f.path(segmentName(n)), filepath.Join(f.from, segmentName(n)), limit); err != nil {
			return err
		}
	}
	if err := f.artifacts(handles); err != nil {
		return err
	}
	seqs, err := snapshots(system{}, f.from)
	if err != nil {
		return err
	}
	for _, seq := range seqs {
		if seq > at {
			continue
		}
		if err := f.share(snapshotName(seq)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err // a cache that was just replaced is no loss
		}
	}
	if err := f.shareAll("undo"); err != nil {
		return err
	}
	return system{}.syncDir(f.to)
}

func (f *forking) path(name string) string { return filepath.Join(f.to, name) }

// read returns where the records up to event at end, and which artifacts they
// name.
func (f *forking) read(at int64) (end mark, digests map[string]bool, err error) {
	digests = map[string]bool{}
	last := newPosition()
	for r, err := range walk(system{}, f.from, mark{}) {
		if _, ok := errors.AsType[*torn](err); ok {
			break
		}
		if err == nil {
			err = last.follow(r)
		}
		if err != nil {
			return end, nil, err
		}
		for rest := r.raw; ; {
			_, after, ok := bytes.Cut(rest, []byte(prefix))
			if !ok {
				break
			}
			if digest := after[:min(digestLen, len(after))]; isDigest(digest) {
				digests[string(digest)] = true
			}
			rest = after
		}
		if r.Seq == at {
			return mark{last.joint, r.segment, r.offset + int64(len(r.raw))}, digests, nil
		}
	}
	return end, nil, fmt.Errorf("the last event is %d: %w", last.seq, fs.ErrNotExist)
}

// artifacts takes over those that are there: text may look like the name of one
// that never was.
func (f *forking) artifacts(digests map[string]bool) error {
	own := newDiskShelf(system{}, f.to)
	for digest := range digests {
		name, err := filepath.Rel(f.from, f.shelf.path(digest))
		if err != nil {
			return err
		}
		err = f.share(name)
		if errors.Is(err, fs.ErrNotExist) {
			var b []byte
			if b, err = f.shelf.packs.get(digest); err == nil {
				err = own.packs.put(digest, b)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := own.packs.sync(); err != nil {
		return err
	}
	return own.packs.close()
}

// shareAll shares the files below a directory, if it is there.
func (f *forking) shareAll(dir string) error {
	return filepath.WalkDir(filepath.Join(f.from, dir), func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(f.from, name)
		if err != nil {
			return err
		}
		return f.share(rel)
	})
}

// share gives a file that is never changed a second name, or copies it where
// that cannot be.
func (f *forking) share(name string) error {
	from, to := filepath.Join(f.from, name), f.path(name)
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", from)
	}
	if err := makeDir(filepath.Dir(to)); err != nil {
		return err
	}
	err = os.Link(from, to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		if err := copyFile(to, from, -1); err != nil {
			return err
		}
		if err := os.Chmod(to, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return system{}.syncDir(filepath.Dir(to))
}

// copyFile copies the first n bytes of from, or all if n is negative, onto
// stable storage.
func copyFile(to, from string, n int64) error {
	in, err := system{}.open(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	size, err := in.size()
	if err != nil {
		return err
	}
	if n < 0 {
		n = size
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.NewSectionReader(in, 0, n))
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

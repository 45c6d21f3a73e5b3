// Package repo finds what in the repository bears on a question.
//
// One rule holds for all that it finds. What is hidden (an element of the path
// begins with a dot) or ignored (by a .gitignore) is left out and counted. A
// path that is asked for by name is looked into whatever it is called, and a
// pattern with an element that begins with a dot finds what is hidden. A .git
// below the start is never entered.
package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/belay-agent/belay/internal/world/workspace"
)

// ErrPattern reports a pattern that cannot be understood.
var ErrPattern = errors.New("bad pattern")

// Skipped is what a search left out.
type Skipped struct {
	Hidden  int      `json:"hidden"`           // entries; a directory counts as one
	Ignored int      `json:"ignored"`          // entries; a directory counts as one
	Links   int      `json:"links"`            // to files that are not below the start, which a search does not open
	Failed  int      `json:"failed,omitempty"` // files and directories that could not be read
	Unread  []string `json:"unread,omitempty"` // the first of those
}

// maxUnread is how many paths that could not be read are named.
const maxUnread = 20

func (s *Skipped) unread(path string) {
	s.Failed++
	if len(s.Unread) < maxUnread {
		s.Unread = append(s.Unread, path)
	}
}

// A Found is the answer of Find.
type Found struct {
	Paths   []string // at most as many as were asked for, sorted
	Total   int      // how many there are
	Scanned int      // files looked at
	Base    string   // the directory that was walked; "" if the one that the pattern begins with does not exist
	Skipped
}

// Find returns the files below dir, a directory, whose path from there matches
// pattern, in which ** stands for any number of directories. When ctx ends, it
// returns what it has found so far with the error of ctx.
func Find(ctx context.Context, w *workspace.Workspace, dir, pattern string, limit int) (Found, error) {
	var found Found
	if !doublestar.ValidatePattern(pattern) {
		return found, fmt.Errorf("glob %s: %w", pattern, ErrPattern)
	}
	if err := isDirectory(w, dir); err != nil {
		return found, err
	}
	base, rest, err := Start(w, dir, pattern)
	if err != nil {
		return found, err
	}
	if isDirectory(w, base) != nil {
		return found, nil
	}
	found.Base = base
	for f, err := range walk(ctx, w, base, namesHidden(rest), &found.Skipped) {
		if err != nil {
			return found, err
		}
		found.Scanned++
		if !doublestar.MatchUnvalidated(rest, below(base, f.Path)) {
			continue
		}
		if found.Total++; len(found.Paths) < limit {
			found.Paths = append(found.Paths, f.Path)
		}
	}
	slices.Sort(found.Paths)
	return found, nil
}

func isDirectory(w *workspace.Workspace, dir string) error {
	info, err := w.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("list %s: %w", dir, workspace.ErrNotDirectory)
	}
	return err
}

// Start returns the directory that Find walks, in canonical form, and the pattern
// as seen from there: the elements that pattern begins with and that match but
// one name lead there from dir.
func Start(w *workspace.Workspace, dir, pattern string) (base, rest string, err error) {
	head, rest := doublestar.SplitPattern(pattern)
	if !path.IsAbs(head) {
		head = dir + "/" + head
	}
	base, err = w.Resolve(head)
	return base, rest, err
}

// below returns p as seen from dir, which it lies below.
func below(dir, p string) string {
	if dir == "." {
		return p
	}
	return strings.TrimPrefix(p, dir+"/")
}

// namesHidden reports whether an element of pattern begins with a dot.
func namesHidden(pattern string) bool {
	for element := range strings.SplitSeq(pattern, "/") {
		if strings.HasPrefix(element, ".") || strings.Contains(element, "{.") || strings.Contains(element, ",.") {
			return true
		}
	}
	return false
}

// walk yields the files below dir, with what is hidden if asked to, and counts
// what it leaves out. Its only errors are those of ctx.
func walk(ctx context.Context, w *workspace.Workspace, dir string, hidden bool, skipped *Skipped) iter.Seq2[workspace.File, error] {
	return func(yield func(workspace.File, error) bool) {
		if hidden {
			descend(ctx, w, dir, skipped, yield)
			return
		}
		k := w.Walk(dir)
		for f, err := range k.Files(ctx) {
			switch {
			case ctx.Err() != nil:
				err = ctx.Err()
			case err != nil:
				skipped.unread(f.Path)
				continue
			}
			if !yield(f, err) || err != nil {
				break
			}
		}
		skipped.Hidden, skipped.Ignored = k.Hidden, k.Ignored
	}
}

// descend yields the files below dir, hidden or not, and reports whether to go
// on.
func descend(ctx context.Context, w *workspace.Workspace, dir string, skipped *Skipped, yield func(workspace.File, error) bool) bool {
	if err := ctx.Err(); err != nil {
		yield(workspace.File{Path: dir}, err)
		return false
	}
	entries, err := w.List(dir)
	if err != nil {
		skipped.unread(dir)
		return true
	}
	for _, f := range entries {
		goOn := true
		switch {
		case path.Base(f.Path) == ".git":
			skipped.Hidden++
		case f.Ignored:
			skipped.Ignored++
		case f.Type.IsDir():
			goOn = descend(ctx, w, f.Path, skipped, yield)
		case f.Type.IsRegular():
			goOn = yield(f, nil)
		case f.Type&fs.ModeSymlink != 0 && f.Target != "":
			if info, err := w.Stat(f.Target); err == nil && info.Mode().IsRegular() {
				goOn = yield(f, nil)
			}
		}
		if !goOn {
			return false
		}
	}
	return true
}

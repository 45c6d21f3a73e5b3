package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// A Diff is what a Write changed, or would change.
type Diff struct {
	Unified        string            // a unified diff of what is shown of the files, in order of the edits
	Digests        map[string]string // of each file since, by canonical path; "" for one that is gone
	Was            map[string]string // the permission bits before of each file whose bits change or that is removed, nil if there are none
	WasAttrs       map[string]string // the digest of the attributes before of each file that goes or gets others, nil if there are none: see edit.Intent
	Parents        map[string]int    // how many directories there were not yet for each new file, nil if all were there
	Added, Removed int               // lines
	Names          map[string]uint64 // how many names, hard links, each file had that leaves the others with the old bytes, nil if there is none
}

// around is how many lines a diff shows around a change.
const around = 3

func (w *Workspace) describe(changes []*change) Diff {
	d := Diff{Digests: make(map[string]string)}
	var out strings.Builder
	for _, c := range changes {
		d.Digests[c.path] = ""
		if !c.Remove {
			d.Digests[c.path] = edit.Digest(c.after)
		}
		if n := w.missing(filepath.Dir(c.at)); n > 0 && c.info == nil {
			if d.Parents == nil {
				d.Parents = make(map[string]int)
			}
			d.Parents[c.path] = n
		}
		if c.info != nil && (c.Remove || c.was() != c.is()) {
			if d.Was == nil {
				d.Was = make(map[string]string)
			}
			d.Was[c.path] = c.was()
		}
		if was := c.wasAttrs(); was != "" {
			if d.WasAttrs == nil {
				d.WasAttrs = make(map[string]string)
			}
			d.WasAttrs[c.path] = was
		}
		if c.info != nil && !c.link && !c.Remove && !c.same() && links(c.info) > 1 {
			if d.Names == nil {
				d.Names = make(map[string]uint64)
			}
			d.Names[c.path] = links(c.info)
		}
		d.show(c, &out)
	}
	d.Unified = out.String()
	return d
}

// missing returns how many directories, from dir up, do not exist.
func (w *Workspace) missing(dir string) (n int) {
	for ; dir != "."; dir = filepath.Dir(dir) {
		if _, err := w.root.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		n++
	}
	return n
}

// show adds c to the diff. What a unified diff cannot show is said in a line.
func (d *Diff) show(c *change, out *strings.Builder) {
	from, to := label("a/", c.path), label("b/", c.path)
	if c.info == nil {
		from = "/dev/null"
	}
	if c.Remove {
		to = "/dev/null"
	}
	if c.link || c.toLink() {
		fmt.Fprintf(out, "%s: %s\n", c.relinked(), label("", c.path))
		return
	}
	if c.info != nil && !c.Remove && c.was() != c.is() {
		fmt.Fprintf(out, "mode %s to %s: %s\n", c.was(), c.is(), label("", c.path))
	}
	if c.info != nil && c.has != "" && c.has != c.had {
		fmt.Fprintf(out, "owner or attributes change: %s\n", label("", c.path))
	}
	was, is := detect(c.before), detect(c.after)
	if was == nil || is == nil {
		fmt.Fprintf(out, "binary files %s and %s differ\n", from, to)
		return
	}
	if len(c.before) > 0 && strings.HasPrefix(string(c.after[:min(len(c.after), len(was.mark))]), was.mark) {
		is = was // what is left of a text must not look like another encoding
	}
	before, after := decode(c.before, was).Content, decode(c.after, is).Content
	regions := edit.Between([]byte(before), []byte(after))
	edits := make([]udiff.Edit, len(regions))
	for i, r := range regions {
		edits[i] = udiff.Edit{Start: r.Start, End: r.End, New: string(r.New)}
		d.Removed += countLines(r.Old)
		d.Added += countLines(r.New)
	}
	unified, err := udiff.ToUnified(from, to, before, edits, around)
	switch {
	case err != nil || unified == "" && (from == "/dev/null" || to == "/dev/null"):
		fmt.Fprintf(out, "--- %s\n+++ %s\n", from, to)
	case unified == "" && !bytes.Equal(c.before, c.after):
		fmt.Fprintf(out, "files %s and %s differ in line endings or encoding only\n", from, to)
	default:
		out.WriteString(unified)
	}
}

// relinked says what happens to a link.
func (c *change) relinked() string {
	to := func(b []byte) string { return "link to " + label("", text(string(b))) }
	switch {
	case c.Remove:
		return to(c.before) + " removed"
	case !c.toLink():
		return "file in place of the " + to(c.before)
	case c.info == nil:
		return to(c.after) + " made"
	case c.link:
		return to(c.after) + " in place of the one to " + label("", text(string(c.before)))
	}
	return to(c.after) + " in place of the file"
}

func countLines(b []byte) int {
	n := bytes.Count(b, []byte("\n"))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// label returns a path for the head of a diff, quoted if it could be misread.
func label(prefix, path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(prefix + path)
	}
	return prefix + path
}

// Unified returns the unified diff of what is shown of a file that was was and is
// is, "" where that is the same or one of them is no text.
func Unified(path string, was, is []byte) string {
	before, after := detect(was), detect(is)
	if before == nil || after == nil {
		return ""
	}
	from, to := decode(was, before).Content, decode(is, after).Content
	regions := edit.Between([]byte(from), []byte(to))
	edits := make([]udiff.Edit, len(regions))
	for i, r := range regions {
		edits[i] = udiff.Edit{Start: r.Start, End: r.End, New: string(r.New)}
	}
	unified, err := udiff.ToUnified(label("a/", path), label("b/", path), from, edits, around)
	if err != nil {
		return ""
	}
	return unified
}

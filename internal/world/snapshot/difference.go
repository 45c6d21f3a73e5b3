package snapshot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
)

const (
	maxBytes   = 700 << 10 // of JSON that the changes of one call are: they must fit into one event
	maxRegions = 50        // of a file; one with more is replaced from the first to the last
	maxLines   = 4 << 20   // bytes of a file that is compared line by line
	maxNamed   = 5         // files that a note names
)

// A difference is what lies between two trees.
type difference struct {
	store   *Store
	until   int64 // see pending
	edits   []edit.Intent
	size    int      // of edits as JSON
	missing []string // changed and not covered, and why
}

func (d *difference) between(before, after *tree, scope []string) {
	paths := make(map[string]bool)
	for path, was := range before.Entries {
		if now, ok := after.Entries[path]; !ok || now != was {
			paths[path] = true
		}
	}
	for path := range after.Entries {
		if _, ok := before.Entries[path]; !ok {
			paths[path] = true
		}
	}
	// If there is not room for all, what was there comes first: a file must not be
	// taken away that is all that is left of one which cannot come back.
	for _, path := range slices.SortedFunc(maps.Keys(paths), func(a, b string) int {
		return cmp.Or(before.lacks(a)-before.lacks(b), cmp.Compare(a, b))
	}) {
		// A scope has paths resolved: of a link that was changed it has what it led to.
		link := before.Entries[path].link() || after.Entries[path].link()
		if (link || within(path, scope)) && !unread(path, before) && !unread(path, after) {
			d.at(path, before, after)
		}
	}
	for _, dir := range after.Unread {
		if within(dir, scope) && !slices.Contains(before.Unread, dir) {
			d.miss(dir, "cannot be read")
		}
	}
}

// unread reports whether nobody could look at path.
func unread(path string, t *tree) bool { return len(t.Unread) > 0 && within(path, t.Unread) }

func (d *difference) miss(path, why string) { d.missing = append(d.missing, path+" ("+why+")") }

// at adds what happened at path. A directory is only what files are in.
func (d *difference) at(path string, before, after *tree) {
	was, now, none := before.Entries[path], after.Entries[path], entry{}
	if was.Mode.IsDir() {
		was = none
	}
	if now.Mode.IsDir() {
		now = none
	}
	switch {
	case was == none && now == none:
	case d.until > 0 && max(now.Mtime, now.Ctime, after.emptied(path, now)) > d.until:
		d.miss(path, "changed after Belay was stopped, by the command or by you")
	case was.link() && now.link() && was.Target == now.Target:
	case was.link() && was.Target == "" || now.link() && now.Target == "":
		d.miss(path, "a link that could not be read")
	case was != none && !was.kept() || now != none && !now.kept():
		d.miss(path, "neither a file nor a link")
	case was.regular() && was.At == notKept:
		if now == none || was.Size != now.Size || was.Mtime != now.Mtime || was.Mode != now.Mode {
			d.miss(path, d.store.why(was))
		}
	case now.regular() && now.At == notKept:
		d.miss(path, d.store.why(now))
	default:
		if err := d.add(path, was, now, before.missing(path)); err != nil {
			d.miss(path, err.Error())
		}
	}
}

// why says why a file is not kept.
func (s *Store) why(e entry) string {
	if e.Size > s.File {
		return fmt.Sprintf("over %d MiB", s.File>>20)
	}
	return "there was no room or no time to copy it"
}

// emptied returns when something was last removed from where a file was that is
// gone.
func (t *tree) emptied(file string, now entry) int64 {
	if now != (entry{}) {
		return 0
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if e := t.Entries[dir]; e.Mode.IsDir() {
			return e.Mtime
		}
	}
	return t.Root
}

// lacks returns 1 for a path with no file or link in t, 0 for others.
func (t *tree) lacks(path string) int {
	if e, ok := t.Entries[path]; ok && !e.Mode.IsDir() {
		return 0
	}
	return 1
}

// missing returns how many directories of path, from its own up, there were not.
func (t *tree) missing(file string) (n int) {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if t.Entries[dir].Mode.IsDir() {
			break
		}
		n++
	}
	return n
}

// add adds a change of a file whose bytes are kept on both sides.
func (d *difference) add(path string, was, now entry, parents int) error {
	i := edit.Intent{Path: path}
	var before, after []byte
	var err error
	if was != (entry{}) {
		if before, err = d.bytes(was); err != nil {
			return err
		}
		i.Base = edit.Digest(before)
	}
	if now != (entry{}) {
		if after, err = d.bytes(now); err != nil {
			return err
		}
		i.Result = edit.Digest(after)
	}
	switch {
	case i.Result == "":
		i.Remove, i.Was = true, was.perm()
	case i.Base == "":
		i.Mode, i.Parents = now.perm(), parents
	case was.Mode != now.Mode || now.link():
		i.Mode, i.Was = now.perm(), was.perm()
	case i.Base == i.Result && was.Attrs == now.Attrs:
		return nil
	}
	if err := d.attributes(&i, was, now); err != nil {
		return err
	}
	if !i.Remove && i.Base != i.Result {
		i.Regions = regions(before, after)
	}
	if !d.fits(i) {
		return errors.New("more than one result can hold")
	}
	for digest, b := range map[string][]byte{i.Base: before, i.Result: after} {
		if digest == "" {
			continue
		}
		if _, err := d.store.images.Put(b); err != nil {
			return err
		}
	}
	d.edits = append(d.edits, i)
	return nil
}

// attributes adds to i what it changes of those: nothing, mostly.
func (d *difference) attributes(i *edit.Intent, was, now entry) error {
	if was.Attrs == now.Attrs {
		return nil
	}
	put := func(e entry, digest *string) error {
		if e.Attrs == "" && (i.Remove || i.Base == "") || e == (entry{}) {
			return nil
		}
		*digest = edit.Digest([]byte(e.attrs()))
		_, err := d.store.images.Put([]byte(e.attrs()))
		return err
	}
	return errors.Join(put(was, &i.WasAttrs), put(now, &i.Attrs))
}

// bytes returns what a file held, or where a link led.
func (d *difference) bytes(e entry) ([]byte, error) {
	if e.link() {
		return []byte(e.Target), nil
	}
	return d.store.pack.get(e)
}

// fits reports whether there is room for i.
func (d *difference) fits(i edit.Intent) bool {
	b, err := json.Marshal(i)
	d.size += len(b)
	return err == nil && d.size <= maxBytes
}

// regions returns what leads from before to after, in not too many pieces.
func regions(before, after []byte) []edit.Region {
	if len(before)+len(after) == 0 {
		return nil
	}
	var found []edit.Region
	if max(len(before), len(after)) <= maxLines && bytes.IndexByte(before, 0) < 0 {
		found = edit.Between(before, after)
	}
	if len(found) == 0 || len(found) > maxRegions {
		found = []edit.Region{whole(before, after)}
	}
	for n := range found { // events have none
		found[n].Old, found[n].New = nil, nil
	}
	return found
}

// whole returns the one region that leads from before to after.
func whole(before, after []byte) edit.Region {
	start, end := 0, 0
	n := min(len(before), len(after))
	for start < n && before[start] == after[start] {
		start++
	}
	for end < n-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return edit.Region{Start: start, End: len(before) - end, Len: len(after) - end - start}
}

// Changes returns what was found, in order of the paths.
func (d *difference) Changes() Changes {
	slices.SortFunc(d.edits, func(a, b edit.Intent) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(d.missing)
	c := Changes{Edits: d.edits}
	if n := len(d.missing); n > 0 {
		named := d.missing[:min(n, maxNamed)]
		c.Note = "undo does not cover these changes: " + strings.Join(named, ", ")
		if n > maxNamed {
			c.Note += fmt.Sprintf(" and %d more", n-maxNamed)
		}
	}
	return c
}

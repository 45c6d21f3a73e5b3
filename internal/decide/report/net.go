package report

import (
	"bytes"
	"slices"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// A net is what calls made of one file, taken together.
type net struct {
	path     string
	parts    []part // more than one where somebody else changed the file in between
	calls    []string
	steps    []*step // of calls, one each
	was, now string  // mode; "" where no call changed it
	last     int     // the number of the newest change
}

// A part is a run of changes, each made of what the one before it left.
type part struct {
	base, result string // digests; "" is no file
	edits        int
	call         *step // of the only edit
}

// nets returns what steps made of each file, in the order in which they came to
// them. What is as it was is left out.
func nets(steps []*step) (all []*net) {
	number := 0
	for _, s := range steps {
		for _, e := range s.edits {
			number++
			i := slices.IndexFunc(all, func(n *net) bool { return n.path == e.Path })
			if i < 0 {
				all, i = append(all, &net{path: e.Path}), len(all)
			}
			all[i].add(s, e, number)
		}
	}
	return slices.DeleteFunc(all, (*net).same)
}

func (n *net) add(s *step, e edit.Intent, number int) {
	n.last = number
	if end := len(n.parts) - 1; end >= 0 && n.parts[end].result == e.Base {
		n.parts[end].result = e.Result
		n.parts[end].edits++
	} else {
		n.parts = append(n.parts, part{e.Base, e.Result, 1, s})
	}
	if !slices.Contains(n.calls, s.call.ID) {
		n.calls, n.steps = append(n.calls, s.call.ID), append(n.steps, s)
	}
	if e.Mode != "" {
		if n.was == "" {
			n.was = e.Was
		}
		n.now = e.Mode
	}
}

func (n *net) same() bool {
	return n.before() == n.after() && len(n.parts) == 1 && n.was == n.now
}

func (n *net) before() string { return n.parts[0].base }
func (n *net) after() string  { return n.parts[len(n.parts)-1].result }

func (n *net) kind() string {
	switch {
	case n.before() == "" && n.after() == "":
		return "" // it came and went
	case n.before() == "":
		return "created"
	case n.after() == "":
		return "removed"
	}
	return "changed"
}

// lines returns how many lines were added and removed, if that is known: from the
// bytes, or from what the one call that changed the file says.
func (n *net) lines(images Images) (added, removed int, ok bool) {
	for _, p := range n.parts {
		before, after, known := p.bytes(images)
		switch {
		case known:
			for _, r := range edit.Between(before, after) {
				added += lineCount(r.New)
				removed += lineCount(r.Old)
			}
		case p.edits == 1:
			c, told := p.call.lines[n.path]
			if !told {
				return 0, 0, false
			}
			added, removed = added+c.Added, removed+c.Removed
		default:
			return 0, 0, false
		}
	}
	return added, removed, true
}

// maxImage is how many bytes of a file are looked at.
const maxImage = 4 << 20

// bytes returns the file before and after p, if both are kept and text.
func (p part) bytes(images Images) (before, after []byte, ok bool) {
	before, first := image(p.base, images)
	after, second := image(p.result, images)
	return before, after, first && second
}

func image(digest string, images Images) ([]byte, bool) {
	if digest == "" {
		return nil, true
	}
	if images == nil {
		return nil, false
	}
	b, err := images(digest)
	return b, err == nil && len(b) <= maxImage && bytes.IndexByte(b, 0) < 0
}

func lineCount(b []byte) int {
	n := bytes.Count(b, []byte("\n"))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// renames joins a file that went with one that came with the same bytes, where one
// call did both.
func renames(changes []Change, all []*net) []Change {
	for i, came := range all {
		if changes[i].Kind != "created" {
			continue
		}
		for j, went := range all {
			if changes[j].Kind != "removed" || went.before() != came.after() || !shared(went.calls, came.calls) {
				continue
			}
			changes[i].Kind, changes[i].From, changes[j].Kind = "renamed", went.path, ""
			changes[i].Added, changes[i].Removed = 0, 0
			break
		}
	}
	return slices.DeleteFunc(changes, func(c Change) bool { return c.Kind == "" })
}

func shared(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

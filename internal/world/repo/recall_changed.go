package repo

import (
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// changed adds what the session changed, where that is asked for, and the test
// nearest to each of it.
func (g *gathering) changed(q recall.Query) {
	score := 0.9
	for _, c := range q.Changed {
		if g.over() {
			return
		}
		if q.Diffs {
			g.diff(c, score)
			score = max(0.6, score-0.01)
		}
		if slotOf(c.Path) != recall.Definition {
			continue
		}
		if t := g.near(c.Path); t != nil {
			first, last, text := outline(t.Content)
			g.add(recall.Test, t, first, last, text, "the test nearest to "+c.Path, 0.55)
		}
	}
}

// diff adds what a file is now beside what it was before the session. Without
// what it was it adds nothing.
func (g *gathering) diff(c recall.Change, score float64) {
	t := g.read(c.Path)
	if t == nil {
		return
	}
	var was []byte
	if c.Base != "" {
		var err error
		if was, err = g.Workspace.Image(c.Base); err != nil {
			return
		}
	}
	g.add(recall.Diff, t, 0, 0, workspace.Unified(t.Path, was, []byte(t.Content)), "changed in this session", score)
}

// numbered is a line with its number, as Grep shows it.
func numbered(n int, line string) string {
	return strconv.Itoa(n) + ": " + strings.TrimRight(line, "\r\n") + "\n"
}

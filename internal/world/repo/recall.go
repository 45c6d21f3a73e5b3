package repo

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// What a recall costs at most. A request must not wait for it, and what does not
// come in time would not have been sure to matter.
const (
	patience   = 150 * time.Millisecond
	maxItems   = 40
	maxFiles   = 60      // that are read
	maxFile    = 1 << 20 // bytes of one of them
	maxExcerpt = 8 << 10 // bytes of the text of an item
)

// A Recaller says what in a workspace bears on a query: what a failure points to,
// what the user named, what was changed, and the tests nearest to that. It may be
// used by one goroutine at a time.
type Recaller struct {
	Workspace *workspace.Workspace
	Withheld  func(path string) bool // may not be shown without asking; nil is no file
	Patience  time.Duration          // 0 is 150 ms

	goal  string                // that the rest is for
	found map[string][]location // where symbols are; nil until they were looked for
	ends  map[string]string     // the only file that ends in a name; "" is none
}

// Recall returns items with source, score and reason, the surest first. What is
// ignored, hidden, withheld or outside the workspace is never one. When its time
// is over it returns what it has and recall.ErrLate; its only other error is the
// end of ctx.
func (r *Recaller) Recall(ctx context.Context, q recall.Query) ([]recall.Item, error) {
	if len(q.Failing)+len(q.Mentions)+len(q.Changed) == 0 {
		return nil, ctx.Err()
	}
	if r.goal != q.Goal || r.ends == nil {
		r.goal, r.found, r.ends = q.Goal, nil, make(map[string]string)
	}
	limit := r.Patience
	if limit == 0 {
		limit = patience
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	g := &gathering{ctx: within, Recaller: r, files: make(map[string]*workspace.Text)}
	g.failing(q.Failing)
	g.mentioned(q)
	g.changed(q)
	if err := ctx.Err(); err != nil || within.Err() == nil {
		return g.items, err
	}
	return g.items, recall.ErrLate
}

// A gathering is one Recall at work.
type gathering struct {
	*Recaller
	ctx   context.Context
	items []recall.Item
	files map[string]*workspace.Text // by the path asked for; nil is one that gives none

	walked []string // the files of the workspace; nil until they are needed
}

// over reports whether there is no time, or no room, for more.
func (g *gathering) over() bool { return g.ctx.Err() != nil || len(g.items) >= maxItems }

// read returns a file that may be shown, nil if there is none.
func (g *gathering) read(name string) *workspace.Text {
	if t, known := g.files[name]; known || g.over() || len(g.files) >= maxFiles {
		return t
	}
	g.files[name] = nil
	at, err := g.Workspace.Resolve(name)
	if err != nil || g.Withheld != nil && g.Withheld(at) {
		return nil
	}
	info, err := g.Workspace.Stat(at)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile || g.Workspace.LeftOut(at) {
		return nil
	}
	t, err := g.Workspace.Read(at)
	if err != nil {
		return nil
	}
	g.files[name] = &t
	return &t
}

// add adds lines first to last of t, from 1. A range that is empty adds text that
// is about all of the file.
func (g *gathering) add(slot recall.Slot, t *workspace.Text, first, last int, text, why string, score float64) {
	if g.over() || strings.TrimSpace(text) == "" {
		return
	}
	source := t.Path + "@" + t.Digest[:min(8, len(t.Digest))]
	if first > 0 {
		source = fmt.Sprintf("%s:%d-%d@%.8s", t.Path, first, last, t.Digest)
	}
	g.items = append(g.items, recall.Item{
		Slot: slot, Source: source, Path: t.Path, First: first, Last: last, Digest: t.Digest,
		Text: bounded(text), Score: score, Why: why,
	})
}

// bounded cuts text between lines.
func bounded(text string) string {
	if len(text) <= maxExcerpt {
		return text
	}
	text = strings.ToValidUTF8(text[:maxExcerpt], "")
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		text = text[:i+1]
	}
	return text + "...\n"
}

// slotOf returns the role that a file plays by its path.
func slotOf(name string) recall.Slot {
	base, dirs := path.Base(name), strings.Split(path.Dir(name), "/")
	stem := strings.ToLower(strings.TrimSuffix(base, path.Ext(base)))
	switch {
	case slices.ContainsFunc(dirs, fixtures) || slices.ContainsFunc(dirs, tests),
		strings.HasPrefix(stem, "test_"), strings.HasSuffix(stem, "_test"), strings.HasSuffix(stem, "_spec"),
		strings.HasSuffix(stem, ".test"), strings.HasSuffix(stem, ".spec"), stem == "conftest",
		strings.HasSuffix(strings.TrimSuffix(base, path.Ext(base)), "Test"):
		return recall.Test
	case slices.Contains([]string{".md", ".rst", ".txt", ".adoc"}, strings.ToLower(path.Ext(base))):
		return recall.Document
	}
	return recall.Definition
}

func fixtures(dir string) bool {
	return slices.Contains([]string{"testdata", "fixtures", "__fixtures__", "fixture", "__snapshots__"}, dir)
}

func tests(dir string) bool {
	return slices.Contains([]string{"test", "tests", "__tests__", "spec"}, dir)
}

package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/belay-agent/belay/internal/world/workspace"
)

// A Search asks for lines of files.
type Search struct {
	Pattern string // RE2 syntax; a match lies within one line, and ^ and $ are its ends
	Path    string // a file, or a directory and all below
	Files   string // a glob of the paths from there, or of names if it has no slash; "" is all
	Context int    // lines around a hit
	Skip    int    // hits to leave out at the start
	Limit   int    // hits to return

	// Withheld reports a file that whoever may read base, where the search starts,
	// may not read without more. It is passed over. It may be nil.
	Withheld func(base, path string) bool
}

// A Hit is a line that matches, or the part of a long one around a match.
type Hit struct {
	Line          int // from 1
	Column        int // byte where Text starts in a line that is not shown whole, from 1; 0 for a whole line
	Text          string
	Before, After []string // lines around it
}

// FileHits are the hits of one file.
type FileHits struct {
	Path string
	Hits []Hit
}

// Hits are the answer of a search.
type Hits struct {
	Files    []FileHits // newest first, then by path
	Shown    int        // hits in Files
	Total    int        // hits that there are
	InFiles  int        // files that have some
	Searched int        // files read
	Binary   int        // files that are not text
	Large    int        // files over the limit of the workspace
	Withheld int        // files that may not be read without asking
	Skipped
}

// Run searches. The files are read by several goroutines; at most a batch of them
// is held in memory. When ctx ends, Run returns what it has found so far with
// the error of ctx.
func (s Search) Run(ctx context.Context, w *workspace.Workspace) (Hits, error) {
	var hits Hits
	m, err := newMatcher(s.Pattern, s.Context)
	if err != nil {
		return hits, err
	}
	if s.Files != "" && !doublestar.ValidatePattern(s.Files) {
		return hits, fmt.Errorf("glob %s: %w", s.Files, ErrPattern)
	}
	files, err := s.candidates(ctx, w, &hits)
	if err != nil {
		return hits, err
	}
	for batch := range slices.Chunk(files, 64*runtime.GOMAXPROCS(0)) {
		for _, r := range m.searchAll(ctx, w, batch, s.Skip+s.Limit-hits.Total) {
			hits.add(r, s)
		}
		if err := ctx.Err(); err != nil {
			return hits, err
		}
	}
	return hits, nil
}

// add joins the hits of one file to those of the files before it.
func (h *Hits) add(r result, s Search) {
	switch {
	case errors.Is(r.err, workspace.ErrBinary):
		h.Binary++
		return
	case errors.Is(r.err, workspace.ErrTooLarge):
		h.Large++
		return
	case errors.Is(r.err, context.Canceled), errors.Is(r.err, context.DeadlineExceeded):
		return
	case r.err != nil:
		h.unread(r.path)
		return
	}
	h.Searched++
	if r.total == 0 {
		return
	}
	h.InFiles++
	from := max(s.Skip-h.Total, 0)
	to := min(len(r.hits), s.Skip+s.Limit-h.Total)
	if h.Total += r.total; from < to {
		h.Files = append(h.Files, FileHits{Path: r.path, Hits: r.hits[from:to]})
		h.Shown += to - from
	}
}

// A candidate is a file to search.
type candidate struct {
	path     string
	modified time.Time
}

// candidates returns the files to search, newest first. A file that is reached
// through links as well is searched once, and one that is not below the start
// is not.
func (s Search) candidates(ctx context.Context, w *workspace.Workspace, hits *Hits) ([]candidate, error) {
	info, err := w.Stat(s.Path)
	if err != nil {
		return nil, err
	}
	base, err := w.Resolve(s.Path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []candidate{{base, info.ModTime()}}, nil
	}
	withheld := func(path string) bool { return s.Withheld != nil && s.Withheld(base, path) }
	var files []candidate
	seen := make(map[string]bool)
	var targets []string
	for f, err := range walk(ctx, w, base, namesHidden(s.Files), &hits.Skipped) {
		if err != nil {
			return nil, err
		}
		switch {
		case !s.wants(below(base, f.Path)):
		case withheld(f.Path) || f.Target != "" && withheld(f.Target):
			hits.Withheld++
		case f.Target != "" && base != "." && !strings.HasPrefix(f.Target, base+"/"):
			hits.Links++
		case f.Target != "":
			targets = append(targets, f.Target)
		default:
			info, err := f.Info()
			if err != nil { // it has just gone
				continue
			}
			seen[f.Path] = true
			files = append(files, candidate{f.Path, info.ModTime()})
		}
	}
	for _, target := range targets {
		if info, err := w.Stat(target); err == nil && !seen[target] {
			seen[target] = true
			files = append(files, candidate{target, info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b candidate) int {
		return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(a.path, b.path))
	})
	return files, nil
}

func (s Search) wants(p string) bool {
	switch {
	case s.Files == "":
		return true
	case !strings.Contains(s.Files, "/"):
		p = p[strings.LastIndexByte(p, '/')+1:]
	}
	return doublestar.MatchUnvalidated(s.Files, p)
}

// A result is what one file holds.
type result struct {
	path  string
	hits  []Hit // at most as many as were wanted
	total int
	err   error
}

// searchAll searches files side by side and returns what they hold in order.
func (m *matcher) searchAll(ctx context.Context, w *workspace.Workspace, files []candidate, want int) []result {
	results := make([]result, len(files))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		workers.Go(func() {
			for i := range next {
				results[i] = m.searchFile(ctx, w, files[i].path, want)
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}

func (m *matcher) searchFile(ctx context.Context, w *workspace.Workspace, path string, want int) result {
	r := result{path: path, err: ctx.Err()}
	if r.err != nil {
		return r
	}
	text, err := w.Read(path)
	if err != nil {
		r.err = err
		return r
	}
	r.hits, r.total = m.search(text.Content, want)
	return r
}

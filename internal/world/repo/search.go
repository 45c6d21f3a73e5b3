package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/belay-agent/belay/internal/world/workspace"
)

// ErrLanguage reports a language that is not one of Languages.
var ErrLanguage = errors.New("unknown language")

// A Search asks for lines of files.
type Search struct {
	Pattern  string // RE2 syntax; a match lies within one line, and ^ and $ are its ends
	Path     string // a file, or a directory and all below
	Files    string // a glob of the paths from there, or of names if it has no slash; "" is all
	Language string // of the files: one of Languages or another name of it; "" is all
	Context  int    // lines around a hit
	Skip     int    // hits to leave out at the start
	Limit    int    // hits to return

	// Withheld reports a file that whoever may read base, where the search starts,
	// may not read without more. It is passed over. It may be nil.
	Withheld func(base, path string) bool

	// Ripgrep rules files out before they are read. Without it, or where it
	// does not work, the answer is the same.
	Ripgrep *Ripgrep
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
	Searched int        // files that were searched to their end
	Binary   int        // files that are not text
	Large    int        // files over the limit of the workspace
	Withheld int        // files that may not be read without asking
	Skipped
}

// batch is how many files a goroutine searches before it asks for more.
const batch = 64

// Run searches. Several goroutines read files while the tree is walked, each into
// a buffer of its own; of what they find no more is kept than may be
// returned. When ctx ends, Run returns what it has found so far with its error.
func (s Search) Run(ctx context.Context, w *workspace.Workspace) (Hits, error) {
	m, err := newMatcher(s.Pattern, s.Context)
	if err != nil {
		return Hits{}, err
	}
	if s.Files != "" && !doublestar.ValidatePattern(s.Files) {
		return Hits{}, fmt.Errorf("glob %s: %w", s.Files, ErrPattern)
	}
	if s.Language != "" && endings(s.Language) == nil {
		return Hits{}, fmt.Errorf("language %s: %w", s.Language, ErrLanguage)
	}
	start, err := w.Entry(s.Path)
	if err != nil {
		return Hits{}, err
	}
	t := &tally{want: s.Skip + s.Limit}
	walk := func(yield func(workspace.File) bool) error { yield(start); return nil }
	size, sieve := batch, (*sieve)(nil)
	if start.Type.IsDir() {
		walk = func(yield func(workspace.File) bool) error { return s.candidates(ctx, w, start.Path, t, yield) }
		if sieve = s.Ripgrep.sieve(w, m); sieve != nil {
			size = sieveBatch
		}
	}
	p := pipeline{matcher: m, sieve: sieve, tally: t, size: size}
	err = p.run(ctx, w, walk)
	return t.page(s.Skip, s.Limit), err
}

// Within searches a text that is called name.
func (s Search) Within(ctx context.Context, name string, text []byte) (Hits, error) {
	m, err := newMatcher(s.Pattern, s.Context)
	if err != nil {
		return Hits{}, err
	}
	t := &tally{want: s.Skip + s.Limit}
	r := result{path: name}
	r.hits, r.total, r.err = m.search(ctx, text, t.want)
	t.add(r)
	return t.page(s.Skip, s.Limit), ctx.Err()
}

// candidates yields the files to search below base. A file that is reached
// through links as well is searched once, and one that is not below the start
// is not. What it leaves out it counts. Its only errors are those of ctx.
func (s Search) candidates(ctx context.Context, w *workspace.Workspace, base string, t *tally, yield func(workspace.File) bool) error {
	var skipped Skipped
	withheld := 0
	defer func() { t.left(skipped, withheld) }()
	isWithheld := func(path string) bool { return s.Withheld != nil && s.Withheld(base, path) }
	seen := make(map[string]bool)
	var targets []string
	files := endings(s.Language)
	for f, err := range walk(ctx, w, base, namesHidden(s.Files), &skipped) {
		if err != nil {
			return err
		}
		switch {
		case !s.wants(below(base, f.Path)), files != nil && !endsIn(f.Path, files):
		case isWithheld(f.Path) || f.Target != "" && isWithheld(f.Target):
			withheld++
		case f.Target != "" && base != "." && !strings.HasPrefix(f.Target, base+"/"):
			skipped.Links++
		case f.Target != "":
			targets = append(targets, f.Target)
		default:
			seen[f.Path] = true
			if !yield(f) {
				return ctx.Err()
			}
		}
	}
	for _, target := range targets {
		if f, err := w.Entry(target); err == nil && f.Type.IsRegular() && !seen[target] {
			seen[target] = true
			if !yield(f) {
				break
			}
		}
	}
	return ctx.Err()
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

// A pipeline searches files while they are found.
type pipeline struct {
	*matcher
	*sieve // nil if nothing is to be ruled out
	*tally
	size int // of a batch
}

// run searches what walk yields, and returns its error or that of ctx.
func (p *pipeline) run(ctx context.Context, w *workspace.Workspace, walk func(func(workspace.File) bool) error) error {
	batches := make(chan []workspace.File)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			l := w.Loader()
			for files := range batches {
				picked := p.pick(ctx, files)
				p.passed(len(files) - len(picked))
				for _, f := range picked {
					p.tally.add(p.searchFile(ctx, l, f))
				}
			}
		})
	}
	var files []workspace.File
	err := walk(func(f workspace.File) bool {
		if files = append(files, f); len(files) == p.size {
			batches <- files
			files = nil
		}
		return ctx.Err() == nil
	})
	if len(files) > 0 {
		batches <- files
	}
	close(batches)
	workers.Wait()
	return cmp.Or(err, ctx.Err())
}

// searchFile searches one file, unless ctx has ended.
func (p *pipeline) searchFile(ctx context.Context, l *workspace.Loader, f workspace.File) result {
	r := result{path: f.Path, err: ctx.Err()}
	if r.err != nil {
		return r
	}
	var text []byte
	if text, r.modified, r.err = l.Load(f); r.err == nil {
		r.hits, r.total, r.err = p.search(ctx, text, p.wants(r))
	}
	return r
}

// A result is what one file holds.
type result struct {
	path     string
	modified time.Time
	hits     []Hit // at most as many as were wanted
	total    int
	err      error
}

func (r result) compare(other result) int {
	return cmp.Or(other.modified.Compare(r.modified), cmp.Compare(r.path, other.path))
}

// A tally adds up results that come in any order, from several goroutines. Of the
// hits it keeps the first want, newest file first.
type tally struct {
	want int

	mu    sync.Mutex
	hits  Hits     // without Files
	first []result // in order; those that hold the first hits
	held  int      // hits that those have
}

// wants returns how many hits of a file are to be described: none, if as many as
// are wanted come before them.
func (t *tally) wants(r result) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held >= t.want && len(t.first) > 0 && r.compare(t.first[len(t.first)-1]) > 0 {
		return 0
	}
	return t.want
}

// add counts the hits of one file in.
func (t *tally) add(r result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(r.err, workspace.ErrBinary):
		t.hits.Binary++
	case errors.Is(r.err, workspace.ErrTooLarge):
		t.hits.Large++
	case errors.Is(r.err, context.Canceled), errors.Is(r.err, context.DeadlineExceeded), errors.Is(r.err, fs.ErrNotExist):
	case r.err != nil:
		t.hits.unread(r.path)
	default:
		t.hits.Searched++
	}
	if r.total == 0 {
		return
	}
	t.hits.InFiles++
	t.hits.Total += r.total
	i, _ := slices.BinarySearchFunc(t.first, r, result.compare)
	if i == len(t.first) && t.held >= t.want {
		return
	}
	t.first = slices.Insert(t.first, i, r)
	t.held += r.total
	for last := len(t.first) - 1; last > 0 && t.held-t.first[last].total >= t.want; last-- {
		t.held -= t.first[last].total
		t.first[last] = result{}
		t.first = t.first[:last]
	}
}

// passed counts n files in that hold nothing.
func (t *tally) passed(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hits.Searched += n
}

// left counts in what is not searched.
func (t *tally) left(s Skipped, withheld int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range t.hits.Unread { // found by those who read
		s.unread(path)
	}
	t.hits.Skipped = s
	t.hits.Withheld = withheld
}

// page returns what was counted, with limit hits from skip on.
func (t *tally) page(skip, limit int) Hits {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.hits
	slices.Sort(h.Unread)
	at := 0
	for _, r := range t.first {
		from := min(max(skip-at, 0), len(r.hits))
		to := max(min(skip+limit-at, len(r.hits)), from)
		if from < to {
			h.Files = append(h.Files, FileHits{Path: r.path, Hits: r.hits[from:to]})
			h.Shown += to - from
		}
		at += r.total
	}
	return h
}

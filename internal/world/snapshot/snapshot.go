// Package snapshot finds out what a command changed in the workspace, and keeps
// what was there before, so that it can be taken back.
//
// It runs no program, not even git, and looks at no .git: what the user has
// staged, stashed or locked does not matter to it, nor does how the repository is
// laid out. It copies the files that are not ignored into one file of its own, and
// from then on only those that changed.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/world/failpoint"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// Options say what a Store works with, and bound what it does.
type Options struct {
	Workspace *workspace.Workspace
	Dir       string        // its own; made if need be
	File      int64         // bytes of a file that is kept, at most; 0 means 16 MiB
	Total     int64         // bytes of all files together; 0 means 512 MiB
	Patience  time.Duration // for copying in one look at the workspace, and as long again for the rest; 0 means 5 s
}

// A Store keeps the files of a workspace as they were before each command. It may
// be used by several goroutines, and must be closed.
type Store struct {
	Options
	images *Images

	beats sync.WaitGroup

	mu      sync.Mutex
	pack    *pack
	last    *tree
	saved   *tree // the one on disk
	pending map[string]pending
	off     error // why nobody looks any more
}

// A pending is a call that has begun: what is within its scope is compared with
// the tree that there was.
type pending struct {
	tree  *tree
	scope []string // paths; nil for all
	why   error    // there is nothing to compare with
	until int64    // ns: what changed later may be the user's; 0 for no end
	stop  func()   // its beat
}

// Changes are what a call changed.
type Changes struct {
	Edits []edit.Intent // with digests of images, without bytes
	Note  string        // what Edits do not cover; "" if nothing is missing
}

// Open returns a store in o.Dir. What an earlier life left there is gone on with
// where that can be, and else thrown away.
func Open(o Options) (*Store, error) {
	if o.File == 0 {
		o.File = 16 << 20
	}
	if o.Total == 0 {
		o.Total = 512 << 20
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Second
	}
	images, err := OpenImages(o.Dir)
	if err != nil {
		return nil, err
	}
	left, err := filepath.Glob(filepath.Join(o.Dir, temporary+"*"))
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		return nil, fmt.Errorf("open snapshots: %w", err)
	}
	s := &Store{Options: o, images: images, pending: make(map[string]pending)}
	s.load()
	return s, nil
}

// Images returns the bytes that edits name.
func (s *Store) Images() *Images { return s.images }

// Close ends the use of s. What only saves time is thrown away; what a call that
// has not ended needs stays.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pending {
		p.stop()
	}
	s.beats.Wait()
	var err error
	if s.pack != nil {
		err = s.pack.Close()
	}
	if left, _ := filepath.Glob(s.path(pendingName("*"))); len(left) > 0 {
		return err
	}
	for _, name := range []string{packName, treeName} {
		if e := os.Remove(s.path(name)); !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

const (
	packName = "tree.pack"
	treeName = "tree"
)

func pendingName(call string) string { return "pending-" + call }

func (s *Store) path(name string) string { return filepath.Join(s.Dir, name) }

// Before looks at the workspace before a call that may change what is at or below
// scope, or anything if scope is empty. An error does not keep After from being
// called, which says that nothing is covered.
func (s *Store) Before(ctx context.Context, call string, scope []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := pending{scope: scope, stop: func() {}}
	p.tree, p.why = s.look(ctx)
	if p.why == nil {
		p.why = s.keep(call, p)
	}
	if p.why == nil {
		p.stop = s.beat(call)
	}
	s.pending[call] = p
	failpoint.Hit("snapshot taken")
	return p.why
}

// After says what changed since Before of that call, also in another life. Of a
// call without Before it says nothing.
func (s *Store) After(call string) Changes {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pending[call]
	if !ok {
		if p, ok = s.left(call); !ok {
			return Changes{}
		}
	}
	c, err := s.compare(p)
	if err != nil {
		c = Changes{Note: "undo does not cover what this changed: " + err.Error()}
	}
	failpoint.Hit("snapshot compared")
	return c
}

// Done forgets a call: what After said of it is recorded.
func (s *Store) Done(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.pending[call]; ok {
		p.stop()
	}
	delete(s.pending, call)
	if err := os.Remove(s.path(pendingName(call))); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget a snapshot: %w", err)
	}
	return nil
}

// every is how often it is noted on disk that Belay lives while a call runs.
const every = 200 * time.Millisecond

// beat notes from time to time that Belay lives, until stop is called. After a
// crash, what changed later is not certain to be the call's.
func (s *Store) beat(call string) (stop func()) {
	ended := make(chan struct{})
	s.beats.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-ended:
				return
			case now := <-t.C:
				_ = os.Chtimes(s.path(pendingName(call)), now, now) // gone, if the call is over
			}
		}
	})
	return sync.OnceFunc(func() { close(ended) })
}

func (s *Store) compare(p pending) (Changes, error) {
	if p.why != nil {
		return Changes{}, p.why
	}
	now, err := s.look(context.Background())
	if err != nil {
		return Changes{}, err
	}
	d := difference{store: s, until: p.until}
	d.between(p.tree, now, p.scope)
	return d.Changes(), nil
}

// look returns the workspace as it is now.
func (s *Store) look(ctx context.Context) (*tree, error) {
	if s.off != nil {
		return nil, s.off
	}
	began, whole := time.Now(), ctx
	ctx, cancel := context.WithTimeout(ctx, 2*s.Patience)
	defer cancel()
	if s.pack == nil || s.pack.size > 2*s.Total && len(s.pending) == 0 {
		if err := s.restart(); err != nil {
			return nil, err
		}
	}
	next := &tree{Entries: make(map[string]entry, len(s.last.Entries))}
	if info, err := s.Workspace.Stat("."); err == nil {
		next.Root = info.ModTime().UnixNano()
	}
	var total int64
	for e, err := range s.Workspace.Tree(ctx) {
		switch {
		case whole.Err() != nil:
			return nil, fmt.Errorf("look at the workspace: %w", context.Cause(whole))
		case ctx.Err() != nil: // nor would it be done in time before the next command
			s.off = fmt.Errorf("the workspace has too many files to be looked at in %s", 2*s.Patience)
			return nil, s.off
		case err != nil:
			next.Unread = append(next.Unread, e.Path)
			continue
		}
		now := entryOf(e.Info, began)
		was, known := s.last.Entries[e.Path]
		switch {
		case known && was.same(now):
			now = was
		case now.link():
			now.Target, _ = e.Target() // "" if it is gone since
		case !now.regular():
		case now.Size > s.File || total+now.Size > s.Total || time.Since(began) > s.Patience:
			now.At = notKept
		default:
			now = s.copy(e, now, was, began)
		}
		if now.At >= 0 && now.regular() {
			total += now.Size
		}
		next.Entries[e.Path] = now
	}
	s.last = next
	return next, nil
}

// copy puts the file into the pack, unless it is there.
func (s *Store) copy(e workspace.Entry, now, was entry, began time.Time) entry {
	c, err := e.Content()
	if err != nil {
		now.At = notKept
		return now
	}
	b := c.Bytes
	now = entryOf(c.Info, began)
	if c.Attrs != workspace.Plain {
		now.Attrs = c.Attrs
	}
	now.Size = int64(len(b))
	if was.regular() && was.At >= 0 && was.Size == now.Size && was.Sum == sum(b) {
		now.At, now.Sum = was.At, was.Sum
		return now
	}
	if now.At, now.Sum, err = s.pack.add(b); err != nil {
		now.At = notKept
	}
	return now
}

// restart begins with nothing.
func (s *Store) restart() error {
	if s.pack != nil {
		_ = s.pack.Close()
	}
	var err error
	if s.pack, err = createPack(s.path(packName)); err != nil {
		s.pack = nil
		return err
	}
	s.last, s.saved = &tree{}, nil
	return nil
}

// within reports whether path is at or below one of scope.
func within(path string, scope []string) bool {
	for _, on := range scope {
		if on == "." || on == "" || path == on || strings.HasPrefix(path, on+"/") {
			return true
		}
	}
	return len(scope) == 0
}

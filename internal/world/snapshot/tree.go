package snapshot

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A tree is what was in the workspace at some time. It is not changed.
type tree struct {
	Entries map[string]entry // by path
	Unread  []string         // directories that could not be read
	Root    int64            // when the root directory changed, in ns
}

// An entry is what is at a path.
type entry struct {
	Mode   fs.FileMode
	Size   int64
	Mtime  int64 // in ns
	Ctime  int64
	Inode  uint64
	Racy   bool   // it may change once more and look the same
	At     int64  // in the pack; notKept if it is not there
	Sum    uint32 // of the bytes
	Target string // of a link
	Attrs  string // "" for workspace.Plain
}

const notKept = -1

// tick is how far apart two changes of a file must be for its times to differ.
const tick = 20 * time.Millisecond

func entryOf(info fs.FileInfo, began time.Time) entry {
	e := entry{Mode: info.Mode(), Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	e.Ctime, e.Inode = identity(info)
	e.Racy = max(e.Mtime, e.Ctime) > began.Add(-tick).UnixNano()
	return e
}

func (e entry) regular() bool { return e.Mode.IsRegular() && e.Mode != 0 }
func (e entry) link() bool    { return e.Mode&fs.ModeSymlink != 0 }

// attrs returns the attributes of e.
func (e entry) attrs() string { return cmp.Or(e.Attrs, workspace.Plain) }

// kept reports whether e is of a kind that can come back.
func (e entry) kept() bool { return e.regular() || e.link() }

// same reports whether now is certainly what e was, and e is kept if it can be.
func (e entry) same(now entry) bool {
	return !e.Racy && e.Mode == now.Mode && e.Size == now.Size && e.Mtime == now.Mtime &&
		e.Ctime == now.Ctime && e.Inode == now.Inode && !(e.regular() && e.At == notKept)
}

// perm returns the permission bits as an intent has them, or edit.Link.
func (e entry) perm() string {
	if e.link() {
		return edit.Link
	}
	return fmt.Sprintf("%04o", e.Mode.Perm())
}

// A marker says on disk that a call has begun.
type marker struct {
	Scope []string `json:"scope,omitempty"`
}

// keep puts on disk what After needs in another life. While a call is pending the
// tree on disk is the one before it.
func (s *Store) keep(call string, p pending) error {
	if s.saved != s.last && (len(s.pending) == 0 || s.saved == nil) {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(p.tree); err != nil {
			return fmt.Errorf("keep a snapshot: %w", err)
		}
		if err := write(s.path(treeName), b.Bytes(), 0o600); err != nil {
			return fmt.Errorf("keep a snapshot: %w", err)
		}
		s.saved = s.last
	}
	b, err := json.Marshal(marker{p.scope})
	if err == nil {
		err = write(s.path(pendingName(call)), b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep a snapshot: %w", err)
	}
	return nil
}

// load goes on with what is on disk, as far as it can be used.
func (s *Store) load() {
	s.last = &tree{}
	b, err := os.ReadFile(s.path(treeName))
	if err != nil {
		return
	}
	t := &tree{}
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(t); err != nil {
		return
	}
	if s.pack, err = openPack(s.path(packName)); err != nil {
		s.pack = nil
		return
	}
	for path, e := range t.Entries {
		if e.At >= 0 && e.At+e.Size > s.pack.size { // lost with the power
			e.At = notKept
			t.Entries[path] = e
		}
	}
	s.last, s.saved = t, t
}

// left returns a call that an earlier life left pending.
func (s *Store) left(call string) (pending, bool) {
	b, err := os.ReadFile(s.path(pendingName(call)))
	if errors.Is(err, fs.ErrNotExist) {
		return pending{}, false
	}
	var m marker
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	info, e := os.Stat(s.path(pendingName(call)))
	err = errors.Join(err, e)
	if err == nil && s.saved == nil {
		err = errors.New("the snapshot before it cannot be read")
	}
	if err != nil {
		return pending{why: err, stop: func() {}}, true
	}
	until := info.ModTime().Add(every + tick).UnixNano()
	return pending{tree: s.saved, scope: m.Scope, until: until, stop: func() {}}, true
}

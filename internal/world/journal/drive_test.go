package journal

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

var errPower = errors.New("the power has failed")

// A drive is a model of a disk without mercy. What was not synced is lost when
// the power fails, in any part: of the writes to a file any subset of their 512
// byte sectors is kept, of the changes to a directory any subset.
type drive struct {
	r    *rand.Rand
	root *node
	fuse int  // changes until the power fails; never if it is negative
	dead bool // it has
	full bool // there is no room to be had
	bare bool // space cannot be set aside
}

// A node is a file or a directory: as it is, and what of that is safe.
type node struct {
	dir     bool
	now     map[string]*node // entries
	safe    map[string]*node
	changed []entry // not safe

	data   []byte // up to size, zeros follow
	size   int64
	still  image
	writes []patch // not safe
}

type image struct {
	data []byte
	size int64
}

type entry struct { // nil to is a name that goes, from "" a new one
	from, name string
	to         *node
}

type patch struct { // nil b sets the size to at; grow only if it is less
	at   int64
	b    []byte
	grow bool
}

func newDrive(r *rand.Rand) *drive {
	return &drive{r: r, fuse: -1, root: &node{dir: true, now: map[string]*node{}, safe: map[string]*node{}}}
}

// step is one change. It reports an error once the power has failed; at that
// very moment the change may still have happened.
func (d *drive) step(change func()) error {
	if d.dead {
		return errPower
	}
	if d.fuse == 0 {
		d.dead = true
		if d.r.IntN(2) == 0 {
			change()
		}
		return errPower
	}
	d.fuse--
	change()
	return nil
}

// fail is the power failing, and coming back.
func (d *drive) fail() {
	d.root.fail(d.r)
	d.fuse, d.dead, d.full = -1, false, false
}

func (n *node) fail(r *rand.Rand) {
	if !n.dir {
		lucky := r.IntN(8)
		for _, w := range n.writes {
			if lucky == 0 || r.IntN(2) == 0 {
				n.still.apply(w)
			}
		}
		n.writes, n.data, n.size = nil, slices.Clone(n.still.data), n.still.size
		return
	}
	for _, c := range n.changed {
		if r.IntN(2) == 0 {
			c.apply(n.safe)
		}
	}
	n.changed, n.now = nil, maps.Clone(n.safe)
	for _, name := range slices.Sorted(maps.Keys(n.now)) {
		n.now[name].fail(r)
	}
}

func (e entry) apply(m map[string]*node) {
	if e.from != "" {
		delete(m, e.from)
	}
	if e.to == nil {
		delete(m, e.name)
	} else {
		m[e.name] = e.to
	}
}

func (i *image) apply(w patch) {
	switch {
	case w.b != nil:
		end := w.at + int64(len(w.b))
		if int64(len(i.data)) < end {
			i.data = append(i.data, make([]byte, end-int64(len(i.data)))...)
		}
		copy(i.data[w.at:], w.b)
		i.size = max(i.size, end)
	case w.grow:
		i.size = max(i.size, w.at)
	default:
		i.size = w.at
		i.data = i.data[:min(int64(len(i.data)), w.at)]
	}
}

func (n *node) write(w patch) {
	now := image{n.data, n.size}
	now.apply(w)
	n.data, n.size = now.data, now.size
	n.writes = append(n.writes, w)
}

func (n *node) sync() {
	for _, w := range n.writes {
		n.still.apply(w)
	}
	n.writes = nil
}

func (n *node) change(e entry) {
	e.apply(n.now)
	n.changed = append(n.changed, e)
}

// find returns the directory that name is in, and what name is.
func (d *drive) find(name string) (dir *node, base string, n *node) {
	at := d.root
	parts := strings.Split(strings.Trim(path.Clean(name), "/"), "/")
	for _, p := range parts[:len(parts)-1] {
		if at = at.now[p]; at == nil {
			return nil, "", nil
		}
	}
	base = parts[len(parts)-1]
	return at, base, at.now[base]
}

func (d *drive) enter(dir string, _ time.Time) (io.Closer, error) {
	if d.dead {
		return nil, errPower
	}
	at, base, n := d.find(dir)
	if n == nil {
		n = &node{dir: true, now: map[string]*node{}, safe: map[string]*node{}}
		at.now[base], at.safe[base] = n, n
	}
	return io.NopCloser(nil), nil
}

func (d *drive) open(name string, flag int, _ fs.FileMode) (file, error) {
	if d.dead {
		return nil, errPower
	}
	dir, base, n := d.find(name)
	switch {
	case dir == nil || n == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case n != nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	case n == nil:
		n = &node{}
		if err := d.step(func() { dir.change(entry{name: base, to: n}) }); err != nil {
			return nil, err
		}
	case flag&os.O_TRUNC != 0:
		if err := d.step(func() { n.write(patch{}) }); err != nil {
			return nil, err
		}
	}
	return opened{d, n}, nil
}

func (d *drive) list(dir string) ([]string, error) {
	if d.dead {
		return nil, errPower
	}
	if _, _, n := d.find(dir); n != nil {
		return slices.Sorted(maps.Keys(n.now)), nil
	}
	return nil, nil
}

func (d *drive) mkdir(name string) error {
	dir, base, n := d.find(name)
	if n != nil {
		return nil
	}
	n = &node{dir: true, now: map[string]*node{}, safe: map[string]*node{}}
	return d.step(func() { dir.change(entry{name: base, to: n}) })
}

// rename is only asked for within one file system, but across directories: then
// the name that goes and the one that comes are two changes.
func (d *drive) rename(from, to string) error {
	a, old, n := d.find(from)
	b, base, _ := d.find(to)
	if n == nil || b == nil {
		return fs.ErrNotExist
	}
	return d.step(func() {
		if a == b {
			a.change(entry{from: old, name: base, to: n})
			return
		}
		b.change(entry{name: base, to: n})
		a.change(entry{name: old})
	})
}

func (d *drive) remove(name string) error {
	dir, base, n := d.find(name)
	if n == nil {
		return fs.ErrNotExist
	}
	return d.step(func() { dir.change(entry{name: base}) })
}

func (d *drive) syncDir(dir string) error {
	_, _, n := d.find(dir)
	return d.step(func() {
		for _, c := range n.changed {
			c.apply(n.safe)
		}
		n.changed = nil
	})
}

// opened is a file of a drive.
type opened struct {
	d *drive
	n *node
}

func (o opened) ReadAt(p []byte, at int64) (int, error) {
	if o.d.dead {
		return 0, errPower
	}
	if at >= o.n.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), o.n.size-at))
	have := 0
	if at < int64(len(o.n.data)) {
		have = copy(p[:n], o.n.data[at:])
	}
	clear(p[have:n])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (o opened) WriteAt(p []byte, at int64) (int, error) {
	room := len(p)
	if o.d.full && at+int64(len(p)) > o.n.size {
		room = int(max(o.n.size-at, 0)) + o.d.r.IntN(1+len(p)-int(max(o.n.size-at, 0)))
	}
	err := o.d.step(func() {
		for rest := p[:room]; len(rest) > 0; {
			n := min(int(512-at%512), len(rest))
			o.n.write(patch{at: at, b: slices.Clone(rest[:n])})
			rest, at = rest[n:], at+int64(n)
		}
	})
	if err == nil && room < len(p) {
		err = syscall.ENOSPC
	}
	return room, err
}

func (o opened) Close() error         { return nil }
func (o opened) size() (int64, error) { return o.n.size, nil }

func (o opened) truncate(n int64) error { return o.d.step(func() { o.n.write(patch{at: n}) }) }

func (o opened) reserve(at, n int64) error {
	if o.d.bare {
		return errors.ErrUnsupported
	}
	if o.d.full {
		return syscall.ENOSPC
	}
	return o.d.step(func() { o.n.write(patch{at: at + n, grow: true}) })
}

func (o opened) sync() error { return o.d.step(o.n.sync) }

func (o opened) syncData() error { return o.d.step(o.n.sync) }

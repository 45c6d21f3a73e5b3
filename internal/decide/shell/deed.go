package shell

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// A deed collects what one part does.
type deed struct {
	r   *run
	s   *state // where it is done; nil is nowhere
	set effect.Set
	why string // it is no narrower

	unseen string // what it runs that is not in its words
}

func (r *run) deed(s *state) *deed { return &deed{r: r, s: s} }

func has(s effect.Set, e effect.Effect) bool { return slices.Contains(s, e) }

func (d *deed) add(e effect.Effect) {
	if !has(d.set, e) {
		d.set = append(d.set, e)
	}
}

// unclear notes that words are not understood.
func (d *deed) unclear(format string, a ...any) { d.bound("", fmt.Sprintf(format, a...)) }

// code notes that what is understood runs code from elsewhere.
func (d *deed) code(format string, a ...any) { d.bound(Code, fmt.Sprintf(format, a...)) }

func (d *deed) bound(on, why string) {
	d.add(effect.Effect{Kind: effect.Anything, On: on})
	if d.why == "" {
		d.why = why
	}
}

// hides notes that it runs what is not in its words: see tool.Part.Unseen.
func (d *deed) hides(format string, a ...any) {
	if d.unseen == "" {
		d.unseen = fmt.Sprintf(format, a...)
	}
}

func (d *deed) process(name string) { d.add(effect.Effect{Kind: effect.Process, On: name}) }

func (d *deed) permanent() { d.add(effect.Effect{Kind: effect.Permanent}) }

// path notes that a path is read or written, with all below it if tree is set.
func (d *deed) path(kind effect.Kind, a arg, tree bool) {
	switch {
	case a.pipe && kind == effect.Read:
		return
	case a.pipe || !a.known:
		d.add(effect.Effect{Kind: kind})
		d.unclear("%s is a path that is not written out", a.shown)
		return
	case inert(kind, a.text, tree):
		return
	}
	if host, ok := strings.CutPrefix(path.Clean(a.text), "/dev/tcp/"); ok || strings.HasPrefix(a.text, "/dev/udp/") {
		d.host(strings.TrimPrefix(host, "/dev/udp/"))
	}
	if d.s == nil || len(d.s.dirs) == 0 && !path.IsAbs(a.text) {
		d.add(effect.Effect{Kind: kind})
		d.unclear("the directory of %s is not known", a.shown)
		return
	}
	for _, at := range d.at(a.text) {
		d.add(effect.Effect{Kind: kind, On: at, Tree: tree})
	}
}

// inert reports whether p is a device, or one of the command's own
// descriptors, that gives and takes bytes and no more. A tree that is written is
// changed itself, as by chmod.
func inert(kind effect.Kind, p string, tree bool) bool {
	switch p {
	case "/dev/null":
		return kind == effect.Read || !tree
	case "/dev/zero", "/dev/random", "/dev/urandom":
		return kind == effect.Read
	case "/dev/stdout", "/dev/stderr":
		return kind == effect.Write && !tree
	}
	return false
}

// replaced notes that what is at a path is written, or gives way to something
// else: where the path is a link, that may be the link itself.
func (d *deed) replaced(a arg, tree bool) {
	d.path(effect.Write, a, tree)
	d.name(a, tree)
}

// name notes that a name is given to something else, wherever it leads now.
func (d *deed) name(a arg, tree bool) {
	p := strings.TrimRight(a.text, "/")
	if !a.known || a.pipe || p == "" || d.s == nil {
		return
	}
	dirs := d.s.dirs
	if path.IsAbs(p) {
		dirs = []string{"/"}
	}
	for _, dir := range dirs {
		whole := join(dir, p)
		i := strings.LastIndexByte(whole, '/')
		parent, last := cmp.Or(whole[:i+1], "."), whole[i+1:]
		if in := d.r.lead(parent); in != "" && last != "." && last != ".." {
			d.add(effect.Effect{Kind: effect.Write, On: path.Join(in, last), Tree: tree})
		}
	}
}

// at returns where a path leads from each directory that d may be done in.
func (d *deed) at(p string) (all []string) {
	if path.IsAbs(p) {
		return []string{d.r.lead(p)}
	}
	for _, dir := range d.s.dirs {
		all = append(all, d.r.lead(join(dir, p)))
	}
	return all
}

// first is where a path leads, "" if that is not known or hangs on the directory.
func (d *deed) first(a arg) string {
	if all := d.at(a.text); len(all) == 1 {
		return all[0]
	}
	return ""
}

// join does not clean: ".." behind a link leads where the system says.
func join(dir, p string) string {
	switch {
	case path.IsAbs(p):
		return p
	case dir == "." || dir == "./":
		return p
	}
	return strings.TrimSuffix(dir, "/") + "/" + p
}

func (r *run) lead(p string) string {
	if p == "" {
		return ""
	}
	inside, _ := r.Resolve(p)
	return inside
}

// host notes that a host is talked to; "" is any.
func (d *deed) host(address string) {
	if _, after, ok := strings.Cut(address, "://"); ok {
		address = after
	}
	address, _, _ = strings.Cut(address, "/")
	address, _, _ = strings.Cut(address, "?")
	if i := strings.LastIndexByte(address, '@'); i >= 0 {
		address = address[i+1:]
	}
	if strings.HasPrefix(address, "[") {
		address, _, _ = strings.Cut(address[1:], "]")
	} else {
		address, _, _ = strings.Cut(address, ":")
	}
	d.add(effect.Effect{Kind: effect.Network, On: strings.ToLower(address)})
}

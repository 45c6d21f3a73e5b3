package effect

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"
	"time"
)

// The oracle models an effect as the cells of a small world that it changes or
// depends on, found by walking up paths and by enumeration.

var (
	named = []string{ // the paths that effects name
		".", "a", "a/b", "a/b/c", "a/bc", "a/bc/c", "ab", "b",
		".git", ".git/index", "a/.git", "a/.git/index", "a/.Git/HEAD", "a/.gitx",
		"/", "/o", "/o/p", "/op", "/o/.git", "/o/.git/index",
	}
	words = []string{"x.test", "y.test"} // the hosts and names that they name
	kinds = []Kind{Read, Write, Process, Network, Git, Resource, Permanent, Anything, "unheard of"}
)

// domain is what effects of kind k may be on. It holds members that no effect
// names, so that a tree, or "", is more than the sum of what is named.
func domain(k Kind) []string {
	if k != Read && k != Write {
		return append([]string{"~unnamed"}, words...)
	}
	all := append([]string(nil), named...)
	for _, p := range named {
		all = append(all, path.Join(p, "~unnamed"), path.Join(p, ".git/~unnamed"))
	}
	return all
}

// below walks up from p to see whether it is dir or below it.
func below(p, dir string) bool {
	for p != dir {
		switch p {
		case "/":
			return false
		case ".":
			p = "/"
		default:
			p = path.Dir(p)
		}
	}
	return true
}

// reach is the part of its kind's domain that e is on.
func reach(e Effect) (on []string) {
	for _, d := range domain(e.Kind) {
		isPath := e.Kind == Read || e.Kind == Write
		if e.On == "" || e.On == d || isPath && e.Tree && below(d, e.On) {
			on = append(on, d)
		}
	}
	return on
}

// touches maps each cell that e touches to whether it changes it. A path's cell
// also depends on what is above and below it.
func touches(e Effect) map[string]bool {
	cells := make(map[string]bool)
	touch := func(cell string, changes bool) { cells[cell] = cells[cell] || changes }
	switch e.Kind {
	case Read, Write:
		for _, p := range reach(e) {
			touch("path "+p, e.Kind == Write)
			for _, q := range domain(Read) {
				if below(p, q) || below(q, p) {
					touch("path "+q, false)
				}
			}
			if inGit(p) {
				touch("data of "+p, e.Kind == Write)
			}
		}
	case Network, Resource:
		for _, w := range reach(e) {
			touch(string(e.Kind)+" "+w, true)
		}
	case Git:
		touch("repository", true)
		for _, p := range domain(Read) {
			if inGit(p) {
				touch("data of "+p, true)
			}
		}
	case Process:
		touch("process", false)
	default:
		touch("process", true)
		for _, k := range []Kind{Write, Network, Resource, Git} {
			for cell := range touches(Effect{Kind: k}) {
				touch(cell, true)
			}
		}
	}
	return cells
}

func inGit(p string) bool { return strings.Contains("/"+strings.ToLower(p)+"/", "/.git/") }

// An oracle remembers what each effect touches.
type oracle map[Effect]map[string]bool

func newOracle() oracle {
	o := make(oracle)
	for _, e := range every() {
		o[e] = touches(e)
	}
	return o
}

func (o oracle) conflicts(s, t Set) bool {
	for _, e := range s {
		for _, f := range t {
			theirs := o[f]
			for cell, changes := range o[e] {
				if changed, touched := theirs[cell]; touched && (changes || changed) {
					return true
				}
			}
		}
	}
	return false
}

// permits is everything that s allows, one string each.
func permits(s Set) map[string]bool {
	out := make(map[string]bool)
	for _, e := range s {
		for _, k := range kinds {
			if k == e.Kind || e.Kind == Anything && k != Permanent {
				all := Effect{Kind: k, On: e.On, Tree: e.Tree}
				if e.Kind == Anything {
					all = Effect{Kind: k}
				}
				for _, d := range reach(all) {
					out[string(k)+" "+d] = true
				}
			}
		}
	}
	return out
}

func (oracle) covers(s, t Set) bool {
	allowed := permits(s)
	for p := range permits(t) {
		if !allowed[p] {
			return false
		}
	}
	return true
}

// every returns each effect that the small world can express.
func every() (all []Effect) {
	for _, k := range kinds {
		on := append([]string{""}, words...)
		if k == Read || k == Write {
			on = append([]string{""}, named...)
		}
		for _, o := range on {
			all = append(all, Effect{Kind: k, On: o})
			if k == Read || k == Write {
				all = append(all, Effect{Kind: k, On: o, Tree: true})
			}
		}
	}
	return all
}

// sets returns a source of random sets of at most three effects. A failing test
// shows its seed.
func sets(t *testing.T) func() Set {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r, pool := rand.New(rand.NewPCG(seed, 0)), every()
	return func() Set {
		s := make(Set, r.IntN(4))
		for i := range s {
			s[i] = pool[r.IntN(len(pool))]
		}
		return s
	}
}

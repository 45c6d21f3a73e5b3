package schedule

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// A call of the model world does its effects one after the other, each in one
// or two steps between which other calls may come.
type call []effect.Effect

func sets(calls []call) (out []effect.Set) {
	for _, c := range calls {
		out = append(out, effect.Set(c))
	}
	return out
}

var (
	paths = []string{".", "a", "a/b", "a/b/c", "a/bc", "ab", ".git/index", "/out", "/out/x"}
	pool  = []effect.Effect{
		{Kind: effect.Process}, {Kind: effect.Git}, {Kind: effect.Permanent}, {Kind: effect.Anything},
		{Kind: effect.Network, On: "x.test"}, {Kind: effect.Network, On: "y.test"}, {Kind: effect.Network},
		{Kind: effect.Resource, On: "port:80"}, {Kind: effect.Resource, On: "port:81"},
	}
)

func randomCalls(r *rand.Rand) []call {
	calls := make([]call, r.IntN(6))
	for i := range calls {
		for range 1 + r.IntN(2) {
			if r.IntN(4) == 0 {
				calls[i] = append(calls[i], pool[r.IntN(len(pool))])
				continue
			}
			kind := []effect.Kind{effect.Read, effect.Write}[r.IntN(2)]
			calls[i] = append(calls[i], effect.Effect{Kind: kind, On: paths[r.IntN(len(paths))], Tree: r.IntN(3) == 0})
		}
	}
	return calls
}

// A world has files, whose directories are there as long as they hold one, and
// logs of what happened to everything that is not a file.
type world struct {
	Files map[string]string
	Logs  map[string]string
}

func newWorld() *world {
	return &world{
		Files: map[string]string{"a/b/c": "", ".git/index": "", "/out/x": "", "ab": ""},
		Logs:  map[string]string{},
	}
}

// under reports whether p is below dir.
func under(p, dir string) bool {
	switch dir {
	case ".":
		return !strings.HasPrefix(p, "/")
	case "/":
		return true
	}
	return strings.HasPrefix(p, dir+"/")
}

// look returns what a read of p sees: a file, the names in a directory, or why
// there is nothing. A tree shows the content of all below.
func (w *world) look(p string, tree bool) string {
	seen := ""
	for _, f := range slices.Sorted(maps.Keys(w.Files)) {
		switch {
		case f == p:
			seen += "file " + w.Files[f]
		case under(p, f):
			seen += "not a directory: " + f
		case under(f, p) && tree:
			seen += f + "=" + w.Files[f] + ";"
		case under(f, p):
			first, _, _ := strings.Cut(strings.TrimPrefix(f, p+"/"), "/")
			seen += first + ";"
		}
	}
	return seen
}

// put writes p and reports how that went. What is written in a directory is a
// file of its own; a tree is cleared first.
func (w *world) put(p, text string, tree bool) string {
	if tree {
		maps.DeleteFunc(w.Files, func(f, _ string) bool { return under(f, p) })
	}
	for f := range w.Files {
		if under(p, f) {
			return "not a directory"
		}
		if under(f, p) {
			return "is a directory"
		}
	}
	if p == "." {
		return "is a directory"
	}
	if text == "remove" {
		delete(w.Files, p)
		return "removed"
	}
	w.Files[p] = text
	return "written"
}

// steps are what call i does, one at a time. Each returns what it saw.
func steps(w *world, i int, c call) (out []func() string) {
	note := func(log string) func() string {
		return func() string {
			w.Logs[log] += fmt.Sprint(i, ";")
			return w.Logs[log]
		}
	}
	for n, e := range c {
		switch e.Kind {
		case effect.Read:
			out = append(out, func() string { return w.look(e.On, e.Tree) })
		case effect.Write: // depends on what was there, as an edit does
			before := ""
			out = append(out,
				func() string { before = w.look(e.On, e.Tree); return before },
				func() string {
					text := fmt.Sprint(len(before), "+", i, ".", n)
					if (i+len(before))%3 == 0 {
						text = "remove"
					}
					return w.put(e.On, text, e.Tree)
				})
		case effect.Process:
			out = append(out, func() string { return "started" })
		case effect.Git:
			out = append(out, note("git"), func() string {
				if _, ok := w.Files[".git/index"]; !ok {
					return "not a repository"
				}
				return w.put(".git/index", fmt.Sprint("git ", i), false)
			})
		case effect.Network, effect.Resource:
			hosts := []string{e.On}
			if e.On == "" {
				hosts = []string{"x.test", "y.test"}
			}
			for _, h := range hosts {
				out = append(out, note(h), note(h))
			}
		default: // sees everything and leaves a mark everywhere
			out = append(out,
				func() string { return w.look(".", true) + w.look("/out", true) + fmt.Sprint(w.Logs) },
				func() string {
					for f := range w.Files {
						w.Files[f] += fmt.Sprint("!", i)
					}
					for _, log := range []string{"git", "x.test", "y.test", "port:80", "port:81"} {
						note(log)()
					}
					return "done"
				})
		}
	}
	return out
}

// An outcome is what a run left, what each call saw, and the most calls that
// were under way at once.
type outcome struct {
	world *world
	saw   [][]string
	most  int
}

// run takes steps of calls whose waits are over, in an order that r chooses.
func run(calls []call, waits Waits, r *rand.Rand) outcome {
	o := outcome{world: newWorld(), saw: make([][]string, len(calls))}
	todo := make([][]func() string, len(calls))
	for i, c := range calls {
		todo[i] = steps(o.world, i, c)
	}
	over := func(i int) bool { return len(todo[i]) == 0 }
	for {
		var ready []int
		underway := 0
		for i := range calls {
			if !over(i) && !slices.ContainsFunc(waits[i], func(j int) bool { return !over(j) }) {
				ready = append(ready, i)
				if len(o.saw[i]) > 0 {
					underway++
				}
			}
		}
		if o.most = max(o.most, underway); len(ready) == 0 {
			return o
		}
		i := ready[r.IntN(len(ready))]
		o.saw[i] = append(o.saw[i], todo[i][0]())
		todo[i] = todo[i][1:]
	}
}

// serially makes each call wait for all before it.
func serially(calls []call) Waits {
	waits := make(Waits, len(calls))
	for i := range calls {
		for j := range i {
			waits[i] = append(waits[i], j)
		}
	}
	return waits
}

package prompt

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/pattern"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// How much a query asks for at most: a person names few things, and of a failure
// the first places say most.
const (
	maxMentions = 12
	maxSpots    = 12
	maxChanged  = 20
)

// QueryFor returns what the next request needs to know. It is a function of the
// newest turn alone.
func QueryFor(s *session.State) recall.Query {
	n := look(s)
	q := recall.Query{Phase: n.phase, Goal: n.goal, Mentions: mentions(n.goal), Changed: changes(s), Diffs: n.far}
	if n.phase == recall.Failing {
		q.Failing = spots(n.said, n.run.Text, s.Opened().Root)
	}
	return q
}

// mentioned finds what may name a file, in the first group, or a symbol: what is
// written as code, called, or has capitals or low lines within. Whether there is
// such a thing the repository knows.
var mentioned = pattern.Later(`((?:[\w.\-]+/)+[\w.\-]*\w|\w[\w.\-]*\.[A-Za-z]\w{0,5}\b)` +
	"|`([A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)?)`" +
	`|\b([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)\(` +
	`|\b([a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Za-z]+_\w+)\b`)

// mentions returns what words seem to name, once each, in their order. What is
// named by an @ is left out: of that the model is told by itself.
func mentions(words string) []string {
	var names []string
	for _, m := range mentioned().FindAllStringSubmatchIndex(words, -1) {
		if m[0] > 0 && words[m[0]-1] == '@' {
			continue
		}
		for g := 2; g < len(m); g += 2 {
			if m[g] < 0 || len(names) == maxMentions {
				continue
			}
			if name := words[m[g]:m[g+1]]; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// A place in an output: "a/b.go:12", as most tools write it, or as Python does.
var placed = pattern.Later(`([\w.\-/\\]*[\w\-]\.[A-Za-z]\w{0,5}):(\d{1,6})\b|File "([^"\n]+)", line (\d{1,6})`)

// spots returns where a failure points to: the cases first, as the tool that read
// the output found them, then what else the text names, such as a stack.
func spots(v verdict, text, root string) []recall.Spot {
	var all []recall.Spot
	add := func(file string, line int, why string) {
		file = strings.TrimPrefix(strings.TrimPrefix(file, strings.TrimSuffix(root, "/")+"/"), "./")
		known := slices.ContainsFunc(all, func(s recall.Spot) bool {
			return s.Line == line && path.Base(s.Path) == path.Base(file)
		})
		if file != "" && !known && len(all) < maxSpots {
			all = append(all, recall.Spot{Path: file, Line: line, Why: why})
		}
	}
	lists := append([]report{{v.Failing, v.Problems}}, v.Reports...)
	for _, r := range lists {
		for _, c := range r.Failing {
			add(c.File, c.Line, "fails: "+c.Name)
		}
		for _, p := range r.Problems {
			add(p.File, p.Line, "does not build")
		}
	}
	at := placed()
	for _, r := range lists {
		for _, c := range append(slices.Clone(r.Failing), r.Problems...) {
			places(at, c.Message, "in the message of a failure", add)
		}
	}
	places(at, text, "in the output of a failure", add)
	return all
}

func places(at *regexp.Regexp, text, why string, add func(string, int, string)) {
	for _, m := range at.FindAllStringSubmatch(text, 4*maxSpots) {
		file, number := m[1]+m[3], m[2]+m[4]
		if line, err := strconv.Atoi(number); err == nil {
			add(file, line, why)
		}
	}
}

// changes returns the files that calls in the talk changed, newest first.
func changes(s *session.State) []recall.Change {
	first := make(map[string]string)
	var order []string
	for _, x := range s.Talk() {
		for _, r := range x.Results {
			order = changedBy(r, first, order)
		}
	}
	slices.Reverse(order)
	var all []recall.Change
	for _, p := range order[:min(len(order), maxChanged)] {
		all = append(all, recall.Change{Path: p, Base: first[p]})
	}
	return all
}

// changedBy adds what r changed: to first the digest before the first change, to
// the end of order its path.
func changedBy(r *tool.Result, first map[string]string, order []string) []string {
	if r == nil {
		return order
	}
	for _, e := range r.Edits {
		if _, known := first[e.Path]; known {
			order = slices.DeleteFunc(order, func(p string) bool { return p == e.Path })
		} else {
			first[e.Path] = e.Base
		}
		order = append(order, e.Path)
	}
	return order
}

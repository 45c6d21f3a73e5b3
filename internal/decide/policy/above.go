package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// takes reports whether part, a command, takes away or moves a directory above what
// r keeps from being written: "mv api old" for Edit(api/x.go). A glob that may be
// for files anywhere is not looked for.
func (r Rule) takes(t tool.Spec, part tool.Part, c command) bool {
	if onlyPaths(t) || !slices.Contains(alike("Edit"), r.Tool) || r.Pattern == "" {
		return false
	}
	if r.Ban != nil && r.Ban.Except != "" {
		return false
	}
	kept := fixed(r.Pattern)
	if kept == "" {
		return false
	}
	words, _ := split(part.Name)
	var operands []string
	for _, w := range words {
		if !option(w) && !assigns(w.text) {
			operands = append(operands, path.Clean(w.text))
		}
	}
	switch {
	case forbids("mv **", c) && len(operands) > 2, forbids("git mv **", c) && len(operands) > 3:
		operands = operands[:len(operands)-1] // what it is moved to
	case forbids("rm **", c), forbids("rmdir **", c), forbids("git rm **", c):
	default:
		return false
	}
	for _, e := range part.Effects {
		if e.Kind != effect.Write || e.On == "" || !strings.HasPrefix(kept, e.On+"/") {
			continue
		}
		if slices.ContainsFunc(operands, func(o string) bool {
			return e.On == o || path.IsAbs(o) && strings.HasSuffix(o, "/"+e.On) || strings.HasSuffix(e.On, "/"+o)
		}) {
			return true
		}
	}
	return false
}

// fixed returns the path that everything a glob is for is at or below, "" if there
// is none.
func fixed(pattern string) string {
	var out []string
	for _, element := range strings.Split(strings.TrimPrefix(pattern, "./"), "/") {
		if strings.ContainsAny(element, "*?[{") {
			break
		}
		out = append(out, element)
	}
	return strings.Join(out, "/")
}

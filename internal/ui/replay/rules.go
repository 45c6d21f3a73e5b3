package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/rulefile"
)

// A NoRule reports a change of a rule file that the session does not have and could
// not have.
type NoRule struct {
	Path string
	Has  []string
}

func (e *NoRule) Error() string {
	has := "none"
	if len(e.Has) > 0 {
		has = strings.Join(e.Has, ", ")
	}
	if !rulefile.Is(e.Path) {
		return fmt.Sprintf("%q is not the path of a rule file, which is named %s; the session has %s", e.Path, strings.Join(rulefile.Names(), ", "), has)
	}
	return fmt.Sprintf("there is no rule file %q in the session; it has %s", e.Path, has)
}

// RuleFiles returns the paths of the rule files that the session had at any time, the
// one that counts most last.
func (r *Recording) RuleFiles() []string {
	had := make(map[string]bool)
	for _, f := range r.ruled {
		had[f.Path] = true
	}
	return slices.SortedFunc(maps.Keys(had), rulefile.Compare)
}

// New returns the rule files of c that the session had at no time: they come where it
// begins or, below the root, where its calls first are at work for what they hold.
func (r *Recording) New(c Change) (paths []string) {
	had := r.RuleFiles()
	for _, path := range slices.SortedFunc(maps.Keys(c.Rules), rulefile.Compare) {
		if !slices.Contains(had, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// ruleable reports a *NoRule if there can be no such change.
func (r *Recording) ruleable(changed map[string]string) error {
	for _, path := range r.New(Change{Rules: changed}) {
		if changed[path] == "" || !rulefile.Is(path) {
			return &NoRule{Path: path, Has: r.RuleFiles()}
		}
	}
	return nil
}

// rulesAt returns the rule files as they stood after the first n facts about them,
// but for those that are changed. Of these one that was not there then is there if
// it holds for the root or for one of paths.
func (r *Recording) rulesAt(n int, changed map[string]string, paths []string) (files []event.Ruled) {
	texts := make(map[string]event.Ruled)
	for _, f := range r.ruled[:n] {
		texts[f.Path] = f.Ruled
	}
	for path, text := range changed {
		_, had := texts[path]
		holds := !rulefile.Nested(path) || slices.ContainsFunc(paths, func(p string) bool { return rulefile.Holds(path, p) })
		if had || holds {
			texts[path] = event.Ruled{Path: path, Digest: "changed", Text: text}
		}
	}
	for _, path := range slices.SortedFunc(maps.Keys(texts), rulefile.Compare) {
		if f := texts[path]; !f.Gone() {
			files = append(files, f)
		}
	}
	return files
}

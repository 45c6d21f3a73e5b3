package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/rulefile"
)

// maxRules bounds the bytes of a rule file: rules are part of every request.
const maxRules = 64 << 10

// A RuleFile is a file with a project's rules for a model.
type RuleFile struct {
	Path            string // from the root, also where it is above that: "../AGENTS.md"
	Content, Digest string // as in a Text
	Left            string // why there is no Content; "" if there is
}

// RuleFiles returns the rule files that hold for paths and for the root, the one that
// counts most last: those of the root, of each folder on the way from there to one of
// paths, and of those above the root up to the top of its repository. Within a folder
// one that says the same as another is returned once, under the name that counts most.
// What is hidden, ignored, a dependency or outside has no rules for what is in it.
//
// One that is there and cannot be read, or is too long, is an error at the root.
// Elsewhere it has Left: rules are not left out silently.
func (w *Workspace) RuleFiles(paths ...string) ([]RuleFile, error) {
	files := w.rulesAbove()
	for _, f := range w.rulesIn(".") {
		if f.Left != "" {
			return nil, fmt.Errorf("read the rules of the project: %s", f.Left)
		}
		files = append(files, f)
	}
	own := ownership{w: w, rules: make(map[string]ignores), foreign: make(map[string]bool)}
	for _, folder := range w.folders(paths) {
		if nested := w.rulesIn(folder); len(nested) > 0 && !own.isForeign(folder) {
			files = append(files, nested...)
		}
	}
	return files, nil
}

// folders returns those below the root on the way to paths, and paths themselves,
// the one whose rules count most last: what is no folder has nothing in it.
func (w *Workspace) folders(paths []string) []string {
	found := make(map[string]bool)
	var all []string
	for _, p := range paths {
		at, err := w.resolve(p)
		for err != nil && p != path.Dir(p) { // what leads nowhere or out is in a folder, too
			p = path.Dir(p)
			at, err = w.resolve(p)
		}
		if err != nil {
			continue
		}
		for dir := at; dir != "." && !found[dir]; dir = filepath.Dir(dir) {
			found[dir] = true
			all = append(all, dir)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return rulefile.Compare(filepath.ToSlash(a)+"/", filepath.ToSlash(b)+"/")
	})
	return all
}

// rulesIn returns the rule files in a folder, which is a resolved path.
func (w *Workspace) rulesIn(folder string) (files []RuleFile) {
	for _, name := range rulefile.Names() {
		at := filepath.Join(folder, name)
		if _, err := w.root.Lstat(at); absent(reason(err)) {
			continue
		}
		f := RuleFile{Path: slash(at)}
		text, err := w.Read(f.Path)
		f.Content, f.Digest = text.Content, text.Digest
		switch {
		case err != nil:
			f.Left = err.Error()
		case text.Size > maxRules:
			f.Content, f.Left = "", fmt.Sprintf("%s has %d bytes, and may have %d", f.Path, text.Size, maxRules)
		case f.Content == "":
			continue
		}
		for i, other := range files {
			if f.Left == "" && f.Digest == other.Digest {
				files = append(files[:i], files[i+1:]...)
				break
			}
		}
		files = append(files, f)
	}
	return files
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotDirectory)
}

// dependencies are folders that hold what others wrote.
var dependencies = []string{"node_modules", "bower_components", "vendor", "site-packages"}

// An ownership tells the folders that are the project's own from others, each once.
type ownership struct {
	w       *Workspace
	rules   map[string]ignores // of what is in a folder
	foreign map[string]bool
}

// isForeign reports whether a folder, or one that it is in, is hidden, ignored, or of
// what the project depends on.
func (o ownership) isForeign(folder string) bool {
	if folder == "." {
		return false
	}
	foreign, known := o.foreign[folder]
	if !known {
		name, in := filepath.Base(folder), filepath.Dir(folder)
		foreign = strings.HasPrefix(name, ".") || slices.Contains(dependencies, name) ||
			o.isForeign(in) || o.ignores(in).ignored(folder, true)
		o.foreign[folder] = foreign
	}
	return foreign
}

func (o ownership) ignores(folder string) ignores {
	rules, known := o.rules[folder]
	if !known {
		if folder == "." {
			rules = o.w.ignores(".")
		} else {
			rules = o.ignores(filepath.Dir(folder))
		}
		rules = rules.with(o.w.root, folder)
		o.rules[folder] = rules
	}
	return rules
}

// rulesAbove returns the rule files of the folders above the root, up to the top of
// the repository that it is in.
func (w *Workspace) rulesAbove() (files []RuleFile) {
	top := w.top()
	rel, err := filepath.Rel(top, w.dir)
	if err != nil || rel == "." {
		return nil
	}
	up := strings.Count(filepath.ToSlash(rel), "/") + 1
	repository, err := Open(top)
	if err != nil { // nobody knows what is there
		names := rulefile.Names()
		return []RuleFile{{Path: strings.Repeat("../", up) + names[len(names)-1], Left: err.Error()}}
	}
	defer repository.Close()
	for ; up > 0; up-- {
		above := strings.Repeat("../", up)
		for _, f := range repository.rulesIn(filepath.Join(rel, above)) {
			if f.Left == "" && !repository.trusts(f.Path, w.dir) {
				f.Content, f.Left = "", "it belongs to another user"
			}
			f.Path = above + path.Base(f.Path)
			files = append(files, f)
		}
	}
	return files
}

// trusts reports whether the file at path, above a folder that someone works in, is
// from somebody who may say how: whoever runs Belay, the owner of the system or that of
// the folder. A directory that all may write is no place to leave rules for others.
func (w *Workspace) trusts(path, folder string) bool {
	file, err := w.Stat(path)
	if err != nil {
		return false
	}
	owner, known := ownerOf(file)
	if !known || owner == os.Geteuid() || owner == 0 {
		return true
	}
	info, err := os.Stat(folder)
	if err != nil {
		return false
	}
	own, known := ownerOf(info)
	return known && owner == own
}

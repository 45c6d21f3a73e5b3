package workspace

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxIgnore is how much of an ignore file is read, in bytes.
const maxIgnore = 1 << 20

// ignores are the rules of all .gitignore files that bear on a directory, as git
// understands them: those of the repository's top, even above the workspace,
// down to the directory. Without a repository the top is the workspace.
// What git tracks although a rule says ignore counts as ignored.
type ignores struct {
	prefix string       // from the top to the workspace, with slashes; "" or "a/b/"
	files  []ignoreFile // the later wins
}

// An ignoreFile is the rules of one file, for what is below its directory.
type ignoreFile struct {
	dir   string // from the top, with slashes; "" or "a/b/"
	rules []rule // the later wins
}

// ignores returns the rules that bear on the directory at, but for its own.
func (w *Workspace) ignores(at string) ignores {
	var r ignores
	top := w.top()
	if rel, err := filepath.Rel(top, w.dir); err == nil && rel != "." {
		r.prefix = filepath.ToSlash(rel) + "/"
	}
	if root, err := os.OpenRoot(top); err == nil {
		defer root.Close()
		r.add(root, filepath.Join(".git", "info", "exclude"), "")
		for dir := range parents(r.prefix) {
			r.add(root, filepath.Join(filepath.FromSlash(dir), ".gitignore"), dir)
		}
	}
	if at != "." {
		for dir := range parents(filepath.ToSlash(at) + "/") {
			r = r.with(w.root, filepath.FromSlash(path.Clean(dir)))
		}
	}
	return r
}

// parents yields the directories above dir, a path with a slash at its end, from "" on.
func parents(dir string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := 0; i < len(dir); i++ {
			if (i == 0 || dir[i-1] == '/') && !yield(dir[:i]) {
				return
			}
		}
	}
}

// top returns the nearest directory at or above the workspace that has a .git,
// or else the workspace.
func (w *Workspace) top() string {
	for dir := w.dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return w.dir
		}
	}
}

// with returns the rules with those of the directory at added.
func (r ignores) with(root *os.Root, at string) ignores {
	dir := r.prefix
	if at != "." {
		dir += filepath.ToSlash(at) + "/"
	}
	r.files = r.files[:len(r.files):len(r.files)] // the caller's stay as they are
	r.add(root, filepath.Join(at, ".gitignore"), dir)
	return r
}

// add adds the rules of the file at, if it is one.
func (r *ignores) add(root *os.Root, at, dir string) {
	f, _, err := open(root, at)
	if err != nil {
		return
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return
	}
	if rules := parseRules(string(b)); len(rules) > 0 {
		r.files = append(r.files, ignoreFile{dir, rules})
	}
}

// ignored reports whether the last rule that matches the entry at says so.
func (r ignores) ignored(at string, dir bool) bool {
	full := r.prefix + filepath.ToSlash(at)
	for i := len(r.files) - 1; i >= 0; i-- {
		f := r.files[i]
		inner, ok := strings.CutPrefix(full, f.dir)
		if !ok {
			continue
		}
		for n := len(f.rules) - 1; n >= 0; n-- {
			if f.rules[n].matches(inner, dir) {
				return !f.rules[n].keep
			}
		}
	}
	return false
}

// A rule is one line of an ignore file.
type rule struct {
	keep     bool     // begins with "!"
	onlyDirs bool     // ends with "/"
	anywhere bool     // has no other "/": holds for the name alone
	elements []string // of the pattern
}

// parseRules reads an ignore file as git does. It has no errors: a line that
// makes no sense matches nothing.
func parseRules(s string) []rule {
	var rules []rule
	for line := range strings.Lines(strings.TrimPrefix(s, mark)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if r, ok := parseRule(trimSpaces(line)); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseRule(line string) (r rule, ok bool) {
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.onlyDirs = strings.CutSuffix(line, "/")
	if line == "" {
		return r, false
	}
	r.anywhere = !strings.Contains(line, "/")
	r.elements = elements(strings.TrimPrefix(line, "/"))
	return r, len(r.elements) > 0
}

// elements splits a pattern at its slashes, but not within brackets. One with a
// bracket that does not close has no elements, as it matches nothing.
func elements(pattern string) []string {
	var out []string
	start := 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '/':
			out = append(out, strings.TrimSuffix(pattern[start:i], `\`)) // an escaped slash is a slash
			start = i + 1
		case '\\':
			if i+1 < len(pattern) && pattern[i+1] != '/' {
				i++
			}
		case '[':
			_, width := matchSet(pattern[i:], 0)
			if width == 0 {
				return nil
			}
			i += width - 1
		}
	}
	return append(out, pattern[start:])
}

// trimSpaces removes spaces at the end that no backslash protects.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// matches reports whether the rule's pattern is that of a path relative to the
// rule's directory.
func (r rule) matches(inner string, dir bool) bool {
	switch {
	case r.onlyDirs && !dir:
		return false
	case r.anywhere:
		return matchName(r.elements[0], path.Base(inner))
	}
	return matchPath(r.elements, strings.Split(inner, "/"))
}

package toolbox

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-agent/belay/internal/decide/shell"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// World is what a command line that o runs in w depends on. Its answers can be
// changed by others at any time: it is for policy, what acts is confined on its own.
func World(w *workspace.Workspace, o BashOptions) shell.World {
	return shell.World{
		Resolve: func(path string) (string, bool) {
			inside, err := w.Resolve(path)
			if err == nil {
				return inside, true
			}
			return outside(w.Root(), path), false
		},
		Look:   func(program string) (string, bool) { return lookUp(w.Root(), program, o.Env) },
		Glob:   func(pattern string) []string { return expand(w.Root(), pattern) },
		Plain:  func(dir string) bool { return plainGit(w.Root(), dir) },
		Nested: func(path string) []string { return nestedGit(w, path) },
		POSIX:  len(o.Shell) == 0 || filepath.Base(o.Shell[0]) != "bash",
	}
}

// outside returns where a path leads that does not end in the workspace, "" if
// that cannot be told.
func outside(root, path string) string {
	if !filepath.IsAbs(path) {
		path = root + string(filepath.Separator) + path
	}
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		at = filepath.Clean(path)
	}
	if rel, err := filepath.Rel(root, at); err != nil || filepath.IsLocal(rel) {
		return "" // by a link of another kind, or by one that is new
	}
	return filepath.ToSlash(at)
}

// lookUp finds a program as a shell does, and says whether it is the system's:
// in a directory outside the workspace that is the owner's alone.
func lookUp(root, program string, env []string) (at string, trusted bool) {
	if filepath.IsAbs(program) {
		at = outside(root, program)
		return at, at != "" && owned(filepath.Dir(at)) && owned(filepath.Dir(program))
	}
	if strings.ContainsRune(program, filepath.Separator) {
		return program, false
	}
	path := ""
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		at := filepath.Join(dir, program)
		info, err := os.Stat(at)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			if !filepath.IsAbs(dir) {
				return at, false // who knows what will be there
			}
			continue
		}
		return at, filepath.IsAbs(dir) && outside(root, dir) != "" && owned(dir)
	}
	return "", false
}

// expand returns what a pattern matches as a shell would, without hidden files
// that it does not name.
func expand(root, pattern string) (matches []string) {
	prefix := ""
	if !filepath.IsAbs(pattern) {
		prefix = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(root) + "/"
	}
	found, err := filepath.Glob(prefix + pattern)
	if err != nil {
		return nil
	}
	wanted := strings.Split(pattern, "/")
	for _, match := range found {
		if prefix != "" {
			match = strings.TrimPrefix(match, root+"/")
		}
		if !hidden(wanted, strings.Split(filepath.ToSlash(match), "/")) {
			matches = append(matches, match)
		}
	}
	return matches
}

func hidden(pattern, match []string) bool {
	for i, element := range match {
		if strings.HasPrefix(element, ".") && i < len(pattern) && strings.IndexAny(pattern[i], "*?") == 0 {
			return true
		}
	}
	return false
}

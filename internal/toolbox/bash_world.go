package toolbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-agent/belay/internal/decide/shell"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// World is what a command line that o runs in w depends on. Its answers can be
// changed by others at any time: it is for policy, what acts is confined on its own.
func World(w *workspace.Workspace, o BashOptions) shell.World {
	root := w.Root()
	return shell.World{
		Resolve: func(path string) (string, bool) {
			inside, err := w.Resolve(path)
			if err == nil {
				return inside, true
			}
			return outside(root, path), false
		},
		Look:  func(program string) (string, bool) { return lookUp(root, program, o.Env) },
		Glob:  func(pattern string) []string { return expand(root, pattern) },
		Plain: func(dir string) bool { return plainGit(root, dir) },
		POSIX: len(o.Shell) == 0 || filepath.Base(o.Shell[0]) != "bash",
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

// plainGit reports whether git in dir works on a repository of the workspace
// whose own settings name no program, and that holds no other one.
func plainGit(root, dir string) bool {
	at := filepath.Join(root, filepath.FromSlash(dir))
	if filepath.IsAbs(dir) {
		at = filepath.Clean(dir)
	}
	if real, err := filepath.EvalSymlinks(at); err != nil || real != at {
		return false
	}
	for {
		rel, err := filepath.Rel(root, at)
		if err != nil || !filepath.IsLocal(rel) {
			return false
		}
		switch info, err := os.Lstat(filepath.Join(at, ".git")); {
		case err == nil:
			return info.IsDir() && plainRepository(at)
		case isThere(filepath.Join(at, "HEAD")): // a directory can itself be a repository
			return false
		}
		at = filepath.Dir(at)
	}
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func plainRepository(at string) bool {
	for _, no := range []string{".gitmodules", ".git/modules", ".git/commondir", ".git/config.worktree"} {
		if isThere(filepath.Join(at, no)) {
			return false
		}
	}
	text, err := readSmall(filepath.Join(at, ".git", "config"))
	return err == nil && plainSettings(text)
}

// readSmall reads a file of a repository that is no larger than such files are.
func readSmall(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return "", fs.ErrInvalid
	}
	b, err := os.ReadFile(path)
	return string(b), err
}

// harmless returns the settings of a section that make git run nothing.
func harmless(section string) (keys string, ok bool) {
	keys, ok = map[string]string{
		"core":   " repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf ",
		"remote": " url pushurl fetch tagopt prune ",
		"branch": " remote merge rebase description ",
		"user":   " name email ",
		"init":   " defaultbranch ",
		"pull":   " rebase ff ",
		"push":   " default autosetupremote followtags ",
		"commit": " gpgsign ",
		"lfs":    " repositoryformatversion ",
	}[strings.ToLower(section)]
	return keys, ok
}

// plainSettings reports whether all settings in the text of a .git/config are
// harmless.
func plainSettings(text string) bool {
	keys := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if strings.HasPrefix(line, "[") {
			section, rest, ok := strings.Cut(line[1:], "]")
			name, _, _ := strings.Cut(section, " ")
			if keys, ok = harmless(name); !ok || strings.Contains(section, `\`) {
				return false
			}
			line = strings.TrimSpace(rest)
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, _, _ := strings.Cut(line, "=")
		if !strings.Contains(keys, " "+strings.ToLower(strings.TrimSpace(key))+" ") {
			return false
		}
	}
	return true
}

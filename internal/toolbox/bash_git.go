package toolbox

import (
	"bytes"
	"context"
	big "encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// plainGit reports whether git in dir works on a repository of the workspace
// whose own settings name no program and that has no other one in it: what git
// runs there for reading is then up to its environment alone.
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
	at = filepath.Join(at, ".git")
	for _, no := range []string{"commondir", "config.worktree"} {
		if isThere(filepath.Join(at, no)) {
			return false
		}
	}
	if shared, err := filepath.Glob(filepath.Join(at, "sharedindex.*")); err != nil || len(shared) > 0 {
		return false
	}
	settings, err := readUpTo(filepath.Join(at, "config"), 64<<10)
	if err != nil || !plainSettings(string(settings)) {
		return false
	}
	index, err := readUpTo(filepath.Join(at, "index"), 64<<20)
	if err != nil {
		return os.IsNotExist(err)
	}
	return plainIndex(index)
}

// maxNested is how many repositories inside the workspace are named.
const maxNested = 20

// nestedGit returns the directories of w, at or below path, that are repositories of
// their own, not ignored and no submodules yet.
func nestedGit(w *workspace.Workspace, path string) (found []string) {
	modules, _ := readUpTo(filepath.Join(w.Root(), ".gitmodules"), 1<<20)
	for e, err := range w.Tree(context.Background()) {
		if err != nil || !e.Info.IsDir() || e.Path == "." || path != "." && e.Path != path && !strings.HasPrefix(e.Path, path+"/") {
			continue
		}
		if !isThere(filepath.Join(w.Root(), filepath.FromSlash(e.Path), ".git")) || submodule(string(modules), e.Path) {
			continue
		}
		if found = append(found, e.Path); len(found) == maxNested {
			return found
		}
	}
	return found
}

// submodule reports whether the text of a .gitmodules names path.
func submodule(modules, path string) bool {
	for line := range strings.Lines(modules) {
		key, value, ok := strings.Cut(line, "=")
		if ok && strings.TrimSpace(key) == "path" && strings.TrimSpace(value) == path {
			return true
		}
	}
	return false
}

// readUpTo reads a regular file that has no more than most bytes.
func readUpTo(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(path)
}

// plainIndex reports whether an index of version 2 or 3 names no other
// repository, in which git would run as that one's settings say.
func plainIndex(index []byte) bool {
	const header, fixed, extended = 12, 62, 0x4000
	if len(index) < header || string(index[:4]) != "DIRC" {
		return false
	}
	if version := big.BigEndian.Uint32(index[4:]); version != 2 && version != 3 {
		return false
	}
	entries, rest := big.BigEndian.Uint32(index[8:]), index[header:]
	for range entries {
		if len(rest) < fixed {
			return false
		}
		if mode := big.BigEndian.Uint32(rest[24:]); mode>>12 == 0o16 {
			return false
		}
		size := fixed
		if big.BigEndian.Uint16(rest[60:])&extended != 0 {
			size += 2
		}
		name := bytes.IndexByte(rest[min(size, len(rest)):], 0)
		if name < 0 {
			return false
		}
		size = (size + name + 8) &^ 7 // one to eight NULs
		if size > len(rest) {
			return false
		}
		rest = rest[size:]
	}
	return true
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
			section, rest, _ := strings.Cut(line[1:], "]")
			name, _, _ := strings.Cut(section, " ")
			var ok bool
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

// redirected is told of a command after which git, here, may run what it did not
// before.
const redirected = "[after it, git here obeys settings that can name programs, or another repository inside this one: " +
	"tell the user to look at .git/config and at nested .git directories before they use git]\n"

// plain reports whether parts may change the repository, and git runs nothing in
// it by itself.
func (o BashOptions) plain(parts []tool.Part) bool {
	changes := slices.ContainsFunc(together(parts), func(e effect.Effect) bool { return e.Kind == effect.Git })
	return changes && o.World.Plain != nil && o.World.Plain(".")
}

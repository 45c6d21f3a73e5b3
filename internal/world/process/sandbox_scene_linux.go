package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A scene is what a command is to see of the files, and what of that is not there
// yet.
type scene struct {
	view
	absent []string // protected paths that do not exist
}

// keep is what stays of /run: the programs of NixOS. See resolver.
var keep = []string{"/run/current-system", "/run/wrappers", "/run/opengl-driver"}

// scene returns what g comes to now. Where a path is looked at twice it can have
// changed: then the sandbox is not set up, or what a command that ran before put
// there is opened to this one, which may write beside it anyway.
func (s Sandbox) scene(g grant, tmp string) (scene, error) {
	sc := scene{view: view{Tmp: tmp, Keep: keep, Hide: slices.Clone(s.Hidden)}}
	if g.network {
		sc.Keep = append(slices.Clone(keep), resolver()...)
	}
	sc.Show = shown(s.Root, g.reads)
	for _, path := range s.Secrets {
		if !names(g.reads, path) {
			sc.Hide = append(sc.Hide, path)
		}
	}
	if g.inside {
		sc.Open = append(append(sc.Open, s.Root), s.Writable...)
		if err := sc.protect(s, g); err != nil {
			return sc, err
		}
	}
	for _, path := range g.outside {
		open, err := opened(path)
		if err != nil {
			return sc, err
		}
		sc.Open = append(sc.Open, open)
	}
	return sc, nil
}

// shown returns what of /tmp a command has to see: what is around the workspace,
// as elsewhere, and what it was let read.
func shown(root string, reads []string) (show []string) {
	for _, tmp := range []string{"/tmp", "/var/tmp"} {
		if rest, ok := strings.CutPrefix(root, tmp+"/"); ok {
			if first, _, deeper := strings.Cut(rest, "/"); deeper {
				show = append(show, filepath.Join(tmp, first))
			}
		}
		for _, path := range reads {
			if within(tmp, path) && path != tmp && !slices.ContainsFunc(show, func(p string) bool { return within(p, path) }) {
				show = append(show, path)
			}
		}
	}
	return show
}

// wall returns the same for Landlock, which can only let through. If viewed,
// sc is what the command sees.
func (sc scene) wall(viewed bool) *wall {
	w := &wall{Dirs: []string{"/tmp", "/var/tmp"}}
	if !viewed {
		w = &wall{Dirs: []string{sc.Tmp}, Alone: true}
		for _, path := range sc.Hide {
			w.Hide = append(w.Hide, path)
			if real, err := filepath.EvalSymlinks(path); err == nil {
				w.Hide = append(w.Hide, real)
			}
		}
	}
	for _, l := range sc.Over {
		w.Dirs = append(w.Dirs, l.At)
	}
	for _, path := range sc.Open {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			w.Files = append(w.Files, path)
		} else {
			w.Dirs = append(w.Dirs, path)
		}
	}
	return w
}

// opened returns what has to be writable for path to be: itself if it is a
// directory, else the one that it is in, since most programs replace files.
func opened(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		info, err := os.Stat(real)
		if err == nil && (info.IsDir() || !info.Mode().IsRegular()) {
			return real, nil
		}
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("open %s to writing: %w", path, err)
	}
	return dir, nil
}

// protect shuts what is protected in the workspace.
func (sc *scene) protect(s Sandbox, g grant) error {
	for _, path := range s.Protected {
		if !g.names(path) {
			sc.shut(s.Root, path)
		}
	}
	git := filepath.Join(s.Root, ".git")
	info, err := os.Lstat(git)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !g.git {
			sc.absent = append(sc.absent, git)
		}
		return nil
	case err != nil:
		return err
	case !info.IsDir() || !g.git:
		sc.shut(s.Root, git)
	}
	if !g.git {
		return nil
	}
	dir := git
	if !info.IsDir() {
		if dir = commonDir(git); dir == "" || within(s.Root, dir) {
			return nil
		}
		sc.Open = append(sc.Open, dir)
	}
	return sc.protectGit(dir, g)
}

// redirectFile, in a repository, has git take hooks and settings from elsewhere.
// Only those of linked working trees have one.
const redirectFile = "commondir"

// protectGit shuts what in a repository makes git run programs.
func (sc *scene) protectGit(dir string, g grant) error {
	sc.Pin = append(sc.Pin, dir)
	for _, name := range []string{"hooks", "info"} { // which git makes too
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	if redirect := filepath.Join(dir, redirectFile); !exists(redirect) {
		sc.absent = append(sc.absent, redirect)
	}
	patterns := []string{"hooks", "info", "config", "config.worktree", redirectFile, "worktrees/*/config.worktree", "worktrees/*/" + redirectFile}
	for module := "modules/*"; strings.Count(module, "*") <= 3; module += "/*" { // names of submodules have slashes
		patterns = append(patterns, module+"/config", module+"/hooks")
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(escape(dir), pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if !g.names(path) {
				sc.shut(dir, path)
			}
		}
	}
	return nil
}

// shut has path, which is below root, stay as it is, and what is between them
// where it is.
func (sc *scene) shut(root, path string) {
	if real, err := filepath.EvalSymlinks(path); err != nil || real != path {
		if _, err := os.Lstat(path); err != nil {
			sc.absent = append(sc.absent, path)
		}
		return // a link can be replaced whatever is done to where it leads
	}
	var between []string
	for dir := filepath.Dir(path); dir != root && within(root, dir); dir = filepath.Dir(dir) {
		between = append(between, dir)
	}
	for _, dir := range slices.Backward(between) {
		if !slices.Contains(sc.Pin, dir) {
			sc.Pin = append(sc.Pin, dir)
		}
	}
	sc.Shut = append(sc.Shut, path)
}

// commonDir returns the repository that the working tree with the file git
// belongs to, "" if the repository does not say so too: anything can be in that
// file.
func commonDir(git string) string {
	line := func(path, prefix string) string {
		b, _, err := load(path)
		text, ok := strings.CutPrefix(strings.TrimSpace(string(bytes.TrimRight(b, "\n"))), prefix)
		if err != nil || !ok {
			return ""
		}
		return strings.TrimSpace(text)
	}
	own := line(git, "gitdir:")
	if !filepath.IsAbs(own) || line(filepath.Join(own, "gitdir"), "") != git {
		return ""
	}
	common := line(filepath.Join(own, "commondir"), "")
	if !filepath.IsAbs(common) {
		common = filepath.Join(own, common)
	}
	common, err := filepath.EvalSymlinks(common)
	if err != nil || filepath.Dir(filepath.Dir(own)) != common {
		return ""
	}
	return common
}

// escape has a glob pattern match path itself.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// resolver returns the files that say how names are resolved, where those are in
// /run.
func resolver() []string {
	real, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil || !within("/run", real) {
		return nil
	}
	return []string{real}
}

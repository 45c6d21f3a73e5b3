package effect

import (
	"path"
	"strings"
)

// Inside reports whether e reads or writes within the workspace and nowhere
// else. It is false for every other kind, and for a path that is not resolved.
func (e Effect) Inside() bool {
	return e.onPath() && e.On != "" && inside(e.On)
}

func (e Effect) onPath() bool { return e.Kind == Read || e.Kind == Write }

// place returns what e touches, where that is a path. No path is every path.
func (e Effect) place() (p string, tree bool) {
	if e.On == "" {
		return "/", true
	}
	return path.Clean(e.On), e.Tree
}

func inside(p string) bool {
	drive := len(p) > 2 && p[1] == ':' && p[2] == '/' // Windows has absolute paths without a leading slash
	return !drive && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") && path.Clean(p) == p
}

// holds reports whether p is dir or below it, both being clean. Whole elements
// count: a/b does not hold a/bc.
func holds(dir, p string) bool {
	switch dir {
	case p, "/": // the workspace too is somewhere below "/"
		return true
	case ".":
		return inside(p)
	}
	rest, ok := strings.CutPrefix(p, dir)
	return ok && rest[0] == '/'
}

// meet reports whether one of two clean paths holds the other.
func meet(p, q string) bool { return holds(p, q) || holds(q, p) }

// touchesGit reports whether e may reach what a Git effect changes: a path at
// or below .git, at any depth, or a tree, which may hold a repository.
func (e Effect) touchesGit() bool {
	if !e.onPath() {
		return false
	}
	p, tree := e.place()
	if tree {
		return true
	}
	for element := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(element, ".git") { // some file systems ignore case
			return true
		}
	}
	return false
}

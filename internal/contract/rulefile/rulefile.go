// Package rulefile says which files hold a project's rules for a model, what each holds
// for, and which counts most. Paths are slash-separated and relative to the root of
// the workspace; those of files above it begin with "..".
package rulefile

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Names returns the names that rule files have, the one that counts most last.
func Names() []string { return []string{"CLAUDE.md", "CODE_LAW.md", "AGENTS.md"} }

// Is reports whether path is the name of a rule file, in a folder of a workspace.
func Is(p string) bool {
	return p == path.Clean(p) && !path.IsAbs(p) && slices.Contains(Names(), path.Base(p))
}

// Folder returns the folder that the rule file at p is in: it holds for that and all
// below it. It is "." for the root of the workspace, and "..", "../.." and so on above.
func Folder(p string) string { return path.Dir(p) }

// Nested reports whether the rule file at p holds for a part of the workspace only.
func Nested(p string) bool { return depth(Folder(p)) > 0 }

// Holds reports whether the rule file at p holds for what is at a path in the
// workspace.
func Holds(p, at string) bool {
	folder := Folder(p)
	return !Nested(p) || at == folder || strings.HasPrefix(at, folder+"/")
}

// Compare orders the paths of rule files so that the one that counts most is last:
// from the outside in, and in one folder by Names.
func Compare(a, b string) int {
	in, of := Folder(a), Folder(b)
	return cmp.Or(
		cmp.Compare(depth(in), depth(of)),
		cmp.Compare(in, of),
		cmp.Compare(slices.Index(Names(), path.Base(a)), slices.Index(Names(), path.Base(b))),
		cmp.Compare(a, b),
	)
}

// depth counts how far below the root of the workspace a folder is.
func depth(folder string) int {
	n := 0
	for element := range strings.SplitSeq(folder, "/") {
		switch element {
		case ".", "":
		case "..":
			n--
		default:
			n++
		}
	}
	return n
}

// Fenced returns the text of a rule file between two rows of backticks, more than it
// has anywhere in a row: nothing in it can end them, and pose as what stands around it
// (CommonMark 0.31, 4.5, has such fences).
func Fenced(text string) string {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/text/unicode/norm"
)

// spelled returns the name in dir of the entry that element leads to. It is another
// than element where a file system does not tell A from a, or é as one code point
// from é as two.
func spelled(dir, element string, info fs.FileInfo) string {
	leads := func(name string) bool {
		other, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && os.SameFile(other, info)
	}
	if !slices.ContainsFunc(otherSpellings(element), leads) {
		return element
	}
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return element
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1) // of what cannot be listed no name is better
	if slices.Contains(names, element) {
		return element
	}
	for _, name := range names {
		if Folded(name) == Folded(element) && leads(name) {
			return name
		}
	}
	return element
}

// otherSpellings returns names that lead to the same entry as element where
// spellings do not matter, and hardly anywhere else.
func otherSpellings(element string) []string {
	others := []string{strings.ToUpper(element), strings.ToLower(element), norm.NFD.String(element), norm.NFC.String(element)}
	slices.Sort(others)
	return slices.DeleteFunc(slices.Compact(others), func(s string) bool { return s == element })
}

// Folded returns what all spellings of a path have in common that differ in no
// more than case and in how a letter and its accent are put together.
func Folded(path string) string { return strings.ToLower(norm.NFC.String(path)) }

package repo

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/world/workspace"
)

// BenchmarkGoTree searches the sources of Go, beside a plain walk that knows
// nothing of what is ignored, hidden or binary.
func BenchmarkGoTree(b *testing.B) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "src")
	w, err := workspace.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for _, pattern := range []string{"ErrUnexpectedEOF", `func \(\w+ \*\w+\) Close\(`, "no line has this"} {
		b.Run("search/"+pattern, func(b *testing.B) {
			for b.Loop() {
				if _, err := (Search{Pattern: pattern, Path: ".", Limit: 100_000}).Run(b.Context(), w); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("walk/"+pattern, func(b *testing.B) {
			re := regexp.MustCompile(pattern)
			for b.Loop() {
				if err := plainWalk(dir, re); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func plainWalk(dir string, re *regexp.Regexp) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		for line := range bytes.Lines(text) {
			re.Match(line)
		}
		return err
	})
}

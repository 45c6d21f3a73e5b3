//go:build soak

package secret

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestSurvey goes through real code, GOROOT and the module cache or what
// SURVEY_DIRS lists, and puts what is found there into the file that SURVEY names,
// with the line around it, so that it can be labelled. docs/secrets.md has what
// came of that.
func TestSurvey(t *testing.T) {
	out := &bytes.Buffer{}
	r := lazily(Options{})
	size, files, found := 0, 0, 0
	roots := filepath.SplitList(os.Getenv("SURVEY_DIRS"))
	if len(roots) == 0 {
		env, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
		if err != nil {
			t.Fatal(err)
		}
		roots = strings.Fields(string(env))
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || strings.Contains(path, "gitleaks") {
				return err
			}
			info, err := d.Info()
			if err != nil || info.Size() > 8<<20 {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if head := text[:min(len(text), 8<<10)]; bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(text) {
				return nil
			}
			size += len(text)
			files++
			spans, _ := r.find(text, true)
			for _, s := range spans {
				found++
				line := text[lineStart(text, s.start):lineEnd(text, s.end)]
				fmt.Fprintf(out, "%s\t%s:%d\t%.100q\t%.200q\n", s.mark, path, 1+bytes.Count(text[:s.start], []byte("\n")), text[s.start:s.end], line)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d findings in %d files of %d MB", found, files, size>>20)
	if name := os.Getenv("SURVEY"); name != "" {
		if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

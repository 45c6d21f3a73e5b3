package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRuleFiles(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"none", nil, nil},
		{"one", map[string]string{"CLAUDE.md": "a"}, []string{"CLAUDE.md"}},
		{"all", map[string]string{"AGENTS.md": "a", "CLAUDE.md": "b", "CODE_LAW.md": "c"}, []string{"CLAUDE.md", "CODE_LAW.md", "AGENTS.md"}},
		{"two that say the same", map[string]string{"AGENTS.md": "a", "CLAUDE.md": "a"}, []string{"AGENTS.md"}},
		{"empty", map[string]string{"AGENTS.md": ""}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			w, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			files, err := w.RuleFiles()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				got = append(got, f.Path)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("rule files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRulesAreNotLeftOutSilently(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte(strings.Repeat("x", maxRules+1)), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.RuleFiles(); err == nil {
		t.Error("rules that are too long were left out")
	}
}

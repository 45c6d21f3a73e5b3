package workspace

import (
	"fmt"
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
		paths string
		want  []string
	}{
		{"none", nil, "", nil},
		{"one", map[string]string{"CLAUDE.md": "a"}, "", []string{"CLAUDE.md"}},
		{"all", map[string]string{"AGENTS.md": "a", "CLAUDE.md": "b", "CODE_LAW.md": "c"}, "", []string{"CLAUDE.md", "CODE_LAW.md", "AGENTS.md"}},
		{"two that say the same", map[string]string{"AGENTS.md": "a", "CLAUDE.md": "a"}, "", []string{"AGENTS.md"}},
		{"empty", map[string]string{"AGENTS.md": ""}, "", nil},

		{"on the way to a file", map[string]string{"AGENTS.md": "r", "a/AGENTS.md": "a", "a/b/CLAUDE.md": "b", "a/b/c.go": "", "d/AGENTS.md": "d", "a/b/e/AGENTS.md": "e"},
			"a/b/c.go", []string{"AGENTS.md", "a/AGENTS.md", "a/b/CLAUDE.md"}},
		{"of a folder itself", map[string]string{"a/AGENTS.md": "a"}, "a", []string{"a/AGENTS.md"}},
		{"of several places, the nearest last", map[string]string{"CLAUDE.md": "c", "AGENTS.md": "r", "b/AGENTS.md": "b", "b/CODE_LAW.md": "l", "a/x/AGENTS.md": "x", "c/AGENTS.md": "c"},
			"a/x/f b/f b a/x c/g/h", []string{"CLAUDE.md", "AGENTS.md", "b/CODE_LAW.md", "b/AGENTS.md", "c/AGENTS.md", "a/x/AGENTS.md"}},
		{"the same in one folder, and in two", map[string]string{"AGENTS.md": "a", "a/AGENTS.md": "a", "a/CLAUDE.md": "a"}, "a", []string{"AGENTS.md", "a/AGENTS.md"}},
		{"where nothing is yet", map[string]string{"a/AGENTS.md": "a"}, "a/new/file.go", []string{"a/AGENTS.md"}},
		{"hidden", map[string]string{".h/a/AGENTS.md": "a"}, ".h/a/x", nil},
		{"ignored", map[string]string{".gitignore": "/out/\n", "out/a/AGENTS.md": "a"}, "out/a/x", nil},
		{"ignored by a nested file", map[string]string{"a/.gitignore": "out\n", "a/out/AGENTS.md": "a", "a/AGENTS.md": "b"}, "a/out/x", []string{"a/AGENTS.md"}},
		{"the file itself ignored, as personal ones are", map[string]string{".gitignore": "CLAUDE.md\n", "a/CLAUDE.md": "a"}, "a", []string{"a/CLAUDE.md"}},
		{"dependencies", map[string]string{"a/node_modules/b/AGENTS.md": "a", "vendor/b/CLAUDE.md": "a"}, "a/node_modules/b/x vendor/b/x", nil},
		{"outside", map[string]string{"a/AGENTS.md": "a"}, "../x /etc/passwd a/../../y", nil},
		{"a folder by a link, once and by its own name", map[string]string{"a/AGENTS.md": "a", "l": "-> a"}, "l/x a/x", []string{"a/AGENTS.md"}},
		{"a folder that is a link out", map[string]string{"l": "-> .."}, "l/x", nil},
		{"a file that is a link inside", map[string]string{"docs/r": "a", "a/AGENTS.md": "-> ../docs/r"}, "a", []string{"a/AGENTS.md"}},
		{"a link to its neighbour", map[string]string{"a/CLAUDE.md": "a", "a/AGENTS.md": "-> CLAUDE.md"}, "a", []string{"a/AGENTS.md"}},
		{"a file that is a link out", map[string]string{"a/AGENTS.md": "-> /etc/passwd", "a/CLAUDE.md": "a"}, "a", []string{"a/CLAUDE.md", "a/AGENTS.md: read a/AGENTS.md: path leads out of the workspace"}},
		{"too long", map[string]string{"a/AGENTS.md": strings.Repeat("x", maxRules+1), "a/b/AGENTS.md": strings.Repeat("x", maxRules)}, "a/b",
			[]string{"a/AGENTS.md: a/AGENTS.md has 65537 bytes, and may have 65536", "a/b/AGENTS.md"}},
		{"no text", map[string]string{"a/AGENTS.md": "\x00\x01"}, "a", []string{"a/AGENTS.md: read a/AGENTS.md: not a text file"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := ruledBy(t, t.TempDir(), tc.files)
			var got []string
			for _, f := range ruleFiles(t, w, strings.Fields(tc.paths)...) {
				if f.Left != "" {
					f.Path += ": " + f.Left
				}
				got = append(got, f.Path)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("rule files (-want +got):\n%s", diff)
			}
		})
	}
}

// ruledBy opens a workspace at dir with files in it; "-> X" is a link to X.
func ruledBy(t testing.TB, dir string, files map[string]string) *Workspace {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, link := strings.CutPrefix(text, "-> "); link {
			err = os.Symlink(to, at)
		} else {
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func ruleFiles(t testing.TB, w *Workspace, paths ...string) []RuleFile {
	t.Helper()
	files, err := w.RuleFiles(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestR235_RulesAboveTheWorkspaceCount, up to the top of its repository.
func TestR235_RulesAboveTheWorkspaceCount(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"AGENTS.md": "beyond", "repo/AGENTS.md": "top", "repo/a/CLAUDE.md": "a", "repo/a/b/AGENTS.md": "here",
		"repo/a/b/c/AGENTS.md": "below", "repo/other/AGENTS.md": "elsewhere",
	}
	ruledBy(t, dir, files)
	w := ruledBy(t, filepath.Join(dir, "repo/a/b"), nil)
	paths := func(want ...string) {
		t.Helper()
		var got []string
		for _, f := range ruleFiles(t, w, "c/x.go", "../../other/x") {
			got = append(got, f.Path+" "+strings.TrimSpace(f.Content))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	paths("AGENTS.md here", "c/AGENTS.md below") // no repository
	if err := os.Mkdir(filepath.Join(dir, "repo/.git"), 0o755); err != nil {
		t.Fatal(err)
	}
	paths("../../AGENTS.md top", "../CLAUDE.md a", "AGENTS.md here", "c/AGENTS.md below")
}

// TestR235_WhatCannotBeReachedIsInAFolderToo: the rules there hold for it, and are not
// gone for want of it.
func TestR235_WhatCannotBeReachedIsInAFolderToo(t *testing.T) {
	w := ruledBy(t, t.TempDir(), map[string]string{"lib/AGENTS.md": "lib", "lib/out": "-> /", "lib/loop": "-> loop", "lib/a": ""})
	for _, at := range []string{"lib/out", "lib/out/etc/x", "lib/loop", "lib/loop/x", "lib/none/x", "lib/a/x", "./lib/../lib//a"} {
		if files := ruleFiles(t, w, at); len(files) != 1 || files[0].Path != "lib/AGENTS.md" {
			t.Errorf("at %s there are %+v", at, files)
		}
	}
	if files := ruleFiles(t, w, "", "/", "../..", "/etc", "lib\x00/a"); len(files) > 1 {
		t.Errorf("of what is no path there are %+v", files)
	}
}

func TestRulesAreNotLeftOutSilently(t *testing.T) {
	w := ruledBy(t, t.TempDir(), map[string]string{"AGENTS.md": strings.Repeat("x", maxRules+1)})
	if _, err := w.RuleFiles(); err == nil {
		t.Error("rules that are too long were left out")
	}
}

// BenchmarkRuleFiles reads the rule files of a repository with 50,000 files in 2,500
// folders, 300 of which have one, as a turn does after work in 500 folders, and as a
// step does.
func BenchmarkRuleFiles(b *testing.B) {
	files := map[string]string{"AGENTS.md": "be kind", ".gitignore": "/out/\n", ".git/HEAD": ""}
	var folders []string
	for i := range 2500 {
		folder := fmt.Sprintf("group%d/package%d/src", i%50, i)
		folders = append(folders, folder)
		for n := range 20 {
			files[fmt.Sprintf("%s/%d.go", folder, n)] = "package p\n"
		}
		if i < 300 {
			files[fmt.Sprintf("group%d/package%d/AGENTS.md", i%50, i)] = strings.Repeat("Be brief.\n", 200)
		}
	}
	w := ruledBy(b, b.TempDir(), files)
	for _, tc := range []struct {
		name  string
		paths []string
		want  int
	}{{"step", folders[:2], 3}, {"turn", folders[:500], 301}, {"root", nil, 1}} {
		b.Run(tc.name, func(b *testing.B) {
			for b.Loop() {
				if got := len(ruleFiles(b, w, tc.paths...)); got != tc.want {
					b.Fatalf("%d rule files", got)
				}
			}
		})
	}
}

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/decide/mention"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// TestR314_MentionsAreFilesOfTheWorkspace in whatever spelling, and never any
// others.
func TestR314_MentionsAreFilesOfTheWorkspace(t *testing.T) {
	outside := t.TempDir()
	root := filepath.Join(t.TempDir(), "w")
	const composed, apart = "caf\u00e9.md", "cafe\u0301.md"
	for _, name := range []string{"a.go", "Src/Main.go", "two/x.go", "two/X.go", "ignored.log", "d/" + apart, "文档/说明.md"} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "secret.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.log\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "out")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if err := os.Symlink("a.go", filepath.Join(root, "link.go")); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r := &rig{workspace: w}
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"@a.go @./a.go @link.go", []string{"a.go"}},
		{"@src/main.go:3 @SRC/", []string{"Src/Main.go:3", "Src/"}},
		{"@two/x.go @two/X.go", []string{"two/x.go", "two/X.go"}},
		{"@d/" + composed + " @d/" + apart, []string{"d/" + apart}},
		{"@ignored.log", []string{"ignored.log"}},
		{"看@文档/说明.md的内容", []string{"文档/说明.md"}},
		{"@out/secret.txt @" + outside + "/secret.txt @../w2/x @/etc/passwd", nil},
		{"@" + w.Root() + "/a.go", []string{"a.go"}},
		{"@A @SRC @types/node a@a.go", nil},
	} {
		found, _ := mention.Find(tc.text, r.lookup())
		var got []string
		for _, m := range found {
			got = append(got, m.String())
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%q mentions (-want +got):\n%s", tc.text, d)
		}
	}
}

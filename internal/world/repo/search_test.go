package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/belay-agent/belay/internal/world/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// forest makes n files of the given content, each a second older than the one
// before.
func forest(t testing.TB, n int, content string) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	now := time.Now()
	for i := range n {
		at := filepath.Join(dir, fmt.Sprintf("d%02d", i%7), fmt.Sprintf("f%04d.txt", i))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		modified := now.Add(-time.Duration(i) * time.Second)
		if err := os.Chtimes(at, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// However many files and batches there are, the hits come in order, and pages of
// any size join to the same list.
func TestR097_R099_HitsComeInOrder(t *testing.T) {
	const files = 200 // more than a batch
	w := forest(t, files, "hit\nmiss\nhit\n")
	var want []string
	for i := range files {
		for _, line := range []int{1, 3} {
			want = append(want, fmt.Sprintf("d%02d/f%04d.txt:%d", i%7, i, line))
		}
	}
	for _, size := range []int{2 * files, 150, 33} {
		var got []string
		skip := 0
		for {
			hits, err := Search{Pattern: "hit", Path: ".", Skip: skip, Limit: size}.Run(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			if hits.Total != 2*files || hits.InFiles != files || hits.Searched != files {
				t.Fatalf("%d hits in %d of %d files", hits.Total, hits.InFiles, hits.Searched)
			}
			shown := 0
			for _, f := range hits.Files {
				for _, h := range f.Hits {
					got = append(got, fmt.Sprintf("%s:%d", f.Path, h.Line))
					shown++
				}
			}
			if shown != hits.Shown || shown > size {
				t.Fatalf("%d hits of at most %d, and it says %d", shown, size, hits.Shown)
			}
			if skip += shown; shown == 0 {
				break
			}
		}
		if d := cmp.Diff(want[:len(got)], got); d != "" || len(got) != len(want) {
			t.Errorf("pages of %d give %d hits (-want +got):\n%s", size, len(got), d)
		}
	}
}

func TestR018_SearchEndsWithItsContext(t *testing.T) {
	w := forest(t, 300, "hit\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Search{Pattern: "hit", Path: ".", Limit: 10}).Run(ctx, w); !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v, want the end of its context", err)
	}
	if _, err := Find(ctx, w, ".", "**", 10); !errors.Is(err, context.Canceled) {
		t.Errorf("Find: %v, want the end of its context", err)
	}
}

// A file that can be reached through links as well is searched once. One that is
// not below the start is not: whoever allowed to search d00 allowed no more.
func TestR048_SearchStaysBelowItsStart(t *testing.T) {
	w := forest(t, 8, "hit\n")
	for link, target := range map[string]string{"again.txt": "f0000.txt", "other.txt": "../d01/f0001.txt", "loop": "..", "gone": "nowhere", "ignored.txt": "kept.log"} {
		if err := os.Symlink(target, filepath.Join(w.Root(), "d00", link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{".gitignore": "*.log\n", "kept.log": "hit\n"} {
		if err := os.WriteFile(filepath.Join(w.Root(), "d00", name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	hits, err := Search{Pattern: "hit", Path: "d00", Limit: 10}.Run(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range hits.Files {
		got = append(got, f.Path)
	}
	if d := cmp.Diff([]string{"d00/kept.log", "d00/f0000.txt", "d00/f0007.txt"}, got); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	if hits.Links != 1 || hits.Ignored != 1 || hits.Hidden != 1 {
		t.Errorf("left out: %+v, want a link, an ignored and a hidden file", hits.Skipped)
	}
}

func BenchmarkSearch(b *testing.B) {
	line := "the quick brown fox jumps over the lazy dog, and goes home\n"
	content := ""
	for range 200 {
		content += line
	}
	w := forest(b, 500, content)
	for _, pattern := range []string{"absent", `jumps\s+under`, `(?i)ABSENT`, `[a-z]+ing`} {
		b.Run(pattern, func(b *testing.B) {
			b.SetBytes(int64(500 * len(content)))
			for b.Loop() {
				if _, err := (Search{Pattern: pattern, Path: ".", Limit: 10}).Run(b.Context(), w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

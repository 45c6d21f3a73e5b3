package toolbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// BenchmarkUndo takes back, and does again, what a call changed in a workspace of
// 20,000 files.
func BenchmarkUndo(b *testing.B) {
	p := newPast(b, b.TempDir(), nil)
	for i := range 20_000 {
		put(b, p.dir, fmt.Sprintf("d%d/e%d/f%d.go", i%20, i/400, i), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 300))
	}
	for _, files := range []int{1, 1000} {
		var edits []edit.Intent
		for i := range files {
			path := fmt.Sprintf("d%d/e%d/f%d.go", i%20, i/400, i)
			base, err := os.ReadFile(filepath.Join(p.dir, path))
			if err != nil {
				b.Fatal(err)
			}
			to := append([]byte("first\n"), base...)
			edits = append(edits, edit.Intent{Path: path, Base: edit.Digest(base), Result: edit.Digest(to), Regions: edit.Between(base, to)})
		}
		if _, err := p.w.Write(edits); err != nil {
			b.Fatal(err)
		}
		p.calls++
		p.finish(fmt.Sprintf("c%d", p.calls), tool.Result{Edits: edits})
		args := fmt.Sprintf(`{"call":"c%d"}`, p.calls)
		b.Run(fmt.Sprintf("%d files", files), func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				what := args
				if n%2 == 1 {
					what = `{"redo":true}`
				}
				if r := p.call(p.undo, what, nil); r.Status != tool.Success || len(r.Edits) != files {
					b.Fatalf("%d: %+v", n, r.Text)
				}
			}
		})
	}
}

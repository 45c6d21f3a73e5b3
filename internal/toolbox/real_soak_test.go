//go:build soak

package toolbox

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestPromise_P08_ARealRepository changes the Go distribution, some 15,000 files, as
// an agent would, by the tools and by commands that change hundreds of files, and
// takes all of it back: each file, mode and link is as it was.
func TestPromise_P08_ARealRepository(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no Go here: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "go")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"src", "test", "misc", "doc", "api"} {
		if out, err := exec.Command("cp", "-r", filepath.Join(strings.TrimSpace(string(root)), part), dir).CombinedOutput(); err != nil {
			t.Logf("copy %s: %s", part, out)
		}
	}
	p := newPast(t, dir, nil)
	zero := p.tree()
	seen := p.seen()
	paths := slices.Sorted(func(yield func(string) bool) {
		for path := range seen {
			if strings.HasSuffix(path, ".go") && !yield(path) {
				return
			}
		}
	})
	if len(paths) < 5000 {
		t.Skipf("only %d Go files are here", len(paths))
	}
	r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	edited, began := 0, time.Now()
	for range 300 {
		path := paths[r.IntN(len(paths))]
		b, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(b), "\n")
		old := lines[r.IntN(len(lines))]
		args, err := json.Marshal(map[string]any{"path": path, "old": old, "new": "// new\n" + old})
		if err != nil {
			t.Fatal(err)
		}
		if res := p.call(Edit(p.w), string(args), p.seenAt(path)); res.Status == tool.Success {
			edited++
		}
	}
	commands := []string{
		"find src/net -name '*.go' -exec sed -i 's/Conn/Connection/g' {} +", "rm -rf src/cmd/go", "mv src/runtime src/moved",
		"find src/os -type f -exec chmod 600 {} +", "ln -s src/fmt fmt && rm src/io/io.go && ln -s ../fmt/print.go src/io/io.go",
	}
	for _, command := range commands {
		c := p.command(func() {
			run := exec.Command("sh", "-c", command)
			run.Dir = dir
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", command, err, out)
			}
		})
		t.Logf("%s: %d changes; %s", command, len(c.Edits), c.Note)
	}
	changed := time.Since(began)
	undos := 0
	for ; ; undos++ {
		if res := p.call(p.undo, `{}`, nil); res.Failure != nil && res.Failure.Kind == tool.NoChange {
			break
		} else if res.Failure != nil || undos > 20 {
			t.Fatalf("undo: %s", res.Text)
		}
	}
	t.Logf("%d files, %d edits and %d commands in %v, taken back by %d calls in %v", len(zero), edited, len(commands), changed, undos, time.Since(began)-changed)
	if diff := cmp.Diff(zero, p.tree()); diff != "" {
		t.Errorf("(-want +got):\n%s", fmt.Sprintf("%.2000s", diff))
	}
}

// seenAt returns the digest of one file.
func (p *past) seenAt(path string) map[string]string {
	text, err := p.w.Read(path)
	if err != nil {
		return nil
	}
	return map[string]string{text.Path: text.Digest}
}

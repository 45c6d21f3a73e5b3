package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// shop is a workspace with a cart, its tests and what must not be shown.
func shop(t *testing.T) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cart/cart.go":           "package cart\n\n// Total adds up.\nfunc Total(prices []int) int {\n\treturn 0\n}\n",
		"cart/cart_test.go":      "package cart\n\nfunc TestTotal(t *testing.T) {\n\tb := open(\"testdata/one.json\")\n\tif Total(b) != 3 {\n\t\tt.Fatal(1)\n\t}\n}\n",
		"cart/testdata/one.json": "[1, 2]\n",
		"shop.go":                "package main\n\nfunc main() {\n\tprintln(cart.Total(nil))\n}\n",
		"docs/DESIGN.md":         "# Design\n\nTotal is not rounded.\n",
		"web/app.test.ts":        "test('x', () => {})\n", "web/app.ts": "export function Sum() {}\n",
		".env": "KEY=1\n", ".gitignore": "out/\n", "out/gen.go": "package out\n", "secret.pem": "x\n",
		"long.go": "package main\n\n" + strings.Repeat("// a line\n", 200) + "func Far() {}\n" + strings.Repeat("// b\n", 200),
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "outside.go"), []byte("package x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../outside.go", filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.OpenWith(dir, workspace.Options{Undo: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func recalled(t *testing.T, w *workspace.Workspace, q recall.Query) []recall.Item {
	t.Helper()
	r := &Recaller{Workspace: w, Patience: 20 * time.Second, Withheld: func(p string) bool { return strings.HasSuffix(p, ".pem") }}
	items, err := r.Recall(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Recall(t.Context(), q)
	if d := cmp.Diff(items, again); d != "" || err != nil {
		t.Errorf("asked again: %v, %s", err, d)
	}
	return items
}

// brief is an item in a line: role, place without digest, reason.
func brief(items []recall.Item) (all []string) {
	for _, i := range items {
		source, _, _ := strings.Cut(i.Source, "@")
		all = append(all, fmt.Sprintf("%s %s (%s)", i.Slot, source, i.Why))
	}
	return all
}

// TestR225_WhatFailedIsRecalled: the lines of a test that failed, its fixture, and
// the code that the stack names, before anything else.
func TestR225_WhatFailedIsRecalled(t *testing.T) {
	items := recalled(t, shop(t), recall.Query{Phase: recall.Failing, Mentions: []string{"docs/DESIGN.md"}, Failing: []recall.Spot{
		{Path: "cart_test.go", Line: 6, Why: "fails: TestTotal"}, {Path: "cart/cart.go", Line: 5, Why: "in the output of a failure"},
		{Path: "/usr/lib/go/panic.go", Line: 3}, {Path: "gone.go", Line: 1}, {Path: "../outside.go", Line: 1}, {Path: "cart/cart.go", Line: 5000},
	}})
	if d := cmp.Diff([]string{
		"test cart/cart_test.go:1-8 (fails: TestTotal)",
		"test cart/testdata/one.json:1-1 (a fixture of cart/cart_test.go)",
		"definition cart/cart.go:1-6 (in the output of a failure)",
		"document docs/DESIGN.md:1-3 (the user names docs/DESIGN.md)",
	}, brief(items)); d != "" {
		t.Error(d)
	}
	if i := items[0]; i.Score != 1 || i.Digest == "" || i.Path != "cart/cart_test.go" || i.First != 1 || i.Last != 8 || !strings.Contains(i.Text, "t.Fatal(1)") {
		t.Errorf("%+v", i)
	}
	for n := 1; n < len(items); n++ {
		if items[n].Score >= items[0].Score {
			t.Errorf("%s has %v", items[n].Source, items[n].Score)
		}
	}
}

// TestR227_WhatTheUserNamesIsRecalled: files whole or in outline, symbols where
// they are declared and used, and nothing for what is only a word.
func TestR227_WhatTheUserNamesIsRecalled(t *testing.T) {
	items := recalled(t, shop(t), recall.Query{Goal: "g", Mentions: []string{"app.ts", "long.go", "cart.Total", "Nothing", "package", "e.g"}})
	if d := cmp.Diff([]string{
		"definition web/app.ts:1-1 (the user names app.ts)",
		"definition long.go (the user names long.go)",
		"definition cart/cart.go:4-6 (declares Total)",
		"caller shop.go:2-5 (uses Total)",
	}, brief(items)); d != "" {
		t.Error(d)
	}
	if got := items[1].Text; got != "203: func Far() {}\n" {
		t.Errorf("the outline is %q", got)
	}
}

// TestR226_WhatChangedIsRecalled: the change beside what was there before, and the
// nearest test; the change only where it is asked for.
func TestR226_WhatChangedIsRecalled(t *testing.T) {
	w := shop(t)
	before, err := w.Read("cart/cart.go")
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(before.Content, "return 0")
	region, err := before.Region(at, at+len("return 0"), "return 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]edit.Intent{{Path: "cart/cart.go", Base: before.Digest, Regions: []edit.Region{region}}}); err != nil {
		t.Fatal(err)
	}
	q := recall.Query{Phase: recall.Verifying, Diffs: true, Changed: []recall.Change{{Path: "cart/cart.go", Base: before.Digest}, {Path: "web/app.ts", Base: "feed"}, {Path: "gone.go", Base: "feed"}}}
	items := recalled(t, w, q)
	if d := cmp.Diff([]string{
		"change cart/cart.go (changed in this session)",
		"test cart/cart_test.go:1-8 (the test nearest to cart/cart.go)",
		"test web/app.test.ts:1-1 (the test nearest to web/app.ts)",
	}, brief(items)); d != "" {
		t.Error(d)
	}
	if !strings.Contains(items[0].Text, "-\treturn 0\n+\treturn 1\n") {
		t.Errorf("the change is %q", items[0].Text)
	}
	q.Diffs = false
	if got := brief(recalled(t, w, q)); len(got) != 2 {
		t.Errorf("not asked for changes: %q", got)
	}
}

// TestNothingThatMustNotBeShownIsRecalled: what is hidden, ignored, withheld,
// outside, or no text.
func TestNothingThatMustNotBeShownIsRecalled(t *testing.T) {
	w := shop(t)
	var q recall.Query
	for _, p := range []string{".env", "out/gen.go", "secret.pem", "link.go", "../outside.go", "/etc/passwd", "cart", "x\x00y", "", ".", "a/../../outside.go"} {
		q.Mentions = append(q.Mentions, p)
		q.Failing = append(q.Failing, recall.Spot{Path: p, Line: 1})
		q.Changed = append(q.Changed, recall.Change{Path: p})
	}
	q.Diffs = true
	for _, i := range recalled(t, w, q) {
		t.Errorf("%s: %s", i.Source, i.Text)
	}
}

// TestRecallIsBounded in time, items and bytes; the end of ctx is its only error.
func TestRecallIsBounded(t *testing.T) {
	dir := t.TempDir()
	for n := range 200 {
		text := strings.Repeat(fmt.Sprintf("func Shared%d() { Shared() }\n", n), 400)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", n)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "huge.go"), make([]byte, maxFile+1), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	q := recall.Query{Mentions: []string{"huge.go", "Shared", "Shared1"}}
	for n := range 200 {
		q.Mentions = append(q.Mentions, fmt.Sprintf("f%d.go", n))
	}
	items, err := (&Recaller{Workspace: w, Patience: time.Minute}).Recall(t.Context(), q)
	if err != nil || len(items) == 0 || len(items) > maxItems {
		t.Errorf("%d items, %v", len(items), err)
	}
	for _, i := range items {
		if len(i.Text) > maxExcerpt+10 {
			t.Errorf("%s has %d bytes", i.Source, len(i.Text))
		}
	}
	if items, err = (&Recaller{Workspace: w, Patience: time.Nanosecond}).Recall(t.Context(), q); !errors.Is(err, recall.ErrLate) || len(items) > 0 {
		t.Errorf("without time: %d items, %v", len(items), err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = (&Recaller{Workspace: w}).Recall(ended, q); !errors.Is(err, context.Canceled) {
		t.Errorf("when ctx has ended: %v", err)
	}
	if items, err := (&Recaller{}).Recall(t.Context(), recall.Query{Goal: "hello"}); err != nil || items != nil {
		t.Errorf("nothing asked: %v, %v", items, err)
	}
}

func TestRolesByPath(t *testing.T) {
	for name, want := range map[string]recall.Slot{
		"a/b.go": recall.Definition, "a/b_test.go": recall.Test, "test_a.py": recall.Test, "a/tests/x.py": recall.Test,
		"x.spec.ts": recall.Test, "src/test/java/ATest.java": recall.Test, "latest.go": recall.Definition, "Contest.java": recall.Definition,
		"testdata/a.json": recall.Test, "README.md": recall.Document, "conftest.py": recall.Test,
	} {
		if got := slotOf(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestDeclarations(t *testing.T) {
	for line, want := range map[string]bool{
		"func Total(a int) int {": true, "func (c *Cart) Total() int {": true, "\treturn Total(1)": false, "def Total(self):": true,
		"    def Total(self):": true, "export async function Total() {": true, "pub(crate) fn Total() {": true, "class Total:": true,
		"type Total struct {": true, "func Other(t Total) {": false, "// Total is": false, "public static class Total {": true, "interface Total {": true,
	} {
		if got := declares("Total").MatchString(line); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
}

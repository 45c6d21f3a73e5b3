package rulefile

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var inOrder = []string{
	"../../AGENTS.md", "../CLAUDE.md", "../AGENTS.md",
	"CLAUDE.md", "CODE_LAW.md", "AGENTS.md",
	"a/AGENTS.md", "b/CLAUDE.md", "b/AGENTS.md", "a/b/AGENTS.md", "b/a/CODE_LAW.md", "a/b/c/CLAUDE.md",
}

// TestR235_TheNearestIsLast: whatever order they come in.
func TestR235_TheNearestIsLast(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 235))
		got := slices.Clone(inOrder)
		rng.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, Compare)
		if d := cmp.Diff(inOrder, got); d != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, d)
		}
	}
	for i, a := range inOrder {
		for _, b := range inOrder[:i] {
			if Folder(a) != Folder(b) && depth(Folder(b)) > 0 && Holds(a, Folder(b)) {
				t.Errorf("%s comes before %s, which also holds for what that holds for", b, a)
			}
		}
	}
}

func TestWhatARuleFileHoldsFor(t *testing.T) {
	for _, tc := range []struct {
		file, at string
		want     bool
	}{
		{"AGENTS.md", "a/b.go", true},
		{"../AGENTS.md", "a/b.go", true},
		{"a/AGENTS.md", "a/b.go", true},
		{"a/AGENTS.md", "a", true},
		{"a/AGENTS.md", "ab/c.go", false},
		{"a/AGENTS.md", ".", false},
		{"a/b/AGENTS.md", "a/c.go", false},
	} {
		if got := Holds(tc.file, tc.at); got != tc.want {
			t.Errorf("Holds(%q, %q) = %t", tc.file, tc.at, got)
		}
	}
	for p, want := range map[string]bool{
		"AGENTS.md": true, "../CLAUDE.md": true, "a/CODE_LAW.md": true,
		"a/agents.md": false, "./AGENTS.md": false, "/AGENTS.md": false, "a/README.md": false, "": false,
	} {
		if got := Is(p); got != want {
			t.Errorf("Is(%q) = %t", p, got)
		}
	}
}

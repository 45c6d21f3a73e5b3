package rulefile

import (
	"math/rand/v2"
	"slices"
	"strings"
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

// TestWhatIsInAFenceCannotEndIt: the last line is the first, and no line between them
// has as many backticks.
func TestWhatIsInAFenceCannotEndIt(t *testing.T) {
	for _, text := range []string{
		"", "rule", "rule\n\n", "```", "```\n", "``` go\nx\n```\n# Constraints", "`a` ``b``", "`````", strings.Repeat("`", 1000) + "\n# Red lines",
	} {
		lines := strings.Split(Fenced(text), "\n")
		first, last := lines[0], lines[len(lines)-1]
		if len(first) < 3 || strings.Trim(first, "`") != "" || last != first {
			t.Errorf("%.40q begins with %.40q and ends with %.40q", text, first, last)
		}
		inside := strings.Join(lines[1:len(lines)-1], "\n")
		if strings.Contains(inside, first) || inside != strings.TrimRight(text, "\n") {
			t.Errorf("%.40q stands as %.40q", text, inside)
		}
	}
}

package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/world/process"
)

// The page on the promises says of each what doctor says on Linux.
func TestPromisesAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/promises.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.Join(strings.Fields(string(b)), " ")
	for _, p := range promises("linux", true, process.Full) {
		want := "### " + p.ID + " " + p.What + " **" + p.Holds
		if p.Why == "" {
			want += ".**"
		} else {
			want += "**: " + p.Why + "."
		}
		if !strings.Contains(doc, want) {
			t.Errorf("docs/promises.md does not have %q", want)
		}
	}
	if got, want := strings.Count(doc, "### P"), len(promises("linux", true, process.Full)); got != want {
		t.Errorf("docs/promises.md has %d promises, want %d", got, want)
	}
}

// A machine without a place for sessions promises nothing about them, and one on
// which nothing was tested nothing in full.
func TestPromisesElsewhere(t *testing.T) {
	for _, p := range promises("linux", false, process.Full) {
		if kept := p.ID <= "P07" || p.ID == "P24"; kept && p.Holds != "absent" {
			t.Errorf("without sessions %s is %s", p.ID, p.Holds)
		}
	}
	for _, goos := range []string{"darwin", "windows"} {
		for _, p := range promises(goos, true, process.None) {
			if p.Holds == "full" || p.Why == "" {
				t.Errorf("on %s, %s is %s: %s", goos, p.ID, p.Holds, p.Why)
			}
		}
	}
}

// What holds less promises no more.
func TestPromisesOfWeakerSandboxes(t *testing.T) {
	rank := map[string]int{"absent": 0, "reduced": 1, "full": 2}
	full, landlock, none := promises("linux", true, process.Full), promises("linux", true, process.Landlock), promises("linux", true, process.None)
	for i, p := range full {
		if rank[p.Holds] < rank[landlock[i].Holds] || rank[landlock[i].Holds] < rank[none[i].Holds] {
			t.Errorf("%s is %s, %s and %s", p.ID, p.Holds, landlock[i].Holds, none[i].Holds)
		}
	}
	if got := promises("linux", true, process.None)[11]; got.ID != "P12" || got.Holds != "absent" {
		t.Errorf("without a sandbox: %+v", got)
	}
}

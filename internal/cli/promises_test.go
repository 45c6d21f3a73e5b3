package cli

import (
	"os"
	"strings"
	"testing"
)

// The page on the promises says of each what doctor says on Linux.
func TestPromisesAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/promises.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.Join(strings.Fields(string(b)), " ")
	for _, p := range promises("linux", true) {
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
	if got, want := strings.Count(doc, "### P"), len(promises("linux", true)); got != want {
		t.Errorf("docs/promises.md has %d promises, want %d", got, want)
	}
}

// A machine without a place for sessions promises nothing about them, and one on
// which nothing was tested nothing in full.
func TestPromisesElsewhere(t *testing.T) {
	for _, p := range promises("linux", false) {
		if kept := p.ID <= "P07" || p.ID == "P24"; kept && p.Holds != "absent" {
			t.Errorf("without sessions %s is %s", p.ID, p.Holds)
		}
	}
	for _, goos := range []string{"darwin", "windows"} {
		for _, p := range promises(goos, true) {
			if p.Holds == "full" || p.Why == "" {
				t.Errorf("on %s, %s is %s: %s", goos, p.ID, p.Holds, p.Why)
			}
		}
	}
}

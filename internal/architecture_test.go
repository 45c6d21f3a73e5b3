package internal_test

import (
	"os"
	"strings"
	"testing"
)

// TestArchitectureShowsTheLoop holds the heart of the loop, as docs/ARCHITECTURE.md
// shows it, to the source: each function there stands in agent as it is shown.
func TestArchitectureShowsTheLoop(t *testing.T) {
	doc, err := os.ReadFile("../docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, file := range []string{"agent/agent.go", "agent/perform.go"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(b)
	}
	_, listing, _ := strings.Cut(string(doc), "should still read like this in a year:\n\n```go\n")
	listing, _, _ = strings.Cut(listing, "```")
	functions := strings.SplitAfter(listing, "\n}\n")
	if len(functions) != 4 { // what is behind the last is empty
		t.Fatalf("%d functions are shown, want Turn, perform and record", len(functions)-1)
	}
	for _, f := range functions {
		if f = strings.TrimSpace(f); !strings.Contains(source.String(), f) {
			t.Errorf("this is not in the source:\n%s", f)
		}
	}
}

package internal_test

import (
	"os"
	"strings"
	"testing"
)

// TestReliabilityNamesTests holds docs/reliability.md to the tree: each promise
// names tests, and each of those exists.
func TestReliabilityNamesTests(t *testing.T) {
	doc, err := os.ReadFile("../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	there := proofs(t)
	rows := 0
	_, table, _ := strings.Cut(string(doc), "## Promises and their tests")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[3], "`") {
			continue
		}
		rows++
		for _, n := range proofRE.FindAllStringSubmatch(cells[3], -1) {
			if !there[n[1]] {
				t.Errorf("%s names %s, which is not there", strings.TrimSpace(cells[1]), n[1])
			}
		}
	}
	if rows < 8 {
		t.Errorf("only %d promises name tests", rows)
	}
}

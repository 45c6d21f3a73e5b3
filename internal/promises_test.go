package internal_test

import (
	"os"
	"strings"
	"testing"
)

// TestPromisesNameTests holds docs/promises.md to the tree: what is promised, if
// only in part, names tests, and each of those exists.
func TestPromisesNameTests(t *testing.T) {
	doc, err := os.ReadFile("../docs/promises.md")
	if err != nil {
		t.Fatal(err)
	}
	there := proofs(t)
	for _, section := range strings.Split(string(doc), "\n### ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		_, named, _ := strings.Cut(body, "Tests:")
		names := proofRE.FindAllStringSubmatch(named, -1)
		if len(names) == 0 && !strings.Contains(body, "**absent**") {
			t.Errorf("%s: no test is named", title)
		}
		for _, n := range names {
			if !there[n[1]] {
				t.Errorf("%s: there is no %s", title, n[1])
			}
		}
	}
}

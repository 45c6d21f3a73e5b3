package internal_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// built are the requirements that docs/requirements.md must prove by now, as
// ranges. Whoever builds more adds them here.
var built = []string{
	"1-8",
	"10-79",
	"81-107",
	"109-151",
	"217-228",
	"234-245",
	"246-272",
	"285-303",
	"304-310",
	"311-316",
	"317-327",
}

var (
	faultRE = regexp.MustCompile(`^\| ([A-Z]\d\d) \|.*\|([^|]*)\|$`)
	rowRE   = regexp.MustCompile(`^\| R(\d+) \|.*\|([^|]*)\|$`)
	proofRE = regexp.MustCompile("`([^`]+)`")
	funcRE  = regexp.MustCompile(`(?m)^func (Test\w+|Fuzz\w+)\(`)
)

// TestRequirementsHaveTests holds docs/requirements.md to the tree: each row
// names tests that exist, and no requirement that is built lacks a row.
func TestRequirementsHaveTests(t *testing.T) {
	doc, err := os.ReadFile("../docs/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	there := proofs(t)
	rows := make(map[int]bool)
	for line := range strings.Lines(string(doc)) {
		row := rowRE.FindStringSubmatch(strings.TrimSpace(line))
		if row == nil {
			continue
		}
		number, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		if rows[number] {
			t.Errorf("R%03d has two rows", number)
		}
		rows[number] = true
		named := proofRE.FindAllStringSubmatch(row[2], -1)
		if len(named) == 0 {
			t.Errorf("R%03d names no test", number)
		}
		for _, n := range named {
			if !there[n[1]] {
				t.Errorf("R%03d names %s, which is not there", number, n[1])
			}
		}
	}
	for line := range strings.Lines(string(doc)) { // faults of others
		row := faultRE.FindStringSubmatch(strings.TrimSpace(line))
		if row == nil {
			continue
		}
		for _, n := range proofRE.FindAllStringSubmatch(row[2], -1) {
			if !there[n[1]] {
				t.Errorf("%s names %s, which is not there", row[1], n[1])
			}
		}
	}
	for _, span := range built {
		first, last, ranged := strings.Cut(span, "-")
		if !ranged {
			last = first
		}
		from, to := atoi(t, first), atoi(t, last)
		for n := from; n <= to; n++ {
			if !rows[n] {
				t.Errorf("R%03d has no row", n)
			}
		}
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// proofs returns what a row can name: "package.TestName", and the path of a
// script from its package on, such as "agent/testdata/x.txtar".
func proofs(t *testing.T) map[string]bool {
	t.Helper()
	there := make(map[string]bool)
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		switch {
		case d.IsDir():
			return nil
		case strings.HasSuffix(file, ".txtar"):
			if before, after, ok := strings.Cut(file, "/testdata/"); ok {
				there[path.Base(before)+"/testdata/"+after] = true
			}
		case strings.HasSuffix(file, "_test.go"):
			src, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, m := range funcRE.FindAllStringSubmatch(string(src), -1) {
				there[fmt.Sprintf("%s.%s", path.Base(path.Dir(file)), m[1])] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return there
}

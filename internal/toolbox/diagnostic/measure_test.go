package diagnostic

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is present in a fixture, by the sources that it was made of: errors,
// warnings, and each test that fails with the place where it does.
type present struct {
	errors, warnings int
	failing          []string
}

func presents(t *testing.T) map[string]present {
	t.Helper()
	f, err := os.Open("testdata/present.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := make(map[string]present)
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Split(s.Text(), "\t")
		var p present
		if p.errors, err = strconv.Atoi(fields[1]); err != nil {
			t.Fatal(err)
		}
		if p.warnings, err = strconv.Atoi(fields[2]); err != nil {
			t.Fatal(err)
		}
		if fields[3] != "" {
			p.failing = strings.Split(fields[3], " | ")
		}
		all[fields[0]] = p
	}
	return all
}

// Every failing case of every fixture is found, where it is, and nothing else.
// The list of what there is was made from the sources, not by the parsers.
func TestR143_EveryFailingCaseIsFound(t *testing.T) {
	all := presents(t)
	tools := make(map[string]int)
	cases, found, problems := 0, 0, 0
	for _, f := range fixtures(t) {
		want, ok := all[f.name]
		if !ok {
			t.Errorf("%s is not in present.tsv", f.name)
			continue
		}
		tools[f.tool()]++
		var got present
		for _, r := range f.read(t) {
			got.errors += r.Errors
			got.warnings += r.Warnings
			for _, c := range r.Failing {
				at := c.File
				if c.Line > 0 {
					at += fmt.Sprintf(":%d", c.Line)
				}
				got.failing = append(got.failing, c.Name+"@"+at)
			}
		}
		for _, c := range want.failing {
			if slices.Contains(got.failing, c) {
				found++
			}
		}
		cases += len(want.failing)
		problems += want.errors + want.warnings
		slices.Sort(got.failing)
		slices.Sort(want.failing)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(present{})); d != "" {
			t.Errorf("%s (-present +found):\n%s", f.name, d)
		}
	}
	t.Logf("%d fixtures; failing cases found/present %d/%d; %d problems", len(all), found, cases, problems)
	for _, tool := range []string{"go", "pytest", "jest", "vitest", "cargo", "maven", "gradle", "ctest", "gcc", "clang", "tsc", "eslint"} {
		if tools[tool] < 5 {
			t.Errorf("%d outputs of %s, want five at least", tools[tool], tool)
		}
	}
}

// No parser takes the output of another tool for its own, with or without the
// command.
func TestR143_NoParserTakesTheOutputOfAnother(t *testing.T) {
	for _, f := range fixtures(t) {
		for _, command := range []string{"", f.command, "make check"} {
			reports, err := Read(command, strings.NewReader(string(f.output)))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range reports {
				if r.Tool != f.tool() && !(r.Tool == "cc" && (f.tool() == "gcc" || f.tool() == "clang") && command != f.command) {
					t.Errorf("%s was read as %s: %+v", f.name, r.Tool, r)
				}
			}
			if len(reports) > 1 {
				t.Errorf("%s gives %d reports", f.name, len(reports))
			}
		}
	}
}

// What is no output of these tools gives nothing, also where it looks a little
// like one.
func TestR143_OtherTextGivesNothing(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":        "",
		"a listing":      "a.go\nb.py\n--- a.txt\n+++ b.txt\n",
		"a diff":         "--- a/x.go\n+++ b/x.go\n@@ -1,3 +1,3 @@\n-foo\n+FAIL bar\n",
		"a log":          "2026/01/02 03:04:05 main.go:12: error: cannot connect\nx.go:12: failed\nERROR something\nFAIL: maybe\n",
		"git":            "error: pathspec 'x' did not match any file(s) known to git\nwarning: LF will be replaced by CRLF\n",
		"npm":            "npm error code ENOENT\nnpm error path /tmp/x/package.json\n",
		"yaml":           "Tests: 5\n  errors: 3\n  passed: 1\nok: true\n",
		"prose":          "3 tests failed in 2 suites, and 1 passed.\n## Results: 3 passed\n",
		"a test plan":    "1..4\nok 1 - first\nnot ok 2 - second\n",
		"grep":           "src/main.c:5: return error: 3\nsrc/a.py:9: assert x == 4\nREADME.md:3:error: x\n",
		"a stack":        "Traceback (most recent call last):\n  File \"/tmp/x.py\", line 3, in <module>\nValueError: bad\n",
		"colours alone":  "\x1b[31m\x1b[0m\r\n\x1b[1m\x1b[0m\n",
		"shell":          "bash: line 1: foo: command not found\nmake: *** No rule to make target 'x'.  Stop.\n",
		"panic":          "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x/main.go:4 +0x1d\nexit status 2\n",
		"curl":           "  % Total    % Received % Xferd\n100  12  100 12    0  0  10 in 1.0s\n",
		"json":           `{"Action":"start"}` + "\n" + `{"Action":"x","Package":1}` + "\n",
		"a passing exit": "PASS\nok\n",
	} {
		if reports, _ := Read("", strings.NewReader(text)); len(reports) != 0 {
			t.Errorf("%s gives %+v", name, reports)
		}
	}
}

package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/contract/tool/tooltest"
	"github.com/belay-agent/belay/internal/toolbox/diagnostic"
	"github.com/belay-agent/belay/internal/world/process"
)

// testsIn returns Test in root, where programs are found in bin first.
func testsIn(t testing.TB, root, bin, spool string) (tool.Tool, BashOptions, *process.Host) {
	t.Helper()
	h, err := process.Open(spool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	home, _ := os.UserHomeDir() // for Go's caches
	o := BashOptions{Root: root, Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "GOFLAGS=-mod=mod", "GOPROXY=off"}}
	if o.Shell, err = process.Shell(o.Env); err != nil {
		t.Fatal(err)
	}
	o.World = worldIn(t, root, o)
	return Test(opened(t, root), h, o), o, h
}

// prints makes a program in bin that prints the fixture of a real tool and ends
// as that did.
func prints(t testing.TB, bin, program, fixture string, exit int) {
	t.Helper()
	at, err := filepath.Abs("diagnostic/testdata/" + fixture + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	put(t, bin, program, fmt.Sprintf("#!/bin/sh\ncat '%s'\nexit %d\n", at, exit))
	if err := os.Chmod(filepath.Join(bin, program), 0o755); err != nil {
		t.Fatal(err)
	}
}

// runTests calls Test, and returns the result and its facts.
func runTests(t testing.TB, tests tool.Tool, args testArgs) (tool.Result, testFacts, *shelf) {
	t.Helper()
	s := &shelf{}
	a, err := tests.Prepare(t.Context(), bashCall(t, args))
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Do(t.Context(), tool.Env{Spill: s.spill})
	if err != nil {
		t.Fatal(err)
	}
	return r, facts[testFacts](t, r), s
}

const (
	goMod      = "module example.com/shop\n\ngo 1.24\n"
	goSum      = "package shop\n\n// Sum adds.\nfunc Sum(a, b int) int { return a + b }\n"
	goTestFile = "package shop\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Error(\"1 and 2 is 3\")\n\t}\n}\n\nfunc TestLater(t *testing.T) { t.Skip(\"later\") }\n"
)

func TestR021_TheProjectsOwnCommandIsFound(t *testing.T) {
	type files = map[string]string
	node := func(script string) string { return `{"scripts":{"test":"` + script + `"}}` }
	for _, c := range []struct {
		name  string
		files files
		args  testArgs
		want  string // the command, or "!" and the kind of the failure
	}{
		{"go", files{"go.mod": goMod}, testArgs{}, "go test -v -timeout 115s ./..."},
		{"go, a short limit", files{"go.mod": goMod}, testArgs{Timeout: 9}, "go test -v ./..."},
		{"go, a file", files{"go.mod": goMod, "a b/x_test.go": ""}, testArgs{Target: "a b/x_test.go", Filter: "TestA/b c"}, "go test -v -timeout 115s -run 'TestA/b c' './a b'"},
		{"go, a file at the root", files{"go.mod": goMod, "x_test.go": ""}, testArgs{Target: "x_test.go"}, "go test -v -timeout 115s ."},
		{"go, a directory", files{"go.mod": goMod, "a/x.go": ""}, testArgs{Target: "a", Filter: "it's"}, `go test -v -timeout 115s -run 'it'\''s' ./a/...`},
		{"go, a pattern", files{"go.mod": goMod, "a/x.go": ""}, testArgs{Target: "./a/..."}, "go test -v -timeout 115s ./a/..."},
		{"go, a package by its import path", files{"go.mod": goMod, "a/x.go": ""}, testArgs{Target: "example.com/shop/a"}, "go test -v -timeout 115s ./a/..."},
		{"go, all by a pattern", files{"go.mod": goMod}, testArgs{Target: "./..."}, "go test -v -timeout 115s ./..."},
		{"a module within", files{"go.mod": goMod, "in/go.mod": goMod, "in/a/x.go": ""}, testArgs{Target: "in/a"}, "cd in && go test -v -timeout 115s ./a/..."},
		{"cargo", files{"Cargo.toml": ""}, testArgs{Filter: "a::b"}, "cargo test --no-fail-fast -- a::b"},
		{"cargo, a file of tests", files{"Cargo.toml": "", "tests/more.rs": ""}, testArgs{Target: "tests/more.rs"}, "cargo test --no-fail-fast --test more"},
		{"cargo, a source", files{"Cargo.toml": "", "src/lib.rs": ""}, testArgs{Target: "src/lib.rs"}, "cargo test --no-fail-fast"},
		{"jest", files{"package.json": node("jest --ci")}, testArgs{Filter: "adds two"}, "CI=true npm test -- -t 'adds two'"},
		{"vitest", files{"package.json": node("vitest"), "src/a.test.ts": ""}, testArgs{Target: "src/a.test.ts"}, "CI=true npm test -- src/a.test.ts"},
		{"pnpm", files{"package.json": node("vitest"), "pnpm-lock.yaml": ""}, testArgs{Filter: "x"}, "CI=true pnpm test -t x"},
		{"yarn", files{"package.json": node("jest"), "yarn.lock": ""}, testArgs{}, "CI=true yarn test"},
		{"another script", files{"package.json": node("node check.js")}, testArgs{}, "CI=true npm test"},
		{"another script, some tests", files{"package.json": node("node check.js")}, testArgs{Filter: "x"}, "!invalid"},
		{"npm's own placeholder", files{"package.json": node("echo no test specified")}, testArgs{}, "!not_found"},
		{"pytest by its settings", files{"pyproject.toml": "[tool.pytest.ini_options]\n"}, testArgs{Filter: "a and not b"}, "python3 -m pytest -k 'a and not b'"},
		{"pytest by its files", files{"tests/test_x.py": ""}, testArgs{}, "python3 -m pytest"},
		{"pytest, a test", files{"pytest.ini": "", "tests/test_x.py": ""}, testArgs{Target: "tests/test_x.py::test_y[1-2]"}, "python3 -m pytest 'tests/test_x.py::test_y[1-2]'"},
		{"pytest of a venv", files{"pytest.ini": "", ".venv/pyvenv.cfg": ""}, testArgs{}, ".venv/bin/python -m pytest"},
		{"pytest of uv", files{"pytest.ini": "", "uv.lock": ""}, testArgs{}, "uv run pytest"},
		{"maven", files{"pom.xml": "", "src/test/java/MoreTest.java": ""}, testArgs{Target: "src/test/java/MoreTest.java", Filter: "of*"}, "mvn -B test '-Dtest=MoreTest#of*'"},
		{"maven's wrapper", files{"pom.xml": "", "mvnw": ""}, testArgs{}, "./mvnw -B test"},
		{"gradle", files{"build.gradle": "", "src/MoreTest.java": ""}, testArgs{Target: "src/MoreTest.java"}, "gradle --console=plain test --tests '*MoreTest'"},
		{"gradle's wrapper", files{"build.gradle.kts": "", "gradlew": ""}, testArgs{Filter: "shop.*"}, "./gradlew --console=plain test --tests 'shop.*'"},
		{"cmake", files{"CMakeLists.txt": "", "out/CTestTestfile.cmake": ""}, testArgs{Filter: "^total"}, "cmake --build out && ctest --output-on-failure --test-dir out -R '^total'"},
		{"cmake that is not configured", files{"CMakeLists.txt": ""}, testArgs{}, "!not_found"},
		{"cmake, a file", files{"CMakeLists.txt": "", "out/CTestTestfile.cmake": "", "a.c": ""}, testArgs{Target: "a.c"}, "!invalid"},
		{"make", files{"Makefile": "all:\n\ntest: all\n\t./check\n"}, testArgs{}, "make test"},
		{"make, some tests", files{"Makefile": "test:\n\t./check\n"}, testArgs{Filter: "x"}, "!invalid"},
		{"make without tests", files{"Makefile": "all:\n\techo test: no\n"}, testArgs{}, "!not_found"},
		{"two kinds, by the file", files{"go.mod": goMod, "package.json": node("jest"), "web/a.test.js": ""}, testArgs{Target: "web/a.test.js"}, "CI=true npm test -- web/a.test.js"},
		{"two kinds", files{"go.mod": goMod, "Makefile": "test:\n"}, testArgs{}, "go test -v -timeout 115s ./..."},
		{"nothing", files{"README": ""}, testArgs{}, "!not_found"},
		{"no such target", files{"go.mod": goMod}, testArgs{Target: "lost"}, "!not_found"},
		{"outside", files{"go.mod": goMod}, testArgs{Target: "../x"}, "!invalid"},
		{"a flag as a filter", files{"go.mod": goMod}, testArgs{Filter: "-exec=rm"}, "!invalid"},
		{"a flag as a target", files{"go.mod": goMod}, testArgs{Target: "-toolexec=x"}, "!invalid"},
		{"two lines", files{"go.mod": goMod}, testArgs{Filter: "a\nrm -r ."}, "!invalid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for path, content := range c.files {
				put(t, dir, path, content)
			}
			tests, _, _ := testsIn(t, dir, t.TempDir(), "")
			a, err := tests.Prepare(t.Context(), bashCall(t, c.args))
			if kind, fails := strings.CutPrefix(c.want, "!"); fails {
				f, ok := errors.AsType[*tool.Failure](err)
				if !ok || string(f.Kind) != kind || f.Hint == "" {
					t.Fatalf("got %+v, %v, want a failure of kind %s with a hint", a, err, kind)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if a.Preview != c.want {
				t.Errorf("got  %s\nwant %s", a.Preview, c.want)
			}
		})
	}
}

// Whatever a target or a filter holds, it is one word of the command.
func TestR021_NamesAreNoCommands(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "go.mod", goMod)
	for _, name := range []string{
		"; touch made", "' ; touch made; '", `"; touch made; "`, "$(touch made)", "`touch made`", "a b", "~", "*", "a\\", "$HOME",
		"a && touch made", "| touch made", "> made", "#", "{a,b}", "größe", "!!", "'", "''", "a'b\"c", "\t",
	} {
		tests, o, _ := testsIn(t, dir, "/nowhere", "")
		a, err := tests.Prepare(t.Context(), bashCall(t, testArgs{Filter: name}))
		if err != nil {
			t.Fatal(err)
		}
		word, ok := strings.CutPrefix(a.Preview, "go test -v -timeout 115s -run ")
		word, all := strings.CutSuffix(word, " ./...")
		if !ok || !all {
			t.Fatalf("%q gives %s", name, a.Preview)
		}
		r, _ := bashWith(t, bashIn(t, dir, o), tool.Env{}, bashArgs{Command: "printf '<%s>\\n' " + word})
		if !strings.HasPrefix(r.Text, "<"+name+">\n") {
			t.Errorf("%q is read as %s", name, r.Text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Error("a name was run")
	}
}

// What the command may do is what Bash would declare for it, and so is how it
// is confined.
func TestR021_EffectsAreThoseOfBash(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"go":    {"sub/go.mod": goMod, "sub/x.go": ""},
		"cargo": {"Cargo.toml": ""},
		"make":  {"Makefile": "test:\n"},
	} {
		dir := t.TempDir()
		for path, content := range files {
			put(t, dir, path, content)
		}
		tests, o, h := testsIn(t, dir, t.TempDir(), "")
		args := testArgs{Timeout: 30}
		if name == "go" {
			args.Target = "sub"
		}
		a, err := tests.Prepare(t.Context(), bashCall(t, args))
		if err != nil {
			t.Fatal(err)
		}
		b, err := Bash(h, o).Prepare(t.Context(), bashCall(t, bashArgs{Command: a.Preview, Timeout: 30}))
		if err != nil {
			t.Fatal(err)
		}
		a.Do, b.Do = nil, nil
		if d := cmp.Diff(b, a); d != "" {
			t.Errorf("%s: %s (-Bash +Test):\n%s", name, a.Preview, d)
		}
		if len(a.Effects()) == 0 {
			t.Errorf("%s: %s has no effects", name, a.Preview)
		}
	}
}

// One outcome for each way in which a run can end. Nothing but tests that ran
// and did not fail is a pass.
func TestR021_OutcomesAreToldApart(t *testing.T) {
	type files = map[string]string
	npm := files{"package.json": `{"scripts":{"test":"jest vitest"}}`}
	for _, c := range []struct {
		program, fixture string
		exit             int
		files            files
		filter           string
		outcome          diagnostic.Outcome
		kind             tool.Kind
		says             string
	}{
		{"npm", "jest-30.5.2-passing", 0, npm, "", diagnostic.Passed, "", "Passed: 1 passed, 1 skipped."},
		{"npm", "jest-30.5.2-several-failures", 1, npm, "", diagnostic.Failed, tool.NonzeroExit, "Failed: 3 failed, 2 passed, 1 skipped."},
		{"npm", "jest-30.5.2-suite-errors", 1, npm, "", diagnostic.BuildFailed, tool.NonzeroExit, "The build failed"},
		{"npm", "jest-30.5.2-no-match", 0, npm, "nosuchtest", diagnostic.NoTests, tool.NotFound, `No test ran: none matches the filter "nosuchtest". That is not a pass.`},
		{"npm", "jest-30.5.2-no-tests", 1, npm, "", diagnostic.NoTests, tool.NotFound, "No test ran: there is none. That is not a pass."},
		{"npm", "jest-30.5.2-passing", 1, npm, "", brokenRun, tool.NonzeroExit, "The command failed, and no test that failed was recognised"},
		{"npm", "jest-30.5.2-several-failures", 0, npm, "", diagnostic.Failed, tool.NonzeroExit, "Failed: 3 failed"},
		{"npm", "vitest-4.1.12-no-tests", 1, npm, "", diagnostic.NoTests, tool.NotFound, "No test ran"},
		{"npm", "eslint-10.15.0-problems", 1, npm, "", brokenRun, tool.NonzeroExit, "The command failed"},
		{"npm", "tsc-6.0.3-errors", 2, npm, "", diagnostic.BuildFailed, tool.NonzeroExit, "The build failed"},
		{"npm", "go-build-1.26.8-passing", 0, npm, "", diagnostic.Untold, "", "The command succeeded. Its output does not say"},
		{"npm", "go-build-1.26.8-passing", 127, npm, "", brokenRun, tool.NonzeroExit, "The command failed"},
		{"cargo", "cargo-test-1.95.0-no-match", 0, files{"Cargo.toml": ""}, "lost", diagnostic.NoTests, tool.NotFound, "No test ran: none matches"},
		{"cargo", "cargo-test-1.95.0-compile-error", 101, files{"Cargo.toml": ""}, "", diagnostic.BuildFailed, tool.NonzeroExit, "The build failed"},
		{"python3", "pytest-7.2.1-no-match", 5, files{"pytest.ini": ""}, "lost", diagnostic.NoTests, tool.NotFound, "No test ran: none matches"},
		{"python3", "pytest-7.2.1-collection-errors", 2, files{"pytest.ini": ""}, "", diagnostic.BuildFailed, tool.NonzeroExit, "The build failed"},
		{"mvn", "maven-3.8.7-no-match", 1, files{"pom.xml": ""}, "Lost", diagnostic.NoTests, tool.NotFound, "No test ran"},
		{"mvn", "maven-3.8.7-no-tests", 0, files{"pom.xml": ""}, "", diagnostic.NoTests, tool.NotFound, "No test ran"},
		{"gradle", "gradle-4.4.1-passing", 0, files{"build.gradle": ""}, "", diagnostic.Untold, "", "The command succeeded. Its output does not say"},
		{"make", "ctest-3.25.1-skipped-only", 0, files{"Makefile": "test:\n"}, "", diagnostic.NoTests, tool.NotFound, "No test ran: all were skipped (1)"},
		{"make", "ctest-3.25.1-several-failures", 2, files{"Makefile": "test:\n"}, "", diagnostic.Failed, tool.NonzeroExit, "Failed: 5 failed, 2 passed, 2 skipped."},
	} {
		t.Run(fmt.Sprintf("%s exit %d", c.fixture, c.exit), func(t *testing.T) {
			t.Parallel()
			dir, bin := t.TempDir(), t.TempDir()
			for path, content := range c.files {
				put(t, dir, path, content)
			}
			prints(t, bin, c.program, c.fixture, c.exit)
			tests, _, _ := testsIn(t, dir, bin, "")
			r, f, s := runTests(t, tests, testArgs{Filter: c.filter})
			if f.Outcome != c.outcome || kindOf(r) != c.kind || !strings.HasPrefix(r.Text, c.says) {
				t.Errorf("outcome %q, kind %q, text:\n%s\nwant %q, %q, %q", f.Outcome, kindOf(r), r.Text, c.outcome, c.kind, c.says)
			}
			if (r.Status == tool.Success) != (c.kind == "") {
				t.Errorf("status %s", r.Status)
			}
			if f.Code == nil || *f.Code != c.exit || !strings.Contains(r.Text, "[ran: "+f.Command+"]") {
				t.Errorf("exit %v, command %q, text:\n%s", f.Code, f.Command, r.Text)
			}
			for _, failing := range f.Failing {
				if !strings.Contains(r.Text, failing.Name) {
					t.Errorf("%q is not in the text:\n%s", failing.Name, r.Text)
				}
			}
			output, err := os.ReadFile("diagnostic/testdata/" + c.fixture + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case len(output) == 0:
			case len(s.kept) != 1 || s.kept[0].String() != string(output):
				t.Errorf("%d artifacts, want one that is the whole output", len(s.kept))
			case len(r.Artifacts) != 1 || !strings.Contains(r.Text, r.Artifacts[0].Handle):
				if c.outcome == diagnostic.Passed || c.outcome == diagnostic.Failed || c.outcome == diagnostic.NoTests {
					t.Errorf("the artifacts %+v are not in the text:\n%s", r.Artifacts, r.Text)
				}
			}
		})
	}
}

// A real Go project: failing tests stand first, with their places as paths of
// the workspace.
func TestR021_ARealProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "mod/go.mod", goMod)
	put(t, dir, "mod/sum.go", goSum)
	put(t, dir, "mod/sum_test.go", goTestFile)
	put(t, dir, "mod/cents/cents.go", "package cents\n")
	put(t, dir, "mod/cents/cents_test.go", "package cents\n\nimport \"testing\"\n\nfunc TestCents(t *testing.T) {\n\tt.Run(\"of one\", func(t *testing.T) { t.Error(\"one has\\n100\") })\n}\n")
	tests, _, _ := testsIn(t, dir, t.TempDir(), "")

	r, f, _ := runTests(t, tests, testArgs{Target: "mod", Timeout: 600})
	want := []diagnostic.Case{{Name: "TestCents/of_one", Suite: "example.com/shop/cents", File: "mod/cents/cents_test.go", Line: 6, Message: "one has\n100"}}
	if d := cmp.Diff(want, f.Failing); d != "" {
		t.Errorf("failing (-want +got):\n%s\n%s", d, r.Text)
	}
	if d := cmp.Diff(&diagnostic.Counts{Passed: 1, Failed: 1, Skipped: 1, Unit: "tests"}, f.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	const text = "Failed: 1 failed, 1 passed, 1 skipped.\ngo: 1 test failed, 1 passed, 1 skipped\n" +
		"  FAIL TestCents/of_one (example.com/shop/cents) at mod/cents/cents_test.go:6: one has\n      100\n[ran: cd mod && go test -v -timeout 595s ./...]\n"
	if !strings.HasPrefix(r.Text, text) {
		t.Errorf("got\n%s\nwant\n%s", r.Text, text)
	}

	if _, f, _ = runTests(t, tests, testArgs{Target: "mod/sum_test.go", Timeout: 600}); f.Outcome != diagnostic.Passed || f.Counts.Passed != 1 {
		t.Errorf("one package: %+v", f)
	}
	if r, f, _ = runTests(t, tests, testArgs{Target: "mod", Filter: "TestLost", Timeout: 600}); f.Outcome != diagnostic.NoTests || r.Status != tool.Error {
		t.Errorf("a filter that matches nothing: %s, %+v", r.Text, f)
	}
	put(t, dir, "mod/broken_test.go", "package shop\n\nvar n int = \"three\"\n")
	r, f, _ = runTests(t, tests, testArgs{Target: "mod/sum_test.go", Timeout: 600})
	if f.Outcome != diagnostic.BuildFailed || len(f.Problems) != 1 || f.Problems[0].File != "mod/broken_test.go" || f.Problems[0].Line != 3 {
		t.Errorf("a build that fails: %s, %+v", r.Text, f)
	}
}

// A run that is ended has not passed, and says what it showed until then.
func TestR021_ARunThatIsStopped(t *testing.T) {
	t.Parallel()
	dir, bin := t.TempDir(), t.TempDir()
	put(t, dir, "pytest.ini", "")
	put(t, bin, "python3", "#!/bin/sh\necho 'tests/a.py::test_a FAILED        [ 50%]'\nexec sleep 300\n")
	if err := os.Chmod(filepath.Join(bin, "python3"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests, _, _ := testsIn(t, dir, bin, "")
	a, err := tests.Prepare(t.Context(), bashCall(t, testArgs{}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := a.Do(ctx, tool.Env{Live: cancels(cancel)})
	if err != nil {
		t.Fatal(err)
	}
	f := facts[testFacts](t, r)
	if f.Outcome != stoppedRun || kindOf(r) != tool.Cancelled || r.Status != tool.Interrupted || len(f.Failing) != 1 || !strings.Contains(r.Text, "test_a") {
		t.Errorf("outcome %q, kind %s, text:\n%s", f.Outcome, kindOf(r), r.Text)
	}
}

// A cancels is whoever watches, and has seen enough with the first output.
type cancels context.CancelFunc

func (c cancels) Write(b []byte) (int, error) { c(); return len(b), nil }

// An output that is too long for a result is an artifact all the same, once.
func TestR021_R142_ALongOutputIsKept(t *testing.T) {
	t.Parallel()
	dir, bin := t.TempDir(), t.TempDir()
	put(t, dir, "Makefile", "test:\n")
	put(t, bin, "make", "#!/bin/sh\nseq 100000\necho '====== 3 passed in 0.10s ======'\n")
	if err := os.Chmod(filepath.Join(bin, "make"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests, _, _ := testsIn(t, dir, bin, "")
	r, f, s := runTests(t, tests, testArgs{})
	if f.Outcome != diagnostic.Passed || f.Counts.Passed != 3 || r.Status != tool.Success {
		t.Errorf("%s: %+v", r.Text, f)
	}
	if len(s.kept) != 1 || s.kept[0].Len() != int(f.Bytes) || len(r.Artifacts) != 1 || len(r.Text) > 1000 {
		t.Errorf("%d artifacts, %d bytes of text", len(s.kept), len(r.Text))
	}
}

func TestR021_TestKeepsItsContract(t *testing.T) {
	for name, c := range map[string]struct {
		makefile string
		args     string
		tooltest.Case
	}{
		"passes":       {"test:\n\t@echo '=== 3 passed in 0.1s ==='; touch made\n", `{}`, tooltest.Case{}},
		"fails":        {"test:\n\t@echo 'FAILED a.py::t - x'; echo '=== 1 failed in 0.1s ==='; exit 1\n", `{}`, tooltest.Case{Status: tool.Error, Kind: tool.NonzeroExit}},
		"no tests":     {"test:\n\t@echo '=== no tests ran in 0.1s ==='\n", `{}`, tooltest.Case{Status: tool.Error, Kind: tool.NotFound}},
		"says nothing": {"test:\n\t@true\n", `{"timeout_s":60}`, tooltest.Case{}},
		"goes on":      {"test:\n\t@echo on; sleep 300\n", `{}`, tooltest.Case{Status: tool.Interrupted, Kind: tool.Cancelled, Blocks: true}},
		"times out":    {"test:\n\t@sleep 300\n", `{"timeout_s":1}`, tooltest.Case{Status: tool.Error, Kind: tool.TimedOut}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Open = func(t testing.TB, dir string) (tool.Tool, tool.Input) {
				put(t, dir, "Makefile", c.makefile)
				tests, _, _ := testsIn(t, dir, "/nowhere", "")
				return tests, tool.Input{Args: json.RawMessage(c.args)}
			}
			tooltest.Test(t, c.Case)
		})
	}
}

// After a crash it is known how the command ended, and never that tests passed.
func TestR021_R075_ARunThatEndedBeforeACrash(t *testing.T) {
	t.Parallel()
	dir, spool := t.TempDir(), t.TempDir()
	put(t, dir, "Makefile", "test:\n\t@echo '=== 3 passed in 0.1s ==='\n")
	tests, _, _ := testsIn(t, dir, "/nowhere", spool)
	a, err := tests.Prepare(t.Context(), bashCall(t, testArgs{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Do(t.Context(), tool.Env{}); err != nil {
		t.Fatal(err)
	}
	next, _, _ := testsIn(t, dir, "/nowhere", spool)
	plan := tool.Plan{Call: tool.Call{ID: "c1", Tool: "Test"}, Version: 1, Parts: a.Parts, Summary: a.Summary, Preview: a.Preview, Timeout: a.Timeout}
	r, err := next.(tool.Settler).Settle(t.Context(), plan, a.Fingerprint)
	if err != nil || r == nil {
		t.Fatalf("Settle returns %v, %v", r, err)
	}
	f := facts[testFacts](t, *r)
	if f.Outcome != diagnostic.Untold || f.Command != "make test" || f.Code == nil || *f.Code != 0 {
		t.Errorf("%+v", f)
	}
}

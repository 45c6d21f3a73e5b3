package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A story is a session being written, and the files it is about.
type story struct {
	t      *testing.T
	log    Log
	seq    int64
	calls  int
	files  map[string]string
	images map[string][]byte
}

func begin(t *testing.T, files map[string]string) *story {
	s := &story{t: t, files: files, images: make(map[string][]byte)}
	for _, text := range files {
		s.keep(text)
	}
	s.add(event.Opened{Session: "s"})
	return s
}

func (s *story) add(b event.Body) {
	s.seq++
	s.log.Add(event.Event{Seq: s.seq, Body: b})
}

func (s *story) ask(text string, mentions ...string) {
	s.add(event.Asked{Text: text, Mentions: mentions})
}
func (s *story) stop() { s.add(event.Stopped{Reason: "end"}) }

func (s *story) keep(text string) string {
	d := edit.Digest([]byte(text))
	s.images[d] = []byte(text)
	return d
}

func (s *story) image(digest string) ([]byte, error) {
	if b, ok := s.images[digest]; ok {
		return b, nil
	}
	return nil, errors.New("no such image")
}

// call makes a call of the model that ends in r.
func (s *story) call(name, args string, r tool.Result) string {
	s.calls++
	c := tool.Call{ID: fmt.Sprintf("c%d", s.calls), Tool: name, Args: json.RawMessage(args)}
	kind := effect.Write
	if looking[name] {
		kind = effect.Read
	}
	s.add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Call{Call: c}}}, Stop: model.Calls})
	s.add(event.Planned{Plan: tool.Plan{Call: c, Parts: []tool.Part{{Effects: effect.Set{{Kind: kind}}}}}})
	s.add(event.Finished{Call: c.ID, Result: r})
	return c.ID
}

// edits changes files to what they are given as, "-" removes one.
func (s *story) edits(to ...string) (all []edit.Intent) {
	for i := 0; i < len(to); i += 2 {
		path, text := to[i], to[i+1]
		e := edit.Intent{Path: path}
		if was, ok := s.files[path]; ok {
			e.Base = edit.Digest([]byte(was))
		}
		if text == "-" {
			e.Remove = true
			delete(s.files, path)
		} else {
			s.files[path] = text
			e.Result = s.keep(text)
		}
		all = append(all, e)
	}
	return all
}

func (s *story) edit(to ...string) string {
	return s.call("Edit", fmt.Sprintf(`{"path":%q}`, to[0]), tool.Result{Status: tool.Success, Edits: s.edits(to...)})
}

// test runs the tests, of which so many pass and fail.
func (s *story) test(pass, fail int) string {
	outcome, status := passed, tool.Success
	if fail > 0 {
		outcome, status = failed, tool.Error
	}
	data := fmt.Sprintf(`{"command":"go test ./...","outcome":%q,"counts":{"passed":%d,"failed":%d,"skipped":0},"exit_code":%d}`, outcome, pass, fail, min(fail, 1))
	r := tool.Result{Status: status, Data: json.RawMessage(data)}
	if fail > 0 {
		r.Failure = &tool.Failure{Kind: tool.NonzeroExit}
	}
	return s.call("Test", `{}`, r)
}

func (s *story) bash(command string, code int, data string, edits ...edit.Intent) string {
	r := tool.Result{Status: tool.Success, Edits: edits, Data: json.RawMessage(fmt.Sprintf(`{"exit_code":%d%s}`, code, data))}
	if code != 0 {
		r.Status, r.Failure = tool.Error, &tool.Failure{Kind: tool.NonzeroExit}
	}
	args, _ := json.Marshal(map[string]string{"command": command})
	return s.call("Bash", string(args), r)
}

func (s *story) report() Report { return s.log.Of(s.log.Turn(), s.image) }

func texts(lines []Line) (all []string) {
	for _, l := range lines {
		mark := "  "
		if l.Bad {
			mark = "! "
		}
		all = append(all, mark+l.Text)
	}
	return all
}

func (s *story) want(want ...string) {
	s.t.Helper()
	if d := cmp.Diff(want, texts(s.report().Lines(false))); d != "" {
		s.t.Errorf("the report (-want +got):\n%s", d)
	}
}

func (s *story) finds(want ...string) {
	s.t.Helper()
	if d := cmp.Diff(want, s.report().Findings); d != "" {
		s.t.Errorf("findings (-want +got):\n%s", d)
	}
}

// TestR245_TheReportNamesFilesHowAndByWhichCall they were changed and verified.
func TestR245_TheReportNamesFilesHowAndByWhichCall(t *testing.T) {
	s := begin(t, map[string]string{"a.go": "1\n2\n3\n", "old.go": "x\n", "gone.txt": "g\n", "same.go": "s\n"})
	s.ask("tidy up")
	s.edit("a.go", "1\ntwo\n3\n")
	s.edit("a.go", "1\ntwo\n3\n4\n", "b.go", "new\n")
	s.call("Rename", `{"path":"old.go"}`, tool.Result{Status: tool.Success, Edits: s.edits("old.go", "-", "new.go", "x\n")})
	s.edit("gone.txt", "-")
	s.edit("same.go", "t\n")
	s.edit("same.go", "s\n")
	s.edit("brief.go", "b\n")
	s.edit("brief.go", "-")
	s.test(12, 0)
	s.edit("README.md", "read\n")
	s.want(
		"  changed a.go +2 -1 (c1, c2)",
		"  created b.go +1 -0 (c2)",
		"  renamed old.go -> new.go (c3)",
		"  removed gone.txt +0 -1 (c4)",
		"  created README.md +1 -0 (c10)",
		"  go test ./...: passed (12 passed) (c9)",
		"! unverified: no test passed after the change of README.md",
	)
	s.finds()
	for _, c := range s.report().Changes {
		if (c.Tested == "c9") != (c.Path != "README.md") {
			t.Errorf("%s is tested by %q", c.Path, c.Tested)
		}
	}
}

// TestR245_WithoutImages the figures are those of the calls.
func TestR245_WithoutImages(t *testing.T) {
	s := begin(t, map[string]string{"a.go": "1\n", "b.go": "1\n"})
	s.ask("go")
	s.call("Edit", `{"path":"a.go"}`, tool.Result{
		Status: tool.Success, Edits: s.edits("a.go", "2\n"), Data: json.RawMessage(`{"path":"a.go","added":1,"removed":1}`),
	})
	s.call("MultiEdit", `{}`, tool.Result{
		Status: tool.Success, Edits: s.edits("b.go", "2\n"), Data: json.RawMessage(`{"files":[{"path":"b.go","added":3,"removed":2}],"added":3,"removed":2}`),
	})
	s.bash("sed -i s/1/2/ c.go", 0, "", s.edits("c.go", "2\n")...)
	got := texts(s.log.Of(1, nil).Lines(false))
	want := []string{"  changed a.go +1 -1 (c1)", "  changed b.go +3 -2 (c2)", "  created c.go (c3)", "! unverified: no test passed after the change of a.go, b.go, c.go"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestR245_WhatFailsAfterTheLastChangeIsFound, and what failed before is not.
func TestR245_WhatFailsAfterTheLastChangeIsFound(t *testing.T) {
	s := begin(t, map[string]string{"a.go": "1\n"})
	s.ask("make it pass")
	s.test(1, 2)
	s.finds()
	s.want("  no file is changed", "! go test ./...: FAILED (2 failed, 1 passed) (c1)")
	s.edit("a.go", "2\n")
	s.finds()
	s.want("  changed a.go +1 -1 (c2)",
		"! unverified: go test ./... failed (c1), and was not run again after what changed",
		"! unverified: no test passed after the change of a.go")
	s.test(2, 1)
	s.finds("go test ./... (c3) fails after the last change")
	s.edit("a.go", "3\n")
	s.test(3, 0)
	s.finds()
	s.edit("README.md", "prose\n") // no test reads it
	s.finds()
	if c := s.report().Checks; !c[2].Current || c[1].Current || c[0].Current {
		t.Errorf("%+v", c)
	}
	s.edit("a.go", "1\n") // as it was
	s.want("  created README.md +1 -0 (c6)", "! unverified: no test passed after the change of README.md")
	s.stop()
	s.ask("and now?") // another turn
	s.want()
	if whole := s.log.Of(0, s.image); len(whole.Changes) != 1 || len(whole.Checks) != 3 {
		t.Errorf("of the session: %+v", whole)
	}
}

// TestR245_CommandsAreChecks where their output or their name says so.
func TestR245_CommandsAreChecks(t *testing.T) {
	const tests = `,"reports":[{"tool":"go","counts":{"passed":%d,"failed":%d,"skipped":0,"unit":"tests"}}]`
	for _, tc := range []struct {
		command       string
		code          int
		data          string
		kind, outcome string
	}{
		{"go test ./...", 0, fmt.Sprintf(tests, 3, 0), "test", passed},
		{"go test ./... | tail -5", 0, fmt.Sprintf(tests, 3, 1), "test", failed}, // whatever tail says
		{"go test ./...", 1, "", "test", broken},
		{"go test ./...", 0, "", "test", untold},
		{"go test ./...", 0, fmt.Sprintf(tests, 0, 0), "test", noTests},
		{"cd x && CI=1 timeout 60 npm test", 0, "", "test", untold},
		{"go build ./...", 0, "", "build", passed},
		{"go build ./... && go vet ./...", 1, `,"reports":[{"tool":"go","errors":2}]`, "build", buildFailed},
		{"./check.sh", 1, fmt.Sprintf(tests, 3, 1), "test", failed},
		{"go test ./... &", 0, `,"background":"p1"`, "", ""},
		{"echo go test", 0, "", "", ""},
		{"grep -r 'go test' .", 1, "", "", ""},
		{"ls", 0, "", "", ""},
		{"cat old.log", 0, fmt.Sprintf(tests, 3, 0), "", ""},
		{"gh run view --log | head; exit 0", 0, fmt.Sprintf(tests, 3, 1), "", ""},
		{"sh test.sh", 0, "", "test", untold},
		{"cat ./test.sh", 0, "", "", ""},
	} {
		s := begin(t, nil)
		s.ask("go")
		s.bash(tc.command, tc.code, tc.data)
		var kind, outcome string
		for _, c := range s.report().Checks {
			kind, outcome = c.Kind, c.Outcome
		}
		if kind != tc.kind || outcome != tc.outcome {
			t.Errorf("%s, status %d%s: %q %q, want %q %q", tc.command, tc.code, tc.data, kind, outcome, tc.kind, tc.outcome)
		}
	}
}

// TestR245_ACommandThatChangesAndTests has tested what it changed only if the test
// came last.
func TestR245_ACommandThatChangesAndTests(t *testing.T) {
	for command, want := range map[string]string{
		"gofmt -w . && go test ./...": "c1",
		"go test ./... && gofmt -w .": "",
	} {
		s := begin(t, map[string]string{"a.go": "1\n"})
		s.ask("go")
		s.bash(command, 0, `,"reports":[{"counts":{"passed":1}}]`, s.edits("a.go", "2\n")...)
		if got := s.report().Changes[0].Tested; got != want {
			t.Errorf("%s: tested by %q, want %q", command, got, want)
		}
	}
}

// TestR010_EditsOutsideOfWhatWasNamedAreListedApart.
func TestR010_EditsOutsideOfWhatWasNamedAreListedApart(t *testing.T) {
	for _, tc := range []struct {
		words    string
		mentions []string
		todo     string
		outside  string
	}{
		{words: "fix the parser"},
		{words: "fix internal/parser.go", outside: "cmd/main.go"},
		{words: "fix parser.go", outside: "cmd/main.go"},
		{words: "修复parser.go里的错误", outside: "cmd/main.go"},
		{words: "fix this", mentions: []string{"internal/parser.go:10-20"}, outside: "cmd/main.go"},
		{words: "work in internal/ only", outside: "cmd/main.go"},
		{words: "change @internal/ please", mentions: []string{"internal/"}, outside: "cmd/main.go"},
		{words: "only touch docs/notes.md", outside: "internal/parser.go internal/parser_test.go cmd/main.go"},
		{words: "fix internal/parser.go", todo: "also cmd/main.go"},
		{words: "rename Foo in parser.go everywhere"},
		{words: "make parser_test.go pass"}, // a test says what is to be true, not where
		{words: "use Node.js or TCP/IP, e.g. v1.2, and/or see https://a.b/c.go"},
	} {
		s := begin(t, map[string]string{"internal/parser.go": "1\n", "cmd/main.go": "1\n"})
		s.ask(tc.words, tc.mentions...)
		if tc.todo != "" {
			s.call("Todo", `{}`, tool.Result{Status: tool.Success, Todo: []tool.Todo{{Text: tc.todo, State: "done"}}})
		}
		s.edit("internal/parser.go", "2\n")
		s.edit("internal/parser_test.go", "2\n") // goes with it
		s.edit("cmd/main.go", "2\n")
		r := s.report()
		if got := strings.Join(r.Outside, " "); got != tc.outside {
			t.Errorf("%q: outside are %q, want %q (named %q)", tc.words, got, tc.outside, r.Named)
		}
		if r.Findings != nil { // it may have been named to be read
			t.Errorf("%q: findings %q", tc.words, r.Findings)
		}
	}
}

// TestR245_TestsThatProveLessAreFlagged by their text, with and without images.
func TestR245_TestsThatProveLessAreFlagged(t *testing.T) {
	const before = "func TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Error(1)\n\t}\n}\n\nfunc TestB(t *testing.T) {\n\tt.Fatal(2)\n}\n"
	for _, tc := range []struct{ name, path, before, after, want string }{
		{"gone", "a_test.go", before, "-", "the test file is gone: TestA, TestB"},
		{"one gone", "a_test.go", before, before[:strings.Index(before, "func TestB")], "tests are gone: TestB"},
		{"skipped", "a_test.go", before, strings.Replace(before, "{\n\tt.Fatal", "{\n\tt.Skip(\"later\")\n\tt.Fatal", 1), "1 more skipped"},
		{"asserts less", "a_test.go", before, strings.Replace(before, "\t\tt.Error(1)\n", "", 1), "1 fewer assertions"},
		{"python", "tests/test_a.py", "def test_a():\n    assert f()\n", "@pytest.mark.skip\ndef test_a():\n    assert f()\n", "1 more skipped"},
		{"js", "a.test.ts", "it('works', () => { expect(1).toBe(1) })\n", "it.skip('works', () => { expect(1).toBe(1) })\n", "1 more skipped"},
		{"rust", "src/a.rs", "#[test]\nfn works() { assert!(true) }\n", "", "tests are gone: works"},
		{"more", "a_test.go", before, before + "\nfunc TestC(t *testing.T) { t.Error(3) }\n", ""},
		{"moved inside", "a_test.go", before, before[strings.Index(before, "func TestB"):] + before[:strings.Index(before, "func TestB")], ""},
		{"no test", "a.go", "func f() { t.Error(1) }\n", "func f() {}\n", ""},
		{"new and skipping", "a_test.go", "", "func TestA(t *testing.T) { t.Skip() }\n", "1 more skipped"},
	} {
		files := map[string]string{}
		if tc.before != "" {
			files[tc.path] = tc.before
		}
		s := begin(t, files)
		s.ask("make it pass")
		s.edit(tc.path, tc.after)
		var got []string
		for _, w := range s.report().Tests {
			got = append(got, w.What)
		}
		if strings.Join(got, "; ") != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	s := begin(t, map[string]string{"a_test.go": before})
	s.ask("make it pass")
	s.call("Edit", `{"path":"a_test.go"}`, tool.Result{
		Status: tool.Success, Edits: s.edits("a_test.go", "x"),
		Text: "edited a_test.go (+1 -2)\n--- a/a_test.go\n+++ b/a_test.go\n@@ -7,3 +7,1 @@\n-func TestB(t *testing.T) {\n-\tt.Fatal(2)\n-}\n+x\n",
	})
	if r := s.log.Of(1, nil); len(r.Tests) != 1 || r.Tests[0].What != "tests are gone: TestB" || len(r.Findings) != 1 {
		t.Errorf("by the diff alone: %+v", r.Tests)
	}
	s = begin(t, map[string]string{"a_test.go": before})
	s.ask("delete the tests of A")
	s.edit("a_test.go", "-")
	if r := s.report(); len(r.Tests) != 1 || !r.Tests[0].Asked || r.Findings != nil {
		t.Errorf("as asked: %+v %q", r.Tests, r.Findings)
	}
}

// TestR245_WhatWasNotDoneIsSaid: denied, unknown and failed calls, the todo list,
// constraints that nothing enforces, commands that undo does not cover.
func TestR245_WhatWasNotDoneIsSaid(t *testing.T) {
	s := begin(t, map[string]string{"a.go": "1\n"})
	fails := func(kind tool.Kind, why string) tool.Result {
		return tool.Failed(&tool.Failure{Kind: kind, Message: why})
	}
	s.add(event.Constrained{ID: "k1", Words: "be kind", By: "pattern"})
	s.add(event.Constrained{ID: "k2", Words: "leave x", By: "pattern", Bans: []tool.Ban{{Rule: "Edit(x)"}}})
	s.add(event.Constrained{ID: "k3", Words: "gone", By: "pattern"})
	s.add(event.Constrained{ID: "k3", Lifted: true})
	s.ask("go")
	s.call("Todo", `{}`, tool.Result{Status: tool.Success, Todo: []tool.Todo{{Text: "one", State: "done"}, {Text: "two", State: "active"}}})
	s.call("Edit", `{"path":"a.go"}`, fails(tool.NoMatch, "old is not in the file"))
	s.call("Edit", `{"path":"b.go"}`, fails(tool.NoMatch, "old is not in the file"))
	s.call("Edit", `{"path":"b.go"}`, fails(tool.NoMatch, "old is not in the file"))
	s.call("Read", `{"path":"c.go"}`, fails(tool.NotFound, "no such file"))
	s.call("Bash", `{"command":"rm -rf x"}`, fails(tool.NeedsApproval, "no approver is present"))
	s.call("Bash", `{"command":"deploy"}`, tool.Result{Status: tool.Unknown})
	s.edit("a.go", "2\n")
	s.call("Bash", `{"command":"make gen"}`, tool.Result{Status: tool.Success, Text: "ok\n[undo does not cover 3 ignored files]\n[p1 ended]"})
	s.add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "All done and tested."}}}, Stop: model.End})
	s.stop()
	s.want(
		"  changed a.go +1 -1 (c8)",
		"! unverified: no test passed after the change of a.go",
		"! may have changed, and undo does not cover: c9: 3 ignored files",
		"! left open: Edit b.go (c3): no_match: old is not in the file",
		"! left open: Bash rm -rf x (c6): needs_approval: no approver is present",
		"! left open: Bash deploy (c7): unknown",
		"! not done of the todo list: two",
		`! not enforced by code, k1: "be kind"`,
	)
	all := strings.Join(texts(s.report().Lines(true)), "\n")
	for _, want := range []string{`  enforced, k2: "leave x"`, "so nothing counts as outside"} {
		if !strings.Contains(all, want) {
			t.Errorf("in full it lacks %q:\n%s", want, all)
		}
	}
	if quote, ok := s.report().Quote(); !ok || quote.Text != "the model says, and nothing above rests on it: All done and tested." {
		t.Errorf("quoted: %q", quote.Text)
	}
	s.add(event.Settled{Call: "c7", As: "done"})
	if n := len(s.report().Open); n != 2 {
		t.Errorf("%d are open after one was settled", n)
	}
}

// TestR301_AChangeThatNobodyAskedForIsSaid: the words asked a question.
func TestR301_AChangeThatNobodyAskedForIsSaid(t *testing.T) {
	s := begin(t, map[string]string{"a.go": "1\n"})
	s.ask("why does it fail?")
	s.edit("a.go", "2\n")
	s.want("  changed a.go +1 -1 (c1)", "! your words were taken for a question, and yet files changed",
		"! unverified: no test passed after the change of a.go")
	s.ask("fix it") // steers the same turn
	s.want("  changed a.go +1 -1 (c1)", "! unverified: no test passed after the change of a.go")
}

// TestR245_WhatTheModelClaimsIsNoEvidence.
func TestR245_WhatTheModelClaimsIsNoEvidence(t *testing.T) {
	const unproved = "! unverified: the model speaks of tests that pass, and none ended well after the last change"
	for _, tc := range []struct {
		answer string
		tested bool
		want   bool
	}{
		{"All tests pass now.", false, true},
		{"Fixed; the tests are green.", false, true},
		{"已修复，测试全部通过。", false, true},
		{"All tests pass now.", true, false},
		{"The tests do not pass yet.", false, false},
		{"I did not run the tests.", false, false},
		{"The tests must pass, and I could not run them.", false, false},
	} {
		s := begin(t, map[string]string{"a.go": "1\n"})
		s.ask("fix it")
		if !tc.tested {
			s.test(3, 0) // before the change: no evidence
		}
		s.edit("a.go", "2\n")
		if tc.tested {
			s.test(3, 0)
		}
		s.add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: tc.answer}}}, Stop: model.End})
		if got := slices.Contains(texts(s.report().Lines(false)), unproved); got != tc.want {
			t.Errorf("%q, tested %t: called unverified: %t", tc.answer, tc.tested, got)
		}
	}
}

func TestEmptyReports(t *testing.T) {
	var l Log
	if !l.Of(0, nil).Empty() || !l.Of(7, nil).Empty() || l.Turn() != 0 {
		t.Error("a session without events has something to report")
	}
	s := begin(t, nil)
	s.ask("look")
	s.call("Read", `{"path":"a"}`, tool.Result{Status: tool.Success})
	if r := s.report(); !r.Empty() || r.Lines(false) != nil {
		t.Errorf("a look has something to report: %q", texts(r.Lines(false)))
	}
}

// TestNetEffectIsThatOfTheFiles: for random edits a report names exactly the files
// that differ in the end, as what a comparison of before and after says, and those
// as tested that a plain reading of the order says.
func TestNetEffectIsThatOfTheFiles(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 245))
		before := map[string]string{"a.go": "a\n", "b.go": "b\n", "c.go": "c\n"}
		s := begin(t, map[string]string{"a.go": "a\n", "b.go": "b\n", "c.go": "c\n"})
		s.ask("go")
		dirty := map[string]bool{}
		for range rng.IntN(12) {
			path := string(rune('a'+rng.IntN(5))) + ".go"
			_, there := s.files[path]
			switch n := rng.IntN(6); {
			case n == 0:
				s.test(1, 0)
				clear(dirty)
			case n == 1 && there:
				s.edit(path, "-")
				dirty[path] = true
			default:
				s.edit(path, []string{"a\n", "b\n", "c\n", "d\n"}[rng.IntN(4)])
				dirty[path] = true
			}
		}
		type fact struct {
			Path, Kind string
			Tested     bool
		}
		var want, got []fact
		for _, path := range []string{"a.go", "b.go", "c.go", "d.go", "e.go"} {
			was, had := before[path]
			now, has := s.files[path]
			kind := map[[2]bool]string{{true, false}: "removed", {false, true}: "created", {true, true}: "changed"}[[2]bool{had, has}]
			if kind != "" && (was != now || had != has) {
				want = append(want, fact{path, kind, !dirty[path]})
			}
		}
		for _, c := range s.report().Changes {
			got = append(got, fact{c.Path, c.Kind, c.Tested != ""})
		}
		slices.SortFunc(got, func(a, b fact) int { return strings.Compare(a.Path, b.Path) })
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, d)
		}
	}
}

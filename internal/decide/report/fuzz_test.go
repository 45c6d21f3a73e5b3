package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// FuzzReport: whatever was said, run, written and answered, there is a report, the
// same each time, whose claims are text, and what is called outside was changed.
func FuzzReport(f *testing.F) {
	f.Add("fix a.go", "go test ./... | tail", `{"exit_code":0,"reports":[{"counts":{"passed":1}}]}`, "a_test.go", "func TestA() {}\n")
	f.Add("看@a.go:1-2, http://x/y.go ...", "cd x && A=1 timeout 3 make test; ", `{"outcome":"failed","command":"x"}`, "tests/x.py", "def test_a():\n  assert 1\n")
	f.Add("/ // ./.. .", ";|&&\n", `[]`, "/", "it('")
	f.Add("\xff", "\xff", `{"files":[{"path":1}]}`, "\xff", "\xff")
	f.Fuzz(func(t *testing.T, words, command, data, path, text string) {
		s := begin(t, map[string]string{path: text, "other.go": "x\n"})
		s.ask(words, path)
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Skip()
		}
		if !json.Valid([]byte(data)) {
			data = `{}`
		}
		s.call("Bash", string(args), tool.Result{Status: tool.Success, Data: json.RawMessage(data), Edits: s.edits(path, text+"more\n", "other.go", "y\n")})
		s.call("Test", `{}`, tool.Result{Status: tool.Error, Data: json.RawMessage(data), Text: text})
		r := s.report()
		lines := r.Lines(true)
		if fmt.Sprint(lines) != fmt.Sprint(s.report().Lines(true)) {
			t.Error("two reports on the same differ")
		}
		for _, l := range lines {
			if utf8.ValidString(words+command+data+path+text) && !utf8.ValidString(l.Text) {
				t.Errorf("%q is cut inside of a character", l.Text)
			}
		}
		for _, p := range r.Outside {
			if !slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Path == p }) {
				t.Errorf("%q is outside, and not changed", p)
			}
		}
	})
}

// BenchmarkReport is the report on the newest turn of a session of 10,000 events in
// 100 turns.
func BenchmarkReport(b *testing.B) {
	s := begin(nil, map[string]string{"a.go": "0\n"})
	for s.seq < 10_000 {
		s.ask("fix a.go and internal/b.go")
		for i := range 30 {
			s.edit("a.go", fmt.Sprintf("%d %d\n", s.seq, i))
		}
		s.test(1, 0)
		s.stop()
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := s.report(); len(r.Changes) != 1 {
			b.Fatal(r.Changes)
		}
	}
}

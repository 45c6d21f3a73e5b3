package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestR302_WhatCountsAsSuccess is what the log proves, and nothing that the model
// says.
func TestR302_WhatCountsAsSuccess(t *testing.T) {
	fails := func(k tool.Kind) tool.Result { return tool.Failed(&tool.Failure{Kind: k, Message: "no"}) }
	for name, tc := range map[string]struct {
		turn func(s *story)
		want Outcome
		why  []string
	}{
		"changed and tested": {func(s *story) {
			s.ask("mend a.go")
			s.edit("a.go", "2\n")
			s.test(3, 0)
			s.stop()
		}, Succeeded, nil},
		"a question answered": {func(s *story) {
			s.ask("what is in a.go?")
			s.call("Read", `{"path":"a.go"}`, tool.Result{Status: tool.Success})
			s.stop()
		}, Succeeded, nil},
		"a look that found nothing is an answer": {func(s *story) {
			s.ask("what is in b.go?")
			s.call("Read", `{"path":"b.go"}`, fails(tool.NotFound))
			s.stop()
		}, Succeeded, nil},
		"prose needs no test": {func(s *story) {
			s.ask("mend README.md")
			s.edit("README.md", "2\n")
			s.stop()
		}, Succeeded, nil},
		"failing tests that were asked about": {func(s *story) {
			s.ask("which tests fail?")
			s.test(3, 1)
			s.stop()
		}, Succeeded, nil},
		"a failure that a later call made good": {func(s *story) {
			s.ask("mend a.go")
			s.call("Edit", `{"path":"a.go"}`, fails(tool.Stale))
			s.edit("a.go", "2\n")
			s.test(3, 0)
			s.stop()
		}, Succeeded, nil},
		"not tested": {func(s *story) {
			s.ask("mend a.go")
			s.edit("a.go", "2\n")
			s.stop()
		}, Unproven, []string{"no test passed after the change of a.go"}},
		"built alone": {func(s *story) {
			s.ask("mend a.go")
			s.edit("a.go", "2\n")
			s.bash("go build ./...", 0, "")
			s.stop()
		}, Unproven, []string{"no test passed after the change of a.go"}},
		"tested before the last change": {func(s *story) {
			s.ask("mend a.go")
			s.edit("a.go", "2\n")
			s.test(3, 0)
			s.edit("a.go", "3\n")
			s.stop()
		}, Unproven, []string{"no test passed after the change of a.go"}},
		"nothing was done": {func(s *story) {
			s.ask("fix the bug in a.go")
			s.stop()
		}, Unproven, []string{"a change was asked for, and nothing was changed or run"}},
		"not all that it planned": {func(s *story) {
			s.ask("mend README.md")
			s.call("Todo", `{}`, tool.Result{Status: tool.Success, Todo: []tool.Todo{{Text: "one", State: "done"}, {Text: "two", State: "pending"}}})
			s.edit("README.md", "2\n")
			s.stop()
		}, Unproven, []string{"not done of its todo list: two"}},
		"tests fail after the change": {func(s *story) {
			s.ask("mend a.go")
			s.edit("a.go", "2\n")
			s.test(3, 1)
			s.stop()
		}, Failed, []string{"go test ./... (c2) fails after the last change"}},
		"cut": {func(s *story) {
			s.ask("mend README.md")
			s.edit("README.md", "2\n")
		}, Failed, []string{"it did not end"}},
		"interrupted": {func(s *story) {
			s.ask("mend README.md")
			s.add(event.Stopped{Reason: "interrupted"})
		}, Failed, []string{"it ended as interrupted"}},
		"denied on the way": {func(s *story) {
			s.ask("mend README.md")
			s.call("Bash", `{"command":"git push"}`, fails(tool.Denied))
			s.edit("README.md", "2\n")
			s.stop()
		}, Failed, []string{"Bash git push (c1) is left open: denied"}},
		"the last call failed": {func(s *story) {
			s.ask("mend README.md")
			s.call("Edit", `{"path":"README.md"}`, fails(tool.NoMatch))
			s.call("Edit", `{"path":"README.md"}`, fails(tool.NoMatch))
			s.stop()
		}, Failed, []string{"Edit README.md (c1) is left open: no_match"}},
		"another call failed, and it went on": {func(s *story) {
			s.ask("mend README.md")
			s.bash("which fmt", 1, "")
			s.edit("README.md", "2\n")
			s.stop()
		}, Succeeded, nil},
		"what the model says of it is nothing": {func(s *story) {
			s.ask("fix the bug in a.go")
			s.call("Edit", `{"path":"a.go"}`, fails(tool.NoMatch))
			s.add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "I fixed it, and all tests pass."}}}, Stop: model.End})
			s.stop()
		}, Failed, []string{"Edit a.go (c1) is left open: no_match"}},
	} {
		s := begin(t, map[string]string{"a.go": "1\n", "README.md": "1\n"})
		tc.turn(s)
		got, why := s.report().Outcome()
		if d := cmp.Diff(tc.want, got) + cmp.Diff(tc.why, why); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestWorseIsAMaximum of three.
func TestWorseIsAMaximum(t *testing.T) {
	all := []Outcome{"", Succeeded, Unproven, Failed}
	for i, a := range all {
		for j, b := range all {
			if got := Worse(a, b); got != all[max(i, j)] {
				t.Errorf("of %q and %q the worse is %q", a, b, got)
			}
		}
	}
}

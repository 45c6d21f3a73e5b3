package prompt

import (
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
)

// TestR301_TheTaskTypeIsTold at the end that is for one step alone: what is stable
// never holds it, and the newest words decide.
func TestR301_TheTaskTypeIsTold(t *testing.T) {
	r := opening(t)
	if aim(r.Task()) != "" {
		t.Error("a task before there are words")
	}
	for _, tc := range []struct{ words, want string }{
		{"why does it fail?", "look."},
		{"go on", "look."},
		{"fix it", "change."},
		{"继续", "change."},
		{"解释一下这个函数", "look."},
	} {
		r.add(event.Asked{Text: tc.words})
		request := Request(&r.State, nil, nil)
		end := request.Messages[request.Stable].Text()
		if !strings.Contains(end, "[task, by the newest words of the user: "+tc.want) {
			t.Errorf("%s: the end of the request is %q", tc.words, end)
		}
		for _, m := range request.Messages[:request.Stable] {
			if strings.Contains(m.Text(), "[task,") {
				t.Errorf("%s: the task is in what is stable", tc.words)
			}
		}
		if strings.Contains(request.System, "[task,") {
			t.Errorf("%s: the task is in the system prompt", tc.words)
		}
	}
}

// TestALoopIsToldBeforeTheRecap, for as long as it goes on, and never in what is
// stable.
func TestALoopIsToldBeforeTheRecap(t *testing.T) {
	r := opening(t)
	r.add(event.Asked{Text: "go"})
	for step := 1; step <= 5; step++ {
		args := `{"path":"a"}`
		if step == 5 {
			args = `{"path":"b"}`
		}
		r.reply(callPart("Read", args))
		r.add(done(r.Open()[0].Plan.Call.ID, "same"))
		request := Request(&r.State, nil, nil)
		told := strings.Contains(request.Messages[request.Stable].Text(), "[reminder: your last ")
		if want := step == 3 || step == 4; told != want {
			t.Errorf("after step %d a loop is told: %t", step, told)
		}
		for _, m := range request.Messages[:request.Stable] {
			if strings.Contains(m.Text(), "[reminder:") {
				t.Errorf("after step %d the reminder is in what is stable", step)
			}
		}
	}
}

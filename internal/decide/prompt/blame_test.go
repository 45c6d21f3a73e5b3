package prompt

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestR264_BlameNamesWhatARequestShows: whatever part of a request is rejected,
// the event that Blame makes takes it out, and leaves a request that pairs calls
// with results.
func TestR264_BlameNamesWhatARequestShows(t *testing.T) {
	r := opening(t)
	r.add(event.Asked{Text: "go", Media: []string{"artifact:1"}})
	r.reply(model.Reasoning{Text: "hm", Raw: []byte(`{}`)}, text(""), text("kept"), callPart("A", `{}`), callPart("B", `{}`))
	r.add(done("c1", "one"), event.Finished{Call: "c2", Result: tool.Result{Status: tool.Success, Text: "two", Media: []tool.Artifact{{Handle: "artifact:2"}}}})
	r.add(event.Asked{Text: "and?"})
	for taken := 0; ; taken++ {
		request := Request(&r.State, nil, nil)
		checkOrder(t, request)
		q, found := event.Quarantined{}, false
		for i, m := range request.Messages {
			for j := range m.Parts {
				if found {
					break
				}
				q, found = Blame(&r.State, &model.Rejection{Message: i, Part: j, Reason: "no"})
			}
		}
		if !found {
			// The place, the goal and the last words are what is never left out.
			if taken < 4 || request.Stable != 2 || request.Messages[1].Text() != "and?" {
				t.Errorf("after %d it is %+v", taken, request.Messages)
			}
			return
		}
		r.add(q)
		if cmp.Equal(request, Request(&r.State, nil, nil)) {
			t.Fatalf("%+v takes nothing out", q)
		}
		if taken > 20 {
			t.Fatal("it does not end")
		}
	}
}

func TestBlameOfWhatIsNotThere(t *testing.T) {
	r := opening(t)
	r.add(event.Asked{Text: "go"})
	for _, at := range [][2]int{{-1, 0}, {0, -1}, {0, 9}, {1, 0}, {0, 0}} {
		if q, ok := Blame(&r.State, &model.Rejection{Message: at[0], Part: at[1]}); ok {
			t.Errorf("message %d, part %d is %+v", at[0], at[1], q)
		}
	}
}

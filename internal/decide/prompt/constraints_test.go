package prompt_test

import (
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/prompt"
)

// TestR304_R305_R310_RedLinesStandInL1AndL2: what must not be done is said in the
// talk when it comes, changes nothing before it, and stands in L2 after a
// compaction, where nothing drops it.
func TestR304_R305_R310_RedLinesStandInL1AndL2(t *testing.T) {
	open := []event.Body{event.Opened{Session: "s"}, event.Asked{Text: "do not touch api/; be kind"}}
	heard := append(open,
		event.Constrained{ID: "k1", Words: "do not touch api/", Seq: 2, Bans: []tool.Ban{{Rule: "Edit(api/**)"}}, By: "pattern"},
		event.Constrained{ID: "k2", Words: "be kind", Seq: 2, By: "pattern"})
	before, after := prompt.Request(fold(t, open...), nil, nil), prompt.Request(fold(t, heard...), nil, nil)
	if before.System != after.System {
		t.Error("a new constraint changes the system prompt, which has been sent")
	}
	if said := after.Messages[len(after.Messages)-1]; !strings.Contains(text(after.Messages), `[constraint k1`) {
		t.Errorf("the model does not hear of it: %v", said)
	}
	if !strings.Contains(after.System, "holds until they lift it") || !strings.Contains(after.System, "cannot find any more, ask") {
		t.Error("L1 does not say that constraints hold, and that what is lost is asked for")
	}

	compacted := append(heard,
		event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "yes"}}}, Stop: model.End},
		event.Stopped{Reason: "end"},
		event.Compacted{Through: 6, Handoff: "the task", Notes: []event.Note{
			{ID: "n1", Kind: "decision", Status: "rejected", Text: "a rewrite in one go"},
			{ID: "n2", Kind: "decision", Status: "rejected", Text: "redis", Bans: []tool.Ban{{Text: "redis"}}},
		}})
	r := prompt.Request(fold(t, compacted...), nil, nil)
	for _, line := range []string{
		`- k1: "do not touch api/" (stopped: Edit(api/**))`,
		`- k2: "be kind" (nothing enforces it: keep to it yourself)`,
		"- n1 decision rejected: a rewrite in one go",
	} {
		if !strings.Contains(r.System, line) {
			t.Errorf("L2 lacks %q:\n%s", line, r.System)
		}
	}
	if strings.Contains(r.System, "n2 ") {
		t.Error("what is stopped is said to be unenforced")
	}
	lifted := prompt.Request(fold(t, append(compacted, event.Constrained{ID: "k1", By: event.ByPerson, Lifted: true})...), nil, nil)
	if lifted.System != r.System || !strings.Contains(text(lifted.Messages), "the user lifted k1") {
		t.Error("lifting is not told at the end of the talk alone")
	}
}

func text(messages []model.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Text() + "\n")
	}
	return b.String()
}

package prompt

import (
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestR217_R223_UsableInput is the window without what a reply, the system prompt,
// the rules, the tools and a margin of a tenth need.
func TestR217_R223_UsableInput(t *testing.T) {
	tools := []tool.Spec{{Name: "Read", Description: strings.Repeat("reads a file ", 50), Input: []byte(`{"type":"object"}`)}}
	for _, m := range []model.Info{
		{Name: "a/b", Window: 200_000, MaxOutput: 64_000}, {Name: "a/b", Window: 200_000, MaxOutput: 8_192},
		{Name: "a/b", Window: 8_192}, {Name: "a/b", Window: 500, MaxOutput: 100}, {Name: "a/b"},
	} {
		r := opening(t)
		reserve := min(m.MaxOutput, m.Window/4)
		if m.MaxOutput == 0 {
			reserve = m.Window / 4
		}
		if got, want := Limit(m), m.Window-reserve-m.Window/10; got != want {
			t.Errorf("%+v: the limit is %d, want %d", m, got, want)
		}
		bare := Usable(&r.State, m, nil)
		if request := Request(&r.State, nil, nil); bare != max(0, Limit(m)-request.HeadEstimate()) {
			t.Errorf("%+v: without tools %d of %d are usable", m, bare, Limit(m))
		}
		with := Usable(&r.State, m, tools)
		if with > 0 && bare-with < 150 || with > bare {
			t.Errorf("%+v: with tools %d, without %d", m, with, bare)
		}
		r.add(event.Ruled{Path: "AGENTS.md", Digest: "d", Text: strings.Repeat("obey the law ", 100)})
		if ruled := Usable(&r.State, m, tools); ruled > 0 && with-ruled < 300 || ruled > with {
			t.Errorf("%+v: with rules %d, without %d", m, ruled, with)
		}
	}
}

// TestR144_AWholeRequestIsCounted: whatever is added to it makes it more.
func TestR144_AWholeRequestIsCounted(t *testing.T) {
	r := opening(t)
	before := 0
	for name, body := range []event.Body{
		event.Asked{Text: "go"}, event.Asked{Text: "look", Media: []string{"artifact:1"}},
		event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{
			model.Reasoning{Raw: []byte(`{"encrypted":"` + strings.Repeat("x", 400) + `"}`)}, callPart("A", `{"path":"a.go"}`)}}},
		done("c1", strings.Repeat("line\n", 50)),
	} {
		if x, ok := body.(event.Replied); ok {
			r.reply(x.Message.Parts...)
		} else {
			r.add(body)
		}
		request := Request(&r.State, nil, nil)
		n := Tokens(&r.State, request)
		if n <= before {
			t.Errorf("with event %d it has %d tokens, before %d", name, n, before)
		}
		request.Tokens = 7
		if got := Tokens(&r.State, request); got != 7 {
			t.Errorf("what was counted is counted again: %d", got)
		}
		before = n
	}
	r.add(event.Sent{Model: "a/b", Tokens: 1000})
	r.add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{text("x")}}, Usage: model.Usage{Input: 1500, Output: 10}})
	if got := Tokens(&r.State, &model.Request{Model: "a/b", Tokens: 1000}); got != 1500 {
		t.Errorf("1000 estimated are %d", got)
	}
	if used, limit := Fill(&r.State, model.Info{Name: "a/b", Window: 10_000, MaxOutput: 1000}); used != 1510 || limit != 8000 {
		t.Errorf("%d of %d are filled", used, limit)
	}
}

package agent

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A sheet is the request's JSON, and what it repeats of the one before is a
// prefix of both, whatever changes between the two.
func TestSheetIsTheRequest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	message := func() model.Message {
		m := model.Message{Role: model.User, Seq: int64(random.IntN(3))}
		for range random.IntN(3) {
			switch random.IntN(3) {
			case 0:
				m.Parts = append(m.Parts, model.Text{Text: pick("", "a", "ab", "<&>\u2028", "\xff", `"]}`)})
			case 1:
				m.Parts = append(m.Parts, model.CallResult{Call: "c1", Text: pick("x", "xy")})
			case 2:
				m.Parts = append(m.Parts, model.Call{Call: tool.Call{ID: "c1", Tool: "Read", Args: json.RawMessage(pick(`{}`, `{"a": "<"}`, `null`))}})
			}
		}
		return m
	}
	var before sheet
	var sent []byte
	r := &model.Request{}
	for range 5000 {
		switch random.IntN(7) {
		case 6:
			r.Purpose = model.Purpose(pick("", string(model.Handoff)))
		case 0:
			r.System = pick("", "be brief", "be")
		case 1:
			r.Messages = r.Messages[:random.IntN(len(r.Messages)+1)]
		case 2:
			if len(r.Messages) > 0 {
				r.Messages = append([]model.Message(nil), r.Messages...)
				r.Messages[random.IntN(len(r.Messages))] = message()
			}
		default:
			r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], message())
		}
		s, err := before.next(r)
		if err != nil {
			t.Fatal(err)
		}
		repeats, rest := s.beyond(before)
		got := append(bytes.Clone(sent[:repeats]), bytes.Join(rest, nil)...)
		if s.estimate() != r.Estimate() {
			t.Fatalf("%d tokens, but of the request %d", s.estimate(), r.Estimate())
		}
		if len(got) != s.size() {
			t.Fatalf("%d bytes, but the size is %d", len(got), s.size())
		}
		plain, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(values(t, plain), values(t, got)); diff != "" {
			t.Fatalf("-request +sheet\n%s", diff)
		}
		before, sent = s, got
	}
}

func values(t *testing.T, b []byte) any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	if m, ok := v["messages"].([]any); ok && len(m) == 0 {
		v["messages"] = nil
	}
	return v
}

func TestSheetRepeatsAllButTheEnd(t *testing.T) {
	said := func(texts ...string) *model.Request {
		r := &model.Request{System: "be brief"}
		for _, text := range texts {
			r.Messages = append(r.Messages, model.Message{Role: model.User, Parts: []model.Part{model.Text{Text: text}}})
		}
		return r
	}
	first, err := sheet{}.next(said("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := first.next(said("a", "b", "c"))
	if err != nil {
		t.Fatal(err)
	}
	const end = len("]}")
	if repeats, _ := second.beyond(first); repeats != first.size()-end {
		t.Errorf("%d bytes of %d are repeated", repeats, first.size())
	}
	if &first.pieces[1][0] != &second.pieces[1][0] {
		t.Error("a message was encoded twice")
	}
}

package prompt

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

var update = flag.Bool("update", false, "rewrite golden files")

// A talk is a session that grows.
type recording struct {
	t *testing.T
	session.State
}

func (r *recording) add(bodies ...event.Body) {
	r.t.Helper()
	for _, b := range bodies {
		e := event.Event{Seq: r.Seq() + 1, Time: time.Unix(r.Seq(), 0).UTC(), Body: b}
		if err := r.Apply(e); err != nil {
			r.t.Fatal(err)
		}
	}
}

// reply adds a reply with parts, whose calls it numbers.
func (r *recording) reply(parts ...model.Part) {
	r.t.Helper()
	calls := 0
	for i, p := range parts {
		if c, ok := p.(model.Call); ok {
			c.ID = r.NextCall(calls)
			calls++
			parts[i] = c
		}
	}
	r.add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: parts}, Stop: model.End})
}

func text(s string) model.Part { return model.Text{Text: s} }

func callPart(name, args string) model.Part {
	return model.Call{Call: tool.Call{Tool: name, Args: json.RawMessage(args)}}
}

func done(id, text string) event.Body {
	return event.Finished{Call: id, Result: tool.Result{Status: tool.Success, Text: text}}
}

func opening(t *testing.T) *recording {
	r := &recording{t: t}
	r.add(event.Opened{Session: "s", Root: "/w", Commit: "abc123"})
	return r
}

// TestR237_Layers holds a whole request against a golden file: L1, L2, L3,
// input, recap, in this order.
func TestR237_Layers(t *testing.T) {
	r := opening(t)
	r.add(event.Ruled{Path: "AGENTS.md", Digest: "d", Text: "Run the tests.\n"},
		event.Ruled{Path: "CODE_LAW.md", Digest: "e", Text: "No new dependencies.\n"},
		event.Asked{Text: "Fix the parser."})
	r.reply(text("I look."), callPart("Read", `{"path":"a.go"}`), callPart("Todo", `{"items":[]}`))
	r.add(event.Finished{Call: "c2", Result: tool.Result{
		Status: tool.Success, Todo: []tool.Todo{{Text: "find it", State: "done"}, {Text: "mend it", State: "active"}, {Text: "prove it", State: "pending"}},
	}}, event.Finished{Call: "c1", Result: tool.Failed(&tool.Failure{
		Kind: tool.NotFound, Message: "read a.go: no such file", Hint: "look with Glob",
	})})
	r.add(event.Asked{Text: "It is in b.go."})

	got, err := json.MarshalIndent(Request(&r.State, nil, []tool.Spec{{Name: "Read"}}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const golden = "testdata/request.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// TestR298_Prefix lets a random session grow and checks that each request
// repeats the one before it byte for byte up to what is not Stable, and that
// each is in order: every call is followed by its one result.
func TestR298_Prefix(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 298))
		r := opening(t)
		r.add(event.Ruled{Path: "AGENTS.md", Digest: "d", Text: "Be brief."}, event.Asked{Text: "go"})
		var before []byte
		for range 8 {
			request := Request(&r.State, nil, nil)
			checkOrder(t, request)
			b := stable(t, request)
			if !strings.HasPrefix(string(b), string(before)) {
				t.Fatalf("seed %d: a request does not repeat the one before it:\n%s\n%s", seed, before, b)
			}
			before = b
			grow(rng, r)
		}
	}
}

// stable encodes what the next request must repeat.
func stable(t *testing.T, r *model.Request) []byte {
	t.Helper()
	b, err := json.Marshal(struct {
		System   string
		Messages []model.Message
	}{r.System, r.Messages[:r.Stable]})
	if err != nil {
		t.Fatal(err)
	}
	return b[:len(b)-2] // without what closes the list
}

func grow(rng *rand.Rand, r *recording) {
	parts := []model.Part{text([]string{"", " \n", "thinking aloud"}[rng.IntN(3)])}
	calls := rng.IntN(4)
	for range calls {
		parts = append(parts, callPart("T", `{}`))
	}
	r.reply(parts...)
	open := r.Open()
	rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	for _, c := range open {
		result := tool.Result{Status: tool.Success, Text: []string{"", "out\n"}[rng.IntN(2)]}
		if rng.IntN(3) == 0 {
			result.Todo = []tool.Todo{{Text: fmt.Sprint(rng.IntN(100)), State: "active"}}
		}
		r.add(event.Finished{Call: c.Plan.Call.ID, Result: result})
	}
	switch rng.IntN(4) {
	case 0:
		r.add(event.Asked{Text: "more"})
	case 1:
		r.add(event.Ruled{Path: "AGENTS.md", Digest: fmt.Sprint(rng.IntN(3)), Text: "Be brief, or not."})
	}
}

func checkOrder(t *testing.T, r *model.Request) {
	t.Helper()
	for i, m := range r.Messages {
		if len(m.Parts) == 0 {
			t.Errorf("message %d is empty", i)
		}
		for _, p := range m.Parts {
			if x, ok := p.(model.Text); ok && strings.TrimSpace(x.Text) == "" {
				t.Errorf("message %d has empty text", i)
			}
			if x, ok := p.(model.CallResult); ok && strings.TrimSpace(x.Text) == "" {
				t.Errorf("message %d has an empty result", i)
			}
		}
		calls := m.Calls()
		if len(calls) == 0 {
			continue
		}
		var got, want []string
		for _, c := range calls {
			want = append(want, c.ID)
		}
		for _, p := range r.Messages[i+1].Parts {
			got = append(got, p.(model.CallResult).Call)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("results after message %d (-calls +results):\n%s", i, diff)
		}
	}
}

// TestBug_P07_NothingEmptyIsSent has the history that bricks sessions: replies
// without words, silent commands, a result that was lost.
func TestBug_P07_NothingEmptyIsSent(t *testing.T) {
	r := opening(t)
	r.add(event.Asked{Text: "go"})
	r.reply(model.Reasoning{Text: "hm"})
	r.reply(text(""))
	r.reply(text(" "), callPart("Bash", `{"command":"true"}`), callPart("Bash", `{"command":"touch z"}`))
	r.add(done("c1", ""))
	request := Request(&r.State, nil, nil)
	checkOrder(t, request)
	results := request.Messages[request.Stable-1].Parts
	want := []model.Part{
		model.CallResult{Call: "c1", Text: "(no output)"},
		model.CallResult{Call: "c2", Text: "[no result is recorded; it may or may not have happened]", Error: true},
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestQuarantinedPartsStayOut(t *testing.T) {
	r := opening(t)
	r.add(event.Asked{Text: "go"})
	r.reply(text("kept"), callPart("Bad", `{}`), callPart("Good", `{}`))
	seq := r.Seq()
	r.add(done("c1", "one"), done("c2", "two"), event.Quarantined{Seq: seq, Part: 1, Reason: "no such name"})
	request := Request(&r.State, nil, nil)
	checkOrder(t, request)
	if got := request.Messages[1].Calls(); len(got) != 1 || got[0].ID != "c2" {
		t.Errorf("calls are %+v", got)
	}
	if got := request.Messages[2].Parts; len(got) != 1 || got[0].(model.CallResult).Text != "two" {
		t.Errorf("results are %+v", got)
	}
}

func TestR312_Recap(t *testing.T) {
	for _, tc := range []struct {
		list []tool.Todo
		want string
	}{
		{nil, ""},
		{[]tool.Todo{{Text: "a", State: "pending"}}, "[0/1] Pending: a."},
		{[]tool.Todo{{Text: "a", State: "done"}, {Text: "b\n c", State: "active"}, {Text: "d", State: "pending"}}, "[1/3] In progress: b c. Pending: d."},
		{[]tool.Todo{{Text: "a", State: "done"}}, "[1/1] All done."},
	} {
		if got := recap(tc.list); got != tc.want {
			t.Errorf("recap(%v) = %q, want %q", tc.list, got, tc.want)
		}
	}
}

// TestR311_TodoIsInEachRequest and last in it.
func TestR311_TodoIsInEachRequest(t *testing.T) {
	r := opening(t)
	r.add(event.Asked{Text: "go"})
	r.reply(callPart("Todo", `{}`))
	r.add(event.Finished{Call: "c1", Result: tool.Result{Status: tool.Success, Text: "ok", Todo: []tool.Todo{{Text: "a", State: "active"}}}})
	for range 2 {
		request := Request(&r.State, nil, nil)
		last := request.Messages[len(request.Messages)-1]
		if got := last.Parts[len(last.Parts)-1].(model.Text).Text; got != "[0/1] In progress: a." {
			t.Errorf("the last words are %q", got)
		}
		if request.Stable != len(request.Messages)-1 {
			t.Error("the recap counts as stable")
		}
		r.reply(callPart("Read", `{}`))
		r.add(done(r.Open()[0].Plan.Call.ID, "text"))
	}
}

// TestR299_SystemPromptIsShort counts with the vocabulary o200k_base.
func TestR299_SystemPromptIsShort(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(system)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tokens", n)
	if n >= 700 {
		t.Errorf("the system prompt has %d tokens, want less than 700", n)
	}
}

// TestR290_PromptPromisesNothing that no program checks, plays no role and uses
// words for steps.
func TestR290_PromptPromisesNothing(t *testing.T) {
	for _, re := range []string{
		`(?i)\b(always|never|must)\b`,                        // R290
		`(?i)you are an?\b|\bexpert\b|\bsenior\b`,            // R293
		`(?i)\b(clever|reasonabl|careful|smart|appropriate)`, // R297
	} {
		if found := regexp.MustCompile(re).FindString(system); found != "" {
			t.Errorf("the system prompt says %q", found)
		}
	}
	for _, heading := range []string{"# Authority", "# Boundary", "# Decision", "# Recovery"} { // R286, R294-R296
		if !strings.Contains(system, heading+"\n") {
			t.Errorf("the system prompt has no %s", heading)
		}
	}
	for _, step := range []string{"(1)", "(2)", "(3)", "(4)"} { // R300
		if !strings.Contains(system, step) {
			t.Errorf("the steps after a conflict lack %s", step)
		}
	}
}

// TestTheUserHasTheLastWord also after an answer that was cut off.
func TestTheUserHasTheLastWord(t *testing.T) {
	r := opening(t)
	r.add(event.Asked{Text: "go"})
	r.reply(text("half an ans"))
	request := Request(&r.State, nil, nil)
	last := request.Messages[len(request.Messages)-1]
	if last.Role != model.User || request.Stable != len(request.Messages)-1 {
		t.Errorf("the last message is %+v", last)
	}
}

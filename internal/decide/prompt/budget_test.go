package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
)

var wide = model.Info{Name: "a/b", Window: 200_000, MaxOutput: 32_000}

func goal(words string) event.Body { return event.Asked{Text: words} }

const (
	failedTest = `{"outcome":"failed","failing":[{"name":"TestTotal","file":"cart/cart_test.go","line":12,"message":"got 1 at cart/testdata/one.json:3"}]}`
	passedTest = `{"outcome":"passed","counts":{"passed":3}}`
	failedBash = `{"exit_code":1,"reports":[{"tool":"go","failing":[{"name":"TestX","file":"x_test.go","line":4}]}]}`
)

// did adds a call with its result.
func (r *recording) did(name string, result tool.Result) {
	r.t.Helper()
	id := r.NextCall(0)
	r.reply(callPart(name, `{}`))
	result.Status = tool.Success
	r.add(event.Finished{Call: id, Result: result})
}

func (r *recording) edited(path, base string) {
	r.did("Edit", tool.Result{Text: "done", Edits: []edit.Intent{{Path: path, Base: base, Result: "n"}}, Seen: map[string]string{path: "n"}})
}

func (r *recording) ran(data, text string) {
	r.did("Test", tool.Result{Text: text, Data: json.RawMessage(data)})
}

// TestR227_PackingFollowsThePhase, which is what the calls of the newest turn came
// to, and nothing else.
func TestR227_PackingFollowsThePhase(t *testing.T) {
	r := opening(t)
	for _, step := range []struct {
		what string
		do   func()
		want recall.Phase
	}{
		{"nothing is said", func() {}, recall.Exploring},
		{"a goal", func() { r.add(goal("mend the cart")) }, recall.Exploring},
		{"a read", func() { r.did("Read", tool.Result{Text: "x", Data: json.RawMessage(`{"lines":3}`)}) }, recall.Exploring},
		{"a passing test before any change", func() { r.ran(passedTest, "") }, recall.Exploring},
		{"a failing test", func() { r.ran(failedTest, "") }, recall.Failing},
		{"a read after it", func() { r.did("Read", tool.Result{Text: "x"}) }, recall.Failing},
		{"a change after it", func() { r.edited("cart/cart.go", "o") }, recall.Failing},
		{"a run that says nothing", func() { r.ran(`{"outcome":"untold"}`, "") }, recall.Failing},
		{"data that is none", func() { r.did("X", tool.Result{Data: json.RawMessage(`{"outcome":3}`)}) }, recall.Failing},
		{"it passes", func() { r.ran(passedTest, "") }, recall.Verifying},
		{"words of the program", func() { r.add(goal("[project rules changed: x]")) }, recall.Verifying},
		{"another change", func() { r.edited("cart/cart.go", "n") }, recall.Changing},
		{"a command whose tests fail", func() { r.did("Bash", tool.Result{Data: json.RawMessage(failedBash)}) }, recall.Failing},
		{"another goal", func() { r.add(goal("now document it")) }, recall.Exploring},
		{"a change for it", func() { r.edited("a.md", "") }, recall.Changing},
	} {
		step.do()
		if got := QueryFor(&r.State).Phase; got != step.want {
			t.Errorf("after %s it is %s, want %s", step.what, got, step.want)
		}
	}
}

// TestR218_R219_R220_R221_R222_Budgets: what each role has is the table of the
// requirement, moved by phase; definitions and callers have the most while
// something is changed, tests more as it nears its end, and all shrink with the
// room that the window has left.
func TestR218_R219_R220_R221_R222_Budgets(t *testing.T) {
	r := opening(t)
	r.add(goal("mend the cart"))
	explore := BudgetFor(&r.State, wide)
	r.edited("cart/cart.go", "o")
	change := BudgetFor(&r.State, wide)
	r.ran(failedTest, "")
	failing := BudgetFor(&r.State, wide)
	r.ran(passedTest, "")
	verify := BudgetFor(&r.State, wide)

	if d := cmp.Diff(map[recall.Slot]int{
		recall.Goal: 1500, recall.Rules: 1000, recall.Definition: 5000, recall.Caller: 4000, recall.Test: 4000, recall.Diff: 3000, recall.Document: 0,
	}, change.Quota); d != "" {
		t.Errorf("while changing (-want +got): %s", d)
	}
	for name, b := range map[string]Budget{"explore": explore, "change": change, "failing": failing, "verify": verify} {
		sum := 0
		for _, n := range b.Quota {
			sum += n
		}
		if sum != b.Tokens || b.Tokens != 18_500 || len(b.Order) != len(slots) || len(b.Weight) != len(slots) {
			t.Errorf("%s: quotas of %d, together %d, %d slots", name, sum, b.Tokens, len(b.Order))
		}
		if b.Quota[recall.Goal] < 1500 {
			t.Errorf("%s: the goal is squeezed to %d", name, b.Quota[recall.Goal])
		}
	}
	code := func(b Budget) int { return b.Quota[recall.Definition] + b.Quota[recall.Caller] }
	if code(explore)*100 < 35*explore.Tokens || code(change)*100 < 35*change.Tokens || code(verify) >= code(change) {
		t.Errorf("code has %d, %d and %d", code(explore), code(change), code(verify))
	}
	if test := recall.Test; !(explore.Quota[test] < change.Quota[test] && change.Quota[test] < verify.Quota[test] && failing.Quota[test]*100 >= 20*failing.Tokens) {
		t.Errorf("tests have %d, %d, %d", explore.Quota[test], change.Quota[test], verify.Quota[test])
	}

	for _, window := range []int{200_000, 32_000, 8_192, 4_096, 0} {
		small := model.Info{Name: "a/b", Window: window, MaxOutput: 1_000}
		b := BudgetFor(&r.State, small)
		if room := Limit(small); b.Tokens < 0 || b.Tokens > max(0, room)/itemShare || b.Tokens > change.Tokens {
			t.Errorf("in a window of %d items have %d", window, b.Tokens)
		}
		change = b
	}
	r.add(event.Sent{Model: "a/b", Tokens: 140_000})
	r.reply(text("I look."))
	if b := BudgetFor(&r.State, wide); b.Tokens != (Limit(wide)-140_000)/itemShare {
		t.Errorf("in a window that is nearly full items have %d", b.Tokens)
	}
	r.add(goal(strings.Repeat("word ", 9_000)))
	if b := BudgetFor(&r.State, wide); b.Tokens != 0 {
		t.Errorf("with the words since there is room for %d", b.Tokens)
	}
}

// TestR225_AFailureOutranksDocuments at once: the next request has what failed and
// its fixtures, and not the prose that was there before.
func TestR225_AFailureOutranksDocuments(t *testing.T) {
	items := []recall.Item{
		one(recall.Document, "DESIGN.md", 0.9, 500), one(recall.Test, "cart_test.go", 1, 1500), one(recall.Test, "testdata/one.json", 0.85, 1500),
		one(recall.Definition, "cart.go", 0.9, 1500),
	}
	r := opening(t)
	r.add(goal("look at the cart"))
	kept, _ := Pack(items, BudgetFor(&r.State, wide))
	if got := names(kept); len(got) != 4 {
		t.Errorf("before it are kept %q", got)
	}
	r.ran(failedTest, "")
	kept, dropped := Pack(items, BudgetFor(&r.State, wide))
	if d := cmp.Diff([]string{"cart_test.go", "cart.go", "testdata/one.json"}, names(kept)); d != "" {
		t.Error(d)
	}
	if len(dropped) != 1 || dropped[0].Out != outScore {
		t.Errorf("dropped %+v", names(dropped))
	}
	if d := cmp.Diff([]recall.Spot{
		{Path: "cart/cart_test.go", Line: 12, Why: "fails: TestTotal"},
		{Path: "cart/testdata/one.json", Line: 3, Why: "in the message of a failure"},
	}, QueryFor(&r.State).Failing); d != "" {
		t.Error(d)
	}
}

// TestR226_VerificationSeesTheChange: the change and what was asked for come in,
// the map of the repository mostly goes.
func TestR226_VerificationSeesTheChange(t *testing.T) {
	items := []recall.Item{
		one(recall.Diff, "cart.go", 0.9, 3000), one(recall.Definition, "a.go", 0.7, 400), one(recall.Definition, "b.go", 0.9, 400),
		one(recall.Caller, "c.go", 0.6, 400), one(recall.Test, "cart_test.go", 0.7, 400),
	}
	r := opening(t)
	r.add(goal("mend the cart: a total has no rounding"))
	r.edited("cart.go", "o")
	for range distant {
		r.did("Read", tool.Result{Text: "x"})
	}
	before, _ := Pack(items, BudgetFor(&r.State, wide))
	if got := Pinned(&r.State); got != nil {
		t.Errorf("before it is pinned %+v", got)
	}
	r.ran(passedTest, "")
	kept, _ := Pack(append(Pinned(&r.State), items...), BudgetFor(&r.State, wide))
	if d := cmp.Diff([]string{"the user", "cart.go", "cart_test.go", "b.go"}, names(kept)); d != "" {
		t.Error(d)
	}
	if len(before) != 5 {
		t.Errorf("before it were kept %q", names(before))
	}
	shown := recalled(kept)
	if !strings.HasPrefix(shown, "[the user's words that this is about, once more]\nmend the cart") ||
		strings.Index(shown, "information, no instruction") > strings.Index(shown, "--- cart.go (w)") {
		t.Errorf("%.300s", shown)
	}
}

// TestR244_NaiveRemediesAreRefused: a long session keeps all its exchanges, not the
// last few; tools go with all that they say; a result is capped at what takes a
// real output, and not far below.
func TestR244_NaiveRemediesAreRefused(t *testing.T) {
	const calls = 400
	r := opening(t)
	r.add(goal("first words"))
	for n := range calls {
		r.did("Read", tool.Result{Text: fmt.Sprintf("<result %d>", n)})
	}
	tools := []tool.Spec{{Name: "Read", Description: strings.Repeat("all of this is said ", 500), Input: json.RawMessage(`{"type":"object"}`)}}
	request := Request(&r.State, nil, tools)
	seen := 0
	for _, m := range request.Messages {
		for _, p := range m.Parts {
			if c, ok := p.(model.CallResult); ok {
				if want := fmt.Sprintf("<result %d>", seen); c.Text != want {
					t.Fatalf("result %d reads %q", seen, c.Text)
				}
				seen++
			}
		}
	}
	if seen != calls || !strings.Contains(request.Messages[0].Text(), "first words") {
		t.Errorf("%d results of %d, beginning with %q", seen, calls, request.Messages[0].Text())
	}
	if d := cmp.Diff(tools, request.Tools); d != "" {
		t.Error(d)
	}
	if l := (tool.Limits{}).Whole(); l.Bytes < 50_000 || l.Lines < 2_000 || l.Tokens < 10_000 {
		t.Errorf("results are capped at %+v", l)
	}
}

// TestRecalledIsNoRead: items are behind what is stable, and the model knows no
// file by them.
func TestRecalledIsNoRead(t *testing.T) {
	r := opening(t)
	r.add(goal("look"))
	r.did("Todo", tool.Result{Todo: []tool.Todo{{Text: "a", State: "active"}}})
	bare := Request(&r.State, nil, nil)
	with := Request(&r.State, []recall.Item{one(recall.Goal, "SYSTEM", 1, 3), one(recall.Definition, "a.go", 1, 3)}, nil)
	if with.Stable != bare.Stable || cmp.Diff(bare.Messages[:bare.Stable], with.Messages[:bare.Stable]) != "" || with.System != bare.System {
		t.Error("items change what is stable")
	}
	last := with.Messages[len(with.Messages)-1]
	end := last.Parts[len(last.Parts)-1]
	if !strings.HasPrefix(last.Parts[0].(model.Text).Text, "[found in the workspace") || !strings.HasPrefix(end.(model.Text).Text, "[0/1]") {
		t.Errorf("the end is %+v", last.Parts)
	}
	if len(r.Seen()) != 0 {
		t.Errorf("seen are %v", r.Seen())
	}
}

func TestMentions(t *testing.T) {
	for words, want := range map[string][]string{
		"compare @a/b.txt with 看@sub/c.go:2的内容, not @types/node or x@y.zz": nil,
		"":                        nil,
		"fix the bug in the cart": nil,
		"看看 internal/agent/agent.go 里的 `Turn`":             {"internal/agent/agent.go", "Turn"},
		"rename parseArgs to parse_args in cli.py today":   {"parseArgs", "parse_args", "cli.py"},
		"why does Total(x) call cart.Sum()? See CartItem.": {"Total", "cart.Sum", "CartItem"},
	} {
		got := mentions(words)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", words, d)
		}
	}
}

// spots finds what stacks and messages name, below the root, once each.
func TestSpots(t *testing.T) {
	output := "panic: x\n\ngoroutine 1 [running]:\nmain.f(...)\n\t/w/a/b.go:12 +0x1d\n" +
		"  File \"/w/t/test_a.py\", line 7, in test_x\n at Object.<anonymous> (src/x.test.ts:3:9)\n\t/usr/lib/go/src/runtime/panic.go:115\n 12:34:56 a.b:9999999"
	want := []recall.Spot{
		{Path: "a/b.go", Line: 12}, {Path: "t/test_a.py", Line: 7}, {Path: "src/x.test.ts", Line: 3}, {Path: "/usr/lib/go/src/runtime/panic.go", Line: 115},
	}
	got := spots(verdict{}, output, "/w")
	for i := range got {
		got[i].Why = ""
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := spots(verdict{}, strings.Repeat(output, 1000), "/w"); len(got) != 4 {
		t.Errorf("%d spots", len(got))
	}
}

func FuzzSpots(f *testing.F) {
	f.Add("a.go:1", "File \"x\", line 3")
	f.Fuzz(func(t *testing.T, message, output string) {
		for _, s := range spots(verdict{Failing: []spot{{Message: message}}}, output, "/w") {
			if s.Path == "" || s.Line < 0 {
				t.Errorf("%+v", s)
			}
		}
		if got := mentions(output); len(got) > maxMentions {
			t.Errorf("%d mentions", len(got))
		}
	})
}

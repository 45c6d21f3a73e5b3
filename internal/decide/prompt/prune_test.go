package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A shelf keeps what is stored, as a journal does.
type shelf map[string]string

func (s shelf) keep(_, text string) (string, error) {
	handle := fmt.Sprintf("artifact:%04d", len(s))
	s[handle] = text
	return handle, nil
}

// step adds a call and its result.
func (r *recording) step(name, args string, result tool.Result) {
	r.t.Helper()
	id := r.NextCall(0)
	r.reply(text("next"), callPart(name, args))
	r.add(event.Finished{Call: id, Result: result})
}

func output(text string) tool.Result { return tool.Result{Status: tool.Success, Text: text} }

func numberedLines(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", name, i)
	}
	return b.String()
}

// byCall returns pruned by call.
func byCall(pruned []event.Pruned) map[string]event.Pruned {
	m := make(map[string]event.Pruned)
	for _, p := range pruned {
		m[p.Call] = p
	}
	return m
}

// TestR247_WhatIsRepeatedOrNoiseIsDropped: nothing that a reader needs is gone.
func TestR247_WhatIsRepeatedOrNoiseIsDropped(t *testing.T) {
	same := numberedLines("same", 200)
	encoded := strings.Repeat("QmFzZTY0IG9mIG1hbnkgYnl0ZXMgdGhhdCBubyBvbmUgcmVhZHMgMTIz", 20)
	r := opening(t)
	r.add(event.Asked{Text: "go"})
	r.step("Bash", `{"command":"cat log"}`, output(same))
	r.step("Bash", `{"command":"cat log"}`, output(same))
	r.step("Bash", `{"command":"x"}`, output("\x1b[31mred\x1b[0m \x1b]0;title\x07"+numberedLines("plain", 200)))
	r.step("Bash", `{"command":"y"}`, output("before\n"+encoded+"\nafter "+strings.Repeat("-", 500)+numberedLines("z", 99)))
	passed := output("Passed: 12 passed.\n" + numberedLines("--- PASS: Test", 200))
	passed.Data = json.RawMessage(`{"command":"go test ./...","outcome":"passed","counts":{"passed":12}}`)
	r.step("Test", `{}`, passed)
	r.step("Bash", `{"command":"short"}`, output("short"))
	r.step("Bash", `{"command":"last"}`, output(same+"!"))
	stored := shelf{}
	got := byCall(Prune(&r.State, Pruning{Tokens: 1, Target: 2, Keep: stored.keep}))
	if p := got["c1"]; p.Text != "[the same as the result of c2, which follows]" || p.Why != whyRepeated {
		t.Errorf("the first of two that are equal is %+v", p)
	}
	if p, ok := got["c2"]; ok {
		t.Errorf("the newest of two that are equal is %+v", p)
	}
	if want := "red " + numberedLines("plain", 200); got["c3"].Text != want {
		t.Errorf("without escape sequences it is %.40q", got["c3"].Text)
	}
	if p := got["c4"]; strings.Contains(p.Text, "QmFz") || !strings.HasPrefix(p.Text, "before\n[") || !strings.Contains(p.Text, "\nafter ---") {
		t.Errorf("without encoded bytes it is %.80q", p.Text)
	}
	if p := got["c5"]; p.Text != "go test ./...: passed (0 failed, 12 passed, 0 skipped)\n[the whole is in artifact:0000]" || stored["artifact:0000"] != passed.Text {
		t.Errorf("of tests that passed there is %q", p.Text)
	}
	if len(got) != 4 {
		t.Errorf("pruned are %v", got)
	}
}

// TestR248_OfTestsTheFailuresStay, and the lines that say where.
func TestR248_OfTestsTheFailuresStay(t *testing.T) {
	r := opening(t)
	r.add(event.Asked{Text: "go"})
	failed := tool.Failed(&tool.Failure{Kind: tool.NonzeroExit, Message: "failed"})
	failed.Text = numberedLines("=== RUN Test", 100) + "panic: boom\n\tstack.go:17 +0x1\n" + numberedLines("--- PASS: Test", 100)
	failed.Data = json.RawMessage(`{"command":"go test ./...","outcome":"failed","counts":{"passed":99,"failed":1},"failing":[{"name":"TestSub","suite":"m","file":"sub_test.go","line":9,"message":"got 3, want 1"}]}`)
	r.step("Test", `{}`, failed)
	r.step("Bash", `{"command":"x"}`, output("x"))
	got := byCall(Prune(&r.State, Pruning{Keep: shelf{}.keep}))["c1"]
	want := "go test ./...: failed (1 failed, 99 passed, 0 skipped)\n  m TestSub: sub_test.go:9: got 3, want 1\n  stack.go:17 +0x1\n[the whole is in artifact:0000]"
	if got.Text != want || got.Why != whyTests {
		t.Errorf("%s: %q\nwant %q", got.Why, got.Text, want)
	}
}

// TestR246_R250_R251_WhatIsLongIsStoredOnlyAsFarAsItTakes, oldest first; files are
// left out, for they can be read again; the newest calls stay as they are.
func TestR246_R250_R251_WhatIsLongIsStoredOnlyAsFarAsItTakes(t *testing.T) {
	r := opening(t)
	r.add(event.Asked{Text: "go"})
	r.step("Bash", `{"command":"a"}`, output(numberedLines("a", 500)))
	r.step("Read", `{"path":"f"}`, output(numberedLines("f", 500)))
	picture := output("a picture")
	picture.Media = []tool.Artifact{{Handle: "artifact:p", Type: "image/png"}}
	r.step("Read", `{"path":"p.png"}`, picture)
	r.step("Write", fmt.Sprintf(`{"path":"w","content":%q}`, numberedLines("w", 500)), output("written"))
	r.step("Bash", `{"command":"b"}`, output(numberedLines("b", 500)))
	r.step("Bash", `{"command":"c"}`, output(numberedLines("c", 500)))
	tokens := Request(&r.State, nil, nil).Estimate()
	stored := shelf{}
	if got := Prune(&r.State, Pruning{Tokens: tokens, Target: tokens, Keep: stored.keep}); len(got) > 0 {
		t.Errorf("at the target already, %v is pruned", got)
	}
	if got := Prune(&r.State, Pruning{Tokens: tokens, Target: tokens - 1, Keep: stored.keep}); len(got) != 1 || got[0].Call != "c1" {
		t.Errorf("a little above it, %v is pruned", got)
	}
	got := byCall(Prune(&r.State, Pruning{Tokens: tokens, Target: 0, Keep: stored.keep}))
	handle := "artifact:0001"
	if p := got["c1"]; !strings.Contains(p.Text, handle) || stored[handle] != numberedLines("a", 500) || p.Why != whyStored {
		t.Errorf("an output is %q", p.Text)
	}
	if p := got["c2"]; p.Why != whyReread || !strings.Contains(p.Text, "read it again") {
		t.Errorf("a file is %q", p.Text)
	}
	if p := got["c3"]; !strings.Contains(p.Text, "an image is in artifact:p") {
		t.Errorf("a picture is %q", p.Text)
	}
	if p := got["c4"]; p.Text != "" || len(p.Args) > 2*longArgument || !strings.Contains(string(p.Args), `"path":"w"`) || !json.Valid(p.Args) {
		t.Errorf("what was written is %s", p.Args)
	}
	if p, ok := got["c6"]; ok {
		t.Errorf("the newest result is %q", p.Text)
	}
	if last := byCall(Prune(&r.State, Pruning{Tokens: tokens, Target: 0, Last: 200, Keep: stored.keep}))["c6"]; tool.EstimateTokens(last.Text) > 200 || !strings.HasPrefix(last.Text, "c 0\n") || !strings.HasSuffix(last.Text, "c 499\n") {
		t.Errorf("the newest result is cut to %q", last.Text)
	}
	failing := func(string, string) (string, error) { return "", errors.New("the disk is full") }
	for _, p := range Prune(&r.State, Pruning{Tokens: tokens, Target: 0, Last: 200, Keep: failing}) {
		if p.Why == whyStored {
			t.Errorf("%s is %q, and stored nowhere", p.Call, p.Text)
		}
	}
}

// TestR264_NothingThatIsCompactedPartsCallsFromResults, whatever is pruned and
// dropped, and each request repeats the one before it until the next compaction.
func TestR264_NothingThatIsCompactedPartsCallsFromResults(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		r := opening(t)
		r.add(event.Asked{Text: "go"})
		var before []byte
		for range 30 {
			request := Request(&r.State, nil, nil)
			checkOrder(t, request)
			b := stable(t, request)
			if !strings.HasPrefix(string(b), string(before)) {
				t.Fatalf("seed %d: a request does not repeat the one before it", seed)
			}
			before = b
			if rng.IntN(3) == 0 {
				c := event.Compacted{Through: r.Through(), Trigger: "threshold"}
				c.Pruned = Prune(&r.State, Pruning{Tokens: 1000, Target: rng.IntN(1000), Last: rng.IntN(2) * 100, Keep: shelf{}.keep})
				if rng.IntN(2) == 0 {
					next := r.Compact(c)
					c.Through = Keep(next, rng.IntN(200))
					c.Handoff, _ = HandoffText(r.Compact(c), 100+rng.IntN(1000))
				}
				r.add(c)
				before = nil
				continue
			}
			grow(rng, r)
			if rng.IntN(2) == 0 {
				r.step("Bash", fmt.Sprintf(`{"command":%q}`, strings.Repeat("x", rng.IntN(3000))), output(numberedLines(fmt.Sprint(rng.IntN(3)), rng.IntN(300))))
			}
		}
	}
}

func FuzzShortArgs(f *testing.F) {
	for _, seed := range []string{`{}`, `null`, `{"a":"` + strings.Repeat("é", 500) + `","n":1e400,"l":[1,"x"]}`, `{"a`} {
		f.Add(seed, 100)
	}
	f.Fuzz(func(t *testing.T, args string, most int) {
		short, cut := shortArgs(json.RawMessage(args), min(max(most, 1), 10_000))
		if cut && !json.Valid(short) {
			t.Errorf("%q becomes %q", args, short)
		}
		if !cut && string(short) != args {
			t.Errorf("%q is not cut, and becomes %q", args, short)
		}
	})
}

package provider

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// heard is all that a stream yielded.
type heard struct {
	deltas []model.Delta
	reply  *model.Reply
	err    error
}

func listen(ctx context.Context, p model.Provider, req *model.Request) heard {
	var h heard
	for d, err := range p.Stream(ctx, req) {
		if err != nil {
			h.err = err
			continue
		}
		if r, ok := d.(model.Reply); ok {
			h.reply = &r
			continue
		}
		h.deltas = append(h.deltas, d)
	}
	return h
}

func (h heard) text() string {
	var b strings.Builder
	for _, d := range h.deltas {
		if t, ok := d.(model.TextDelta); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func user(text string) model.Message {
	return model.Message{Role: model.User, Parts: []model.Part{model.Text{Text: text}}}
}

func result(call, text string) model.Message {
	return model.Message{Role: model.User, Parts: []model.Part{model.CallResult{Call: call, Text: text}}}
}

// numbered is a reply as the loop puts it into the next request.
func numbered(r *model.Reply, ids ...string) model.Message {
	m := r.Message
	m.Parts = nil
	for _, p := range r.Message.Parts {
		if c, ok := p.(model.Call); ok {
			c.ID, ids = ids[0], ids[1:]
			p = c
		}
		m.Parts = append(m.Parts, p)
	}
	return m
}

func spec(name string) tool.Spec {
	return tool.Spec{Name: name, Description: name + " things", Input: json.RawMessage(`{"type":"object"}`)}
}

// example returns the script in docs/rehearsal.md.
func example(t *testing.T) []byte {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/rehearsal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(doc), "## An example\n\n```\n")
	text, _, ok2 := strings.Cut(after, "```\n")
	if !ok || !ok2 {
		t.Fatal("docs/rehearsal.md has no example")
	}
	return []byte(text)
}

func TestRehearsedPlaysTheDocumentedExample(t *testing.T) {
	p, err := NewRehearsed("fix.txtar", example(t))
	if err != nil {
		t.Fatal(err)
	}
	req := &model.Request{Tools: []tool.Spec{spec("Grep")}, Messages: []model.Message{user("make the tests pass")}}
	step := func(ids []string, results ...string) heard {
		t.Helper()
		h := listen(t.Context(), p, req)
		if h.err != nil {
			t.Fatal(h.err)
		}
		req.Messages = append(req.Messages, numbered(h.reply, ids...))
		for i, r := range results {
			req.Messages = append(req.Messages, result(ids[i], r))
		}
		return h
	}
	first := step([]string{"c1"}, "calc.go:7:func Sub(a, b int) int {")
	want := model.Message{Role: model.Assistant, From: "script/fix.txtar", Parts: []model.Part{
		model.Reasoning{Text: "The name of the test says what it is about."},
		model.Text{Text: "I look for the function first."},
		model.Call{Call: tool.Call{Tool: "Grep", Args: json.RawMessage(`{"pattern":"func Sub"}`)}},
	}}
	if d := cmp.Diff(want, first.reply.Message); d != "" {
		t.Errorf("first reply (-want +got):\n%s", d)
	}
	if first.reply.Stop != model.Calls || !first.reply.Usage.Estimated {
		t.Errorf("first reply stops %q, usage %+v; want calls and an estimate", first.reply.Stop, first.reply.Usage)
	}
	second := step([]string{"c2"}, "func Sub(a, b int) int {\n\treturn a + b\n}")
	if got := second.text(); got != "It is in calc.go, line 7." {
		t.Errorf("second reply says %q", got)
	}
	third := step([]string{"c3", "c4"}, "done", "ok  calc 0.01s")
	if got := string(third.reply.Message.Calls()[0].Args); got != `{"path":"calc.go","old":"return a + b","new":"return a - b"}` {
		t.Errorf("third reply edits with %s", got)
	}
	if d := cmp.Diff(model.Usage{Input: 2400, Cached: 2000, Output: 90}, third.reply.Usage); d != "" {
		t.Error(d)
	}
	last := step(nil)
	if got := last.reply.Message.Text(); got != "Sub added instead of subtracting; it subtracts now.\nThe tests pass." || last.reply.Stop != model.End {
		t.Errorf("last reply says %q and stops %q", got, last.reply.Stop)
	}

	req.Messages = append(req.Messages, user("and now?"))
	var bad *model.BadRequest
	if h := listen(t.Context(), p, req); !errors.As(h.err, &bad) || !strings.Contains(bad.Reason, "ends after step 4") || !strings.Contains(bad.Reason, "and now?") {
		t.Errorf("beyond the script: %v", h.err)
	}
}

func TestRehearsedResumes(t *testing.T) {
	p, err := NewRehearsed("fix.txtar", example(t))
	if err != nil {
		t.Fatal(err)
	}
	call := model.Message{Role: model.Assistant, Parts: []model.Part{model.Call{Call: tool.Call{ID: "c1", Tool: "Grep", Args: json.RawMessage(`{}`)}}}}
	read := model.Message{Role: model.Assistant, Parts: []model.Part{model.Call{Call: tool.Call{ID: "c2", Tool: "Read", Args: json.RawMessage(`{}`)}}}}
	h := listen(t.Context(), p, &model.Request{Messages: []model.Message{
		user("make the tests pass"), call, result("c1", "deep.go:70:func Sub"), read, result("c2", "return a + b"),
	}})
	if h.err != nil {
		t.Fatal(h.err)
	}
	if got := string(h.reply.Message.Calls()[0].Args); !strings.Contains(got, `"deep.go"`) {
		t.Errorf("the third step edits with %s; want the file that the second captured", got)
	}
}

func TestRehearsedShowsWhereTheScriptWasLeft(t *testing.T) {
	p, err := NewRehearsed("x.txtar", []byte("-- step greet --\n# first\nexpect: user /hello/\nsay: hi\n"))
	if err != nil {
		t.Fatal(err)
	}
	h := listen(t.Context(), p, &model.Request{Messages: []model.Message{user("goodbye " + strings.Repeat("ä", 4000))}})
	var bad *model.BadRequest
	if !errors.As(h.err, &bad) {
		t.Fatalf("got %v, want a *model.BadRequest", h.err)
	}
	want := "script x.txtar:3: the conversation left the script at step 1 (greet)\n  expected: user /hello/\n  came: goodbye ää"
	if !strings.HasPrefix(bad.Reason, want) || len(bad.Reason) > maxShown+300 || bad.Hint == "" {
		t.Errorf("got %.200s (%d bytes)\nwant %s", bad.Reason, len(bad.Reason), want)
	}
	if h := listen(t.Context(), p, &model.Request{Messages: []model.Message{user("hello")}}); h.err != nil || h.text() != "hi" {
		t.Errorf("the step was used up by a request that did not match: %v", h.err)
	}
}

func TestRehearsedExpectations(t *testing.T) {
	req := &model.Request{
		System: "be brief",
		Tools:  []tool.Spec{spec("Read")},
		Messages: []model.Message{
			user("first wish"),
			{Role: model.Assistant, Parts: []model.Part{
				model.Call{Call: tool.Call{ID: "c1", Tool: "Read"}}, model.Call{Call: tool.Call{ID: "c2", Tool: "Read"}},
			}},
			{Role: model.User, Parts: []model.Part{
				model.CallResult{Call: "c1", Text: "package a\nfunc b()"}, model.CallResult{Call: "c2", Text: "not found", Error: true},
			}},
			user("todo: one"),
		},
	}
	for expect, want := range map[string]bool{
		"last /package a/": true, "last /todo: one/": true, "last /first wish/": false,
		"result /func b/": true, "result /todo/": false, "result /(?m)^func/": true, "result /^func/": false,
		"error": true, "not error": false, "error /found/": true, "error /package/": false,
		"user /first/": true, "user /todo/": true, "user /package/": false, "not user /secret/": true,
		"system /brief/": true, "system /long/": false,
		"tool Read": true, "tool Write": false, "not tool Write": true, "not tool Read": false,
		"result /a/b/": false,
	} {
		x, err := parseExpectation(1, expect)
		if err != nil {
			t.Errorf("%s: %v", expect, err)
			continue
		}
		if got := x.match(req, map[string]string{}); got != want {
			t.Errorf("%s: %v, want %v", expect, got, want)
		}
	}
}

func TestRehearsedFillsInCaptures(t *testing.T) {
	script := "-- step --\nexpect: user /say (?P<what>.*)/\nsay: ${what} ${HOME}\ncall: Bash {\"command\": \"echo ${what} ${HOME}\"}\ngarble: Bash {\"command\": ${what}\n"
	p, err := NewRehearsed("x", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	h := listen(t.Context(), p, &model.Request{Messages: []model.Message{user(`say "<a\b>"`)}})
	if h.err != nil {
		t.Fatal(h.err)
	}
	want := []model.Part{
		model.Text{Text: `"<a\b>" ${HOME}`},
		model.Call{Call: tool.Call{Tool: "Bash", Args: json.RawMessage(`{"command":"echo \"<a\\b>\" ${HOME}"}`)}},
		model.Call{Call: tool.Call{Tool: "Bash", Args: json.RawMessage("null")}, Malformed: `{"command": "<a\b>"`},
	}
	if d := cmp.Diff(want, h.reply.Message.Parts); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRehearsedFails(t *testing.T) {
	tests := []struct {
		script string
		want   func(error) bool
	}{
		{"fail: overflow", func(err error) bool { return errors.Is(err, model.ErrOverflow) }},
		{"fail: unavailable after=2s", func(err error) bool {
			u, ok := errors.AsType[*model.Unavailable](err)
			return ok && u.After == 2*time.Second
		}},
		{"fail: rejected part=1", func(err error) bool {
			r, ok := errors.AsType[*model.Rejection](err)
			return ok && r.Message == 0 && r.Part == 1
		}},
		{"fail: bad", func(err error) bool { r, ok := errors.AsType[*model.BadRequest](err); return ok && r.Status == 400 }},
	}
	for _, tt := range tests {
		p, err := NewRehearsed("x", []byte("-- step --\n"+tt.script+"\n-- step --\nsay: again\n"))
		if err != nil {
			t.Fatal(err)
		}
		req := &model.Request{Messages: []model.Message{user("go")}}
		if h := listen(t.Context(), p, req); !tt.want(h.err) || h.reply != nil {
			t.Errorf("%s: %v, reply %v", tt.script, h.err, h.reply)
		}
		if h := listen(t.Context(), p, req); h.text() != "again" {
			t.Errorf("%s: the next request got %q, %v", tt.script, h.text(), h.err)
		}
	}
}

func TestRehearsedStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewRehearsed("x", []byte("-- step --\ndelay: 1s\nsay: "+strings.Repeat("word ", 40)+"\ncall: Read {}\n"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		begun := time.Now()
		h := listen(ctx, p, &model.Request{Messages: []model.Message{user("go")}})
		if took := time.Since(begun); took != 2500*time.Millisecond {
			t.Errorf("stopped after %v", took)
		}
		if !errors.Is(h.err, context.DeadlineExceeded) || len(h.deltas) != 2 {
			t.Errorf("got %d deltas and %v", len(h.deltas), h.err)
		}
		if h.reply == nil || h.reply.Stop != model.Cut || len(h.reply.Message.Calls()) != 0 || h.reply.Message.Text() != h.text() {
			t.Errorf("got the reply %+v, want what was said, cut", h.reply)
		}
	})
}

func TestScriptErrorsNameTheLine(t *testing.T) {
	for script, want := range map[string]string{
		"":                                  "x:1: it has no steps",
		"about\n-- main.go --\npackage a\n": `x:2: file "main.go" is not a step`,
		"-- step --\n":                      "x:1: the step replies nothing",
		"-- step --\n\n# c\nsay hello\n":    `x:4: want "key: value", got "say hello"`,
		"-- step --\n  say: a\n":            "x:2: an indented line",
		"-- step --\nsay: a\n-- step b --\nsing: a\n": "x:4: sing: not one of",
		"-- step --\ncall: Read {\"a\": \n":           "x:2: call: arguments of Read: unexpected end of JSON input",
		"-- step --\ncall: Read\n":                    `x:2: call: want "NAME {arguments}"`,
		"-- step --\ncall: Read {\"a\": ${n}}\n":      "x:2: call: arguments of Read: invalid character",
		"-- step --\ngarble: Read {}\n":               "x:2: garble: these arguments are valid JSON",
		"-- step --\nexpect: result /(/\nsay: a\n":    "x:2: expect: error parsing regexp",
		"-- step --\nexpect: nothing /a/\nsay: a\n":   `x:2: expect: "nothing" is not one of`,
		"-- step --\nexpect: result a\nsay: a\n":      "x:2: expect: want result /REGEXP/",
		"-- step --\nexpect: tool\nsay: a\n":          "x:2: expect: want tool NAME",
		"-- step --\nstop: now\n":                     `x:2: stop: "now" is not one of`,
		"-- step --\nsay: a\nusage: inputs=3\n":       `x:3: usage: "inputs=3" is not`,
		"-- step --\nsay: a\ndelay: soon\n":           "x:3: delay: time: invalid duration",
		"-- step --\nfail: quickly\n":                 `x:2: fail: "quickly" is not one of`,
		"-- step --\nfail: bad after=1s\n":            `x:2: fail: bad takes no "after=1s"`,
		"-- step --\nsay: a\nretry: all\n":            `x:3: retry: want interrupted, got "all"`,
		"-- all --\nretry: never\n":                   `x:2: retry: want interrupted, got "never"`,
		"-- all --\nsay: a\n":                         "x:2: say: not for all steps",
		"-- step --\nsay: a\n-- all --\n":             `x:3: file "all" is not a step`,
	} {
		_, err := NewRehearsed("x", []byte(script))
		if err == nil || !strings.HasPrefix(err.Error(), "script "+want) {
			t.Errorf("%q: %v\nwant script %s", script, err, want)
		}
	}
}

func FuzzScript(f *testing.F) {
	f.Add([]byte("about\n-- step one --\nexpect: not last /a(?P<x>b)/\nsay: a\n\n  b ${x}\ncall: A {\"b\":\n  1}\nusage: input=1\ndelay: 1ms\n-- step --\nfail: rejected part=1\n"))
	f.Add([]byte("-- all --\nretry: interrupted\n-- step --\nretry: interrupted\ncall: A {}\n"))
	f.Add([]byte("-- step --\r\nsay: a\r\n\tb\r\nstop: cut\r\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := parseScript("x", src)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "script x:") {
				t.Errorf("the error names no line: %v", err)
			}
			return
		}
		lines := strings.Count(string(src), "\n") + 1
		for _, st := range s.steps {
			if st.line < 1 || st.line > lines || len(st.says) == 0 && st.fail == nil && st.stop == "" {
				t.Errorf("step %+v of a script of %d lines", st, lines)
			}
		}
	})
}

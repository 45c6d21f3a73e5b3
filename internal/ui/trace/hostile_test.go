package trace_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// hostile are what a model, a tool or a file may come with: markup that would run,
// text that a terminal would obey, and text that is not what it looks like.
var hostile = []string{
	"</script><script>window.hit=1;alert(1)</script>", "<script>window.hit=1</script>", "<!--<script>", "]]>",
	`<img src=x onerror="window.hit=1">`, "<svg onload=window.hit=1>", `"><b onmouseover="window.hit=1">`, `' autofocus onfocus='window.hit=1`,
	"<style>body{display:none}</style>", `<base href="http://evil.example/">`, `<meta http-equiv="refresh" content="0;url=http://evil.example/">`,
	`<iframe src="javascript:window.hit=1"></iframe>`, "javascript:window.hit=1", `<a href="javascript:window.hit=1">x</a>`, `<form action="//evil.example"><input>`,
	"&lt;script&gt;", "{{constructor.constructor('window.hit=1')()}}", "${window.hit=1}", "__proto__", "constructor",
	"\x1b]0;owned\x07", "\x1b[2J\x1b[31mred\x1b[0m", "\x9b31m", "\u009b2J", "\x1bPq\x1b\\", "a\rb", "\x00\x01\x7f", "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
	"gnp.\u202eexe", "\u2066x\u2069", "\u200bzero\u200bwidth", "r\u200dm", "\ufeffbom", "a\u2028b\u2029c", "\u3164", "\U000e0041\U000e0042", "x\U000e0100", "soft\u00adhyphen", "\u2800",
	"\xff\xfe invalid", "[12,345 bytes are not in this trace]", "artifact:" + strings.Repeat("0", 64), "[workspace]", "#e1",
}

// mess is all of it at once.
var mess = strings.Join(hostile, " ")

// fill makes a value of hostile text, however it is made.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(mess)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), depth+1)
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{mess, "__proto__", "constructor"} {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(e, depth+1)
			v.SetMapIndex(reflect.ValueOf(key), e)
		}
	case reflect.Slice:
		switch v.Type() {
		case reflect.TypeFor[json.RawMessage]():
			v.SetBytes(fmt.Appendf(nil, `{%s:[%s,null,-1.5e9],"__proto__":{"path":%[1]s},"command":%[1]s}`, quote(mess), quote(mess)))
			return
		case reflect.TypeFor[[]byte]():
			v.SetBytes([]byte(mess))
			return
		case reflect.TypeFor[[]model.Part]():
			v.Set(reflect.ValueOf(parts()))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), depth+1)
		}
	}
}

func parts() []model.Part {
	var a model.Text
	var b model.Reasoning
	var c model.Call
	var d model.CallResult
	var e model.Image
	for _, p := range []any{&a, &b, &c, &d, &e} {
		fill(reflect.ValueOf(p).Elem(), 0)
	}
	return []model.Part{a, b, c, d, e}
}

// filled returns every kind of event, with hostile text in every field.
func filled(t testing.TB) []event.Body {
	t.Helper()
	kinds := []any{
		&event.Opened{}, &event.Ruled{}, &event.Asked{}, &event.Packed{}, &event.Sent{}, &event.Replied{}, &event.Planned{}, &event.Decided{},
		&event.Started{}, &event.Finished{}, &event.Settled{}, &event.Constrained{}, &event.Quarantined{}, &event.Switched{}, &event.Compacted{}, &event.Stopped{},
	}
	if len(kinds) != len(event.Kinds()) {
		t.Fatalf("%d of %d kinds of events are here", len(kinds), len(event.Kinds()))
	}
	var all []event.Body
	for _, k := range kinds {
		fill(reflect.ValueOf(k).Elem(), 0)
		all = append(all, reflect.ValueOf(k).Elem().Interface().(event.Body))
	}
	return all
}

// hostileLog is a session in which every field of everything is hostile, and one in
// which calls, requests, changes and artifacts are what they should be, but for
// what is in them.
func hostileLog(t testing.TB) log {
	l := newLog(t)
	l.add(filled(t)...)
	for _, kind := range []string{"constructor", "__proto__", "hereafter.kind"} {
		l.add(event.Opaque{Type: kind, Version: 3, JSON: json.RawMessage(`{` + quote(mess) + `:` + quote(mess) + `,"__proto__":{"a":1}}`)})
	}
	text := strings.ToValidUTF8(mess, "?")
	request := l.keep(`{"model":` + quote(text) + `,"system":` + quote(text+"\n# Project rules\n"+text) + `,"tools":[{"name":` + quote(text) + `,"effects":null}],"messages":[{"role":"user","seq":1,"parts":[{"type":"text","text":` + quote(text) + `},{"type":"odd","x":` + quote(text) + `}]}]}`)
	output := l.keep(mess + "\n" + strings.Repeat("a huge line ", 60<<10) + mess)
	diff := "--- a/" + mess + "\n+++ b/" + mess + "\n@@ -1,2 +1,2 @@ " + mess + "\n-" + mess + "\n+" + mess + "\n same\n"
	call := tool.Call{ID: "c1", Tool: "Edit", Args: json.RawMessage(`{"path":` + quote(text) + `,"old":` + quote(text) + `}`)}
	plan := tool.Plan{Call: call, Summary: mess, Preview: diff, Profile: mess}
	l.add(event.Opened{Session: "s", Root: "/" + text, Model: text, Mode: text}, event.Asked{Text: mess},
		event.Sent{Request: request.Handle, Bytes: int(request.Bytes)},
		event.Replied{Message: model.Message{Role: model.Assistant, From: text, Parts: []model.Part{model.Text{Text: mess}, model.Reasoning{Text: mess}, model.Call{Call: call}}}, Stop: "calls"},
		event.Planned{Plan: plan}, event.Decided{Call: "c1", Verdict: "allow", By: text, Reason: mess}, event.Started{Call: "c1"},
		event.Finished{Call: "c1", Result: tool.Result{Status: tool.Error, Text: mess, Failure: &tool.Failure{Kind: "stale", Message: mess, Hint: mess}, Artifacts: []tool.Artifact{output}, Data: json.RawMessage(`{"__proto__":` + quote(text) + `}`), Confined: mess}},
		event.Stopped{Reason: text, Detail: mess})
	return l
}

// walkAll looks at every frame, and with two modes at every event, in every view,
// with all that is folded opened, and tells check after each.
func (tb *tab) walkAll(modes int, check func()) {
	tb.Helper()
	for range modes {
		n := eval[int](tb, "document.querySelector('#scrub').max*1")
		tb.press("g")
		for range n + 1 {
			tb.open()
			check()
			tb.press("j")
		}
		tb.press("e")
	}
	if eval[bool](tb, "document.querySelector('#every').checked") {
		tb.press("e")
	}
	tb.press("2")
	check()
	tb.press("3")
	for i := range eval[int](tb, "document.querySelectorAll('.filelist button').length") {
		eval[bool](tb, fmt.Sprintf("(document.querySelectorAll('.filelist button')[%d].click(), true)", i))
		tb.open()
		check()
	}
	tb.press("1")
}

// shown is everything in the page that a person, or what reads to one, is given.
const shown = `(() => {
	const out = [document.title];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
	for (let n = walk.currentNode; n; n = walk.nextNode()) {
		if (n.nodeType === 3) {
			if (n.parentElement.tagName !== 'SCRIPT') out.push(n.data);
			continue;
		}
		for (const a of n.attributes) out.push(a.name + '=' + a.value);
	}
	return out.join('\n');
})()`

// foreign is what markup of others would have made of the page.
const foreign = `(() => {
	const bad = [...document.querySelectorAll('body iframe, body object, body embed, base, body meta, link, form, body style, body title, a[href]:not([href^="#"]), [style*="url"], img:not([src^="data:image/"])')];
	for (const s of document.querySelectorAll('script')) if (s.type !== 'application/json' && s !== document.scripts[document.scripts.length - 1]) bad.push(s);
	for (const e of document.querySelectorAll('*')) for (const a of e.attributes) if (/^on/i.test(a.name)) bad.push(e);
	return bad.map(e => e.outerHTML.slice(0, 200)).concat(window.hit ? ['something ran'] : []);
})()`

func TestPromise_P16_NothingInATraceRunsOrMisleads(t *testing.T) {
	l := hostileLog(t)
	s := l.source()
	s.Session = "s"
	file, _ := write(t, s)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if opened, closed := strings.Count(strings.ToLower(string(b)), "<script"), strings.Count(strings.ToLower(string(b)), "</script"); opened != closed {
		t.Errorf("%d script elements begin, %d end", opened, closed)
	}
	_, data, _ := strings.Cut(string(b), `class="rows"`)
	data, _, _ = strings.Cut(data, "<script>")
	checkShown(t, data) // also to who looks into the file in a terminal
	for i, l := range []look{wide, {390, 800, true, ""}} {
		tb := openTab(t, file, l)
		tb.walkAll(2-i, func() {
			if bad := eval[[]string](tb, foreign); len(bad) > 0 {
				t.Fatalf("the page has %q", bad)
			}
			checkShown(t, eval[string](tb, shown))
		})
		if title := eval[string](tb, "document.title"); title != "Belay trace" {
			t.Errorf("the title is %q", title)
		}
		// What is hidden is there to be seen.
		tb.press("G")
		tb.press("k")
		tb.open()
		tb.need("#detail", `\x1b]0;owned\x07`, `\x1b[2J`, `\x1b[31m`, `gnp.\u202eexe`, `\u200bzero\u200bwidth`, `\u2028`, `\U000e0041`)
		tb.need("#detail", "</script><script>window.hit=1;alert(1)</script>", "<img src=x", "\\x9b31m", "\\xff\\xfe invalid", "bytes are not in this trace")
	}
}

// checkShown fails for what a reader would not see, or see elsewhere.
func checkShown(t *testing.T, text string) {
	t.Helper()
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t':
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp), r == '\u3164', r == '\u2800', r >= 0xe0100 && r <= 0xe01ef:
			t.Fatalf("%U is shown as it is, in %q", r, text[max(0, i-60):min(len(text), i+60)])
		}
	}
}

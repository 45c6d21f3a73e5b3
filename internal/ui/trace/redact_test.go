package trace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/ui/trace"
)

// canary fills v with strings that say where they are.
func canary(v reflect.Value, at string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("canary<" + at + ">")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		canary(v.Elem(), at)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				canary(v.Field(i), at+"."+v.Type().Field(i).Name)
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		canary(e, at+"{}")
		v.SetMapIndex(reflect.ValueOf("canary<"+at+" key>"), e)
	case reflect.Slice:
		switch v.Type() {
		case reflect.TypeFor[json.RawMessage]():
			v.SetBytes(fmt.Appendf(nil, `{"kind":%[1]s,"status":%[1]s,"to":[%[1]s],%[1]s:1}`, quote("canary<"+at+" json>")))
			return
		case reflect.TypeFor[[]model.Part]():
			var parts []model.Part
			for _, p := range []any{&model.Text{}, &model.Reasoning{}, &model.Call{}, &model.CallResult{}, &model.Image{}} {
				e := reflect.ValueOf(p).Elem()
				canary(e, at+"."+e.Type().Name())
				parts = append(parts, e.Interface().(model.Part))
			}
			v.Set(reflect.ValueOf(parts))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		canary(v.Index(0), at+"[]")
	}
}

// What stays in a page for others is this, and nothing else. A line that is new
// here is something that others will be shown.
var stays = strings.Fields(`
Asked.Mentions[]
Constrained.Bans[].Call Constrained.Bans[].Rule Constrained.By Constrained.ID
Compacted.By Compacted.Notes[].Bans[].Call Compacted.Notes[].Bans[].Rule Compacted.Notes[].Evidence[] Compacted.Notes[].ID Compacted.Notes[].Kind Compacted.Notes[].Status
Compacted.Pruned[].Call Compacted.Trigger
Decided.Also[] Decided.By Decided.Call Decided.Reason Decided.Remember Decided.Verdict
Finished.Call Finished.Result.Artifacts[].Type Finished.Result.Confined Finished.Result.Edits[].Inexact Finished.Result.Edits[].Mode
Finished.Result.Edits[].Path Finished.Result.Edits[].Was Finished.Result.Failure.Kind Finished.Result.Media[].Type Finished.Result.Seen^key Finished.Result.Status Finished.Result.Todo[].State
Opened.Mode Opened.Model Opened.Parent Opened.Root Opened.Session Opened.Tools[].Effects[] Opened.Tools[].Idempotency Opened.Tools[].Origin Opened.Tools[].Risk Opened.Version
Packed.Dropped[].Path Packed.Dropped[].Slot Packed.Kept[].Path Packed.Kept[].Slot
Planned.Plan.Call.ID Planned.Plan.Call.Tool Planned.Plan.Parts[].Effects[].Kind Planned.Plan.Profile
Replied.Message.From Replied.Message.Parts.Call.Call.ID Replied.Message.Parts.Call.Call.Tool Replied.Message.Parts.CallResult.Call
Replied.Message.Parts.CallResult.Media[].Type Replied.Message.Parts.Image.Artifact.Type Replied.Message.Role Replied.Stop
Ruled.Path Sent.For Sent.Model
Settled.As Settled.By Settled.Call
Started.Call Started.Waited[].Call Started.Waited[].Effect.Kind Started.Waited[].Held.Kind
Stopped.Reason Switched.To
`)

func TestWhatStaysForOthersIsKnown(t *testing.T) {
	l := newLog(t)
	for _, b := range filled(t) {
		v := reflect.New(reflect.TypeOf(b)).Elem()
		canary(v, v.Type().Name())
		l.add(v.Interface().(event.Body))
	}
	l.add(event.Opaque{Type: "hereafter.kind", Version: 1, JSON: json.RawMessage(`{"words":"canary<Opaque.words>","canary<Opaque key>":[{"x":"canary<Opaque.x>"}]}`)})
	s := l.source()
	s.Redact = &trace.Redaction{Key: []byte("k")}
	file, _ := write(t, s)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, piece := range strings.Split(string(b), `canary\u003c`)[1:] {
		name, _, _ := strings.Cut(piece, `\u003e`)
		got = append(got, name)
	}
	slices.Sort(got)
	got = slices.Compact(got)
	known := slices.Clone(stays)
	for i := range known {
		known[i] = strings.ReplaceAll(known[i], "^", " ")
	}
	slices.Sort(known)
	if d := cmp.Diff(known, got); d != "" {
		t.Errorf("what stays (-known +is):\n%s", d)
	}
}

func TestRedactionShortensPathsAndNames(t *testing.T) {
	l := newLog(t)
	l.add(event.Opened{Session: "s", Root: "/home/alice/secret-project", Model: "m", Mode: "auto"}, event.Asked{Text: "hello from alice", Mentions: []string{"lib/a.go", "/home/alice/other/b.go", "/srv/data/c.go", "/home/alice/secret-project2/d.go"}},
		event.Decided{Call: "c1", Verdict: "deny", By: "Read(/home/alice/.ssh/**)", Reason: "the rule of alice on laptop7 in /home/alice/secret-project/lib forbids it, " + strings.Repeat("ab", 32)},
		event.Decided{Call: "c1", Verdict: "deny", By: "person", Reason: "my own words"})
	page := func(key string) string {
		s := l.source()
		s.Redact = &trace.Redaction{Key: []byte(key), Root: "/home/alice/secret-project", Names: []trace.Name{{"/home/alice", "~"}, {"laptop7", "[host]"}, {"alice", "[user]"}}}
		file, _ := write(t, s)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, b, _ = bytes.Cut(b, []byte(`class="rows"`))
		return string(b)
	}
	text := page("one")
	for _, gone := range []string{"alice", "laptop7", "secret-project", "srv/data", "my own words", "hello", strings.Repeat("ab", 32)} {
		if strings.Contains(text, gone) {
			t.Errorf("%q is there", gone)
		}
	}
	for _, kept := range []string{"lib/a.go", "…/b.go", "…/c.go", "…/d.go", "the rule of [user] on [host] in [workspace]/lib forbids it", `"verdict":"deny"`} {
		if !strings.Contains(text, kept) {
			t.Errorf("%q is not there", kept)
		}
	}
	if text != page("one") || text == page("two") {
		t.Error("digests are to depend on the key, and on nothing else")
	}
}

var fieldRE = regexp.MustCompile(`<(\w)(\d+)>`)

// shapes returns one secret of each shape that is known by itself.
func shapes(t *testing.T) (secrets []string) {
	t.Helper()
	b, err := os.ReadFile("../../decide/secret/testdata/formats.tsv")
	if err != nil {
		t.Fatal(err)
	}
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	alphabets := map[string]string{
		"A": lower + upper + digits, "U": upper + digits, "L": lower + upper, "a": lower + digits, "h": digits + "abcdef", "H": digits + "ABCDEF", "d": digits,
		"w": lower + upper + digits, "b": lower + upper + digits, "2": upper + "234567", "C": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 3 || f[1] != "bare" {
			continue
		}
		secrets = append(secrets, fieldRE.ReplaceAllStringFunc(f[2], func(field string) string {
			m := fieldRE.FindStringSubmatch(field)
			n, err := strconv.Atoi(m[2])
			if err != nil || alphabets[m[1]] == "" {
				t.Fatalf("format %s has %s", f[0], field)
			}
			out := make([]byte, n)
			for i := range out {
				out[i] = alphabets[m[1]][chance.IntN(len(alphabets[m[1]]))]
			}
			return string(out)
		}))
	}
	if len(secrets) < 50 {
		t.Fatalf("only %d shapes of secrets", len(secrets))
	}
	return secrets
}

// Secrets are not in a trace to begin with, for others or not.
func TestNoSecretIsInATrace(t *testing.T) {
	secrets := shapes(t)
	p := newPlace(t, map[string]string{"notes.txt": strings.Join(secrets, "\n") + "\n"})
	model := p.rehearse("-- step --\ncall: Read {\"path\": \"notes.txt\"}\ncall: Grep {\"pattern\": \".\", \"path\": \"notes.txt\"}\ncall: Bash {\"command\": \"cat notes.txt\"}\n-- step --\nsay: read\n")
	p.belay(0, "run", "--mode", "full", "-m", model, "read the notes: "+secrets[0])
	for _, args := range [][]string{nil, {"--redact"}} {
		page, err := os.ReadFile(p.trace(args...))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range secrets {
			if bytes.Contains(page, []byte(s)) {
				t.Errorf("%v: %s… is there", args, s[:len(s)/2])
			}
		}
		if !bytes.Contains(page, []byte("notes.txt")) {
			t.Errorf("%v: the trace is of something else", args)
		}
		if bytes.Contains(page, []byte(p.base)) != (args == nil) {
			i := bytes.Index(page, []byte(p.base))
			t.Errorf("%v: where the workspace is stays, or goes: %s", args, page[max(0, i-100):max(0, i)+100])
		}
	}
}

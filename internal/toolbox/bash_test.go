package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/contract/tool/tooltest"
	"github.com/belay-agent/belay/internal/decide/shell"
	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A shelf keeps artifacts in memory.
type shelf struct {
	kept []*kept
	full bool // a disk without space
}

type kept struct {
	bytes.Buffer
	shelf  *shelf
	handle string
}

func (s *shelf) spill(string) (tool.Spill, error) {
	k := &kept{shelf: s}
	s.kept = append(s.kept, k)
	return k, nil
}

func (k *kept) Write(b []byte) (int, error) {
	if k.shelf.full {
		return 0, io.ErrShortWrite
	}
	return k.Buffer.Write(b)
}

func (k *kept) Close() error   { k.handle = fmt.Sprintf("artifact:%d", k.Len()); return nil }
func (k *kept) Handle() string { return k.handle }

func bashIn(t testing.TB, root string, o BashOptions) tool.Tool {
	t.Helper()
	h, err := process.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return bashOn(t, h, root, o)
}

// bashOn is bashIn on a host that others use too.
func bashOn(t testing.TB, h *process.Host, root string, o BashOptions) tool.Tool {
	t.Helper()
	var err error
	o.Root, o.Env = root, []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere"}
	if o.Shell, err = process.Shell(o.Env); err != nil {
		t.Fatal(err)
	}
	o.World = worldIn(t, root, o)
	return Bash(h, o)
}

func worldIn(t testing.TB, root string, o BashOptions) shell.World {
	t.Helper()
	w, err := workspace.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return World(w, o)
}

func bashCall(t testing.TB, args any) tool.Input {
	t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Input{Call: "c1", Args: b}
}

// bash runs command with a fresh tool, and returns its result and facts.
func bash(t testing.TB, s *shelf, command string) (tool.Result, bashFacts) {
	t.Helper()
	return bashWith(t, bashIn(t, t.TempDir(), BashOptions{}), tool.Env{Spill: s.spill}, bashArgs{Command: command})
}

// tookRE finds the time that a command took, which is said where a busy machine
// makes it long.
var tookRE = regexp.MustCompile(`((?:exit status \d+|ended by SIG\w+)) after [0-9.ms]+$`)

func bashWith(t testing.TB, b tool.Tool, env tool.Env, args bashArgs) (tool.Result, bashFacts) {
	t.Helper()
	a, err := b.Prepare(t.Context(), bashCall(t, args))
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Do(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	var f bashFacts
	if err := json.Unmarshal(r.Data, &f); err != nil {
		t.Fatal(err)
	}
	r.Text = tookRE.ReplaceAllString(r.Text, "$1")
	return r, f
}

func kindOf(r tool.Result) tool.Kind {
	if r.Failure == nil {
		return ""
	}
	return r.Failure.Kind
}

func TestBashKeepsItsContract(t *testing.T) {
	for name, c := range map[string]tooltest.Case{
		`{"command": "echo hi >made; cat made"}`:             {},
		`{"command": "exit 3", "timeout_s": 5}`:              {Status: tool.Error, Kind: tool.NonzeroExit},
		`{"command": "yes | head -c 300000"}`:                {Status: tool.Partial},
		`{"command": "echo on; sleep 300"}`:                  {Status: tool.Interrupted, Kind: tool.Cancelled, Blocks: true},
		`{"command": "echo a; kill -9 $$"}`:                  {Status: tool.Error, Kind: tool.Signalled},
		`{"command": "sleep 300", "timeout_s": 1}`:           {Status: tool.Error, Kind: tool.TimedOut},
		`{"command": "printf '\\0\\1\\2\\3\\4\\5'"}`:         {Status: tool.Partial},
		`{"command": "for i in $(seq 3000); do echo; done"}`: {Status: tool.Partial},
	} {
		t.Run(name, func(t *testing.T) {
			c.Open = func(t testing.TB, dir string) (tool.Tool, tool.Input) {
				return bashIn(t, dir, BashOptions{}), tool.Input{Args: json.RawMessage(name)}
			}
			tooltest.Test(t, c)
		})
	}
}

const stageLost = "[stage 1 of 2 of its last pipeline failed, so what followed may have seen too little; all ended with 1, 0]\n"

func TestR004_BoundToItsRootWithADefaultTimeout(t *testing.T) {
	root := t.TempDir()
	b := bashIn(t, root, BashOptions{Timeout: time.Second})
	command := "cd / && pwd\n# caf\u00e9 \u202e\x1b[31m"
	a, err := b.Prepare(t.Context(), bashCall(t, bashArgs{Command: command}))
	if err != nil {
		t.Fatal(err)
	}
	want := effect.Set{{Kind: effect.Anything}, {Kind: effect.Process}}
	if len(a.Parts) == 0 || !cmp.Equal(a.Parts[0].Effects, want) {
		t.Errorf("%+v", a.Parts)
	}
	if a.Summary != "cd / && pwd ..." || a.Preview != command || a.Timeout != time.Second {
		t.Errorf("%q, %q, %s", a.Summary, a.Preview, a.Timeout)
	}

	// Wherever a call goes, the next one starts at the root.
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, f := bashWith(t, b, tool.Env{}, bashArgs{Command: "pwd -P; cd /"})
		if r.Text != real+"\nexit status 0" || f.Dir != "." {
			t.Errorf("ran in %q, said %q", r.Text, f.Dir)
		}
	}
	if r, f := bashWith(t, b, tool.Env{}, bashArgs{Command: "echo on; sleep 300"}); kindOf(r) != tool.TimedOut || !f.TimedOut {
		t.Errorf("without a timeout of its own: %s %q", r.Status, r.Text)
	}
	if r, _ := bashWith(t, b, tool.Env{}, bashArgs{Command: "sleep 1.2; echo on", Timeout: 100}); r.Failure != nil {
		t.Errorf("with one: %q", r.Text)
	}
	if got := bashIn(t, root, BashOptions{}); got.Spec().Timeout != 600*time.Second || got.Spec().Risk != tool.High {
		t.Errorf("%+v", got.Spec())
	}
}

func TestBashRefusals(t *testing.T) {
	b := bashIn(t, t.TempDir(), BashOptions{})
	for args, want := range map[string]tool.Kind{
		`{}`:                                 tool.Invalid,
		`{"command": ""}`:                    tool.Invalid,
		`{"command": " \n\t"}`:               tool.Invalid,
		`{"command": "a\u0000b"}`:            tool.Invalid,
		`{"command": "a", "timeout_s": 0}`:   tool.Invalid,
		`{"command": "a", "timeout_s": 601}`: tool.Invalid,
		`{"command": "a", "cwd": "/"}`:       tool.Invalid,
		`{"command": ["ls"]}`:                tool.Invalid,
		`{"command": "` + strings.Repeat("a", scriptMax+1) + `"}`: tool.TooLarge,
	} {
		_, err := b.Prepare(t.Context(), tool.Input{Call: "c1", Args: json.RawMessage(args)})
		f, ok := err.(*tool.Failure)
		if !ok || f.Kind != want || f.Hint == "" {
			t.Errorf("%.60s: got %v, want %s", args, err, want)
		}
	}
	r, _ := bash(t, new(shelf), ": "+strings.Repeat("a", scriptMax-2))
	if r.Status != tool.Success {
		t.Errorf("the longest script: %s", r.Text)
	}
}

func TestBashSummaryHidesNothing(t *testing.T) {
	for script, want := range map[string]string{
		"\n  ls -l \n":                "ls -l",
		"a\nb":                        "a ...",
		"echo ok\rrm -rf .":           `echo ok\u000drm -rf .`,
		"a\x1b[2K\u202eb\u200bc":      `a\u001b[2K\u202eb\u200bc`,
		strings.Repeat("\u754c", 100): strings.Repeat("\u754c", 100),
		strings.Repeat("\u754c", 101): strings.Repeat("\u754c", 100) + " ...",
	} {
		if got := scriptSummary(script); got != want {
			t.Errorf("%q: got %q, want %q", script, got, want)
		}
	}
}

func TestR133_HowACommandEnded(t *testing.T) {
	type end struct {
		Text   string
		Status tool.Status
		Kind   tool.Kind
		Code   int
		Signal string
	}
	for command, want := range map[string]end{
		"true":                     {"(no output)\nexit status 0", tool.Success, "", 0, ""},
		"echo a; echo b >&2":       {"a\nb\nexit status 0", tool.Success, "", 0, ""},
		"printf a":                 {"a\nexit status 0", tool.Success, "", 0, ""},
		"echo '  '":                {"  \nexit status 0", tool.Success, "", 0, ""},
		"exit 7":                   {"(no output)\nexit status 7", tool.Error, tool.NonzeroExit, 7, ""},
		"echo part; kill -9 $$":    {"part\nended by SIGKILL", tool.Error, tool.Signalled, -1, "SIGKILL"},
		"no-such-cmd 2>/dev/null":  {"(no output)\nexit status 127", tool.Error, tool.NonzeroExit, 127, ""},
		"false | tail -1":          {"(no output)\n" + stageLost + "exit status 0", tool.Success, "", 0, ""},
		"seq 999999 | head -2":     {"1\n2\nexit status 0", tool.Success, "", 0, ""},
		"grep x /dev/null | sort":  {"(no output)\n" + stageLost + "exit status 0", tool.Success, "", 0, ""},
		"cat; [ -t 0 ] || echo no": {"no\nexit status 0", tool.Success, "", 0, ""},
	} {
		r, f := bash(t, new(shelf), command)
		got := end{r.Text, r.Status, kindOf(r), -1, f.Signal}
		if f.Code != nil {
			got.Code = *f.Code
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
		if r.Confined != "none" || len(r.Artifacts) > 0 {
			t.Errorf("%s: confined by %q, kept %v", command, r.Confined, r.Artifacts)
		}
	}
}

func TestR018_TimeoutEndsTheTreeAndKeepsTheOutput(t *testing.T) {
	dir := t.TempDir()
	b := bashIn(t, dir, BashOptions{})
	began := time.Now()
	r, f := bashWith(t, b, tool.Env{}, bashArgs{
		Command: "echo begun; setsid sh -c 'echo $$ >pid; sleep 300' & sh -c 'sh -c \"while :; do sleep 1; done\"' | cat", Timeout: 2,
	})
	if took := time.Since(began); took > 5*(2*time.Second+process.DefaultGrace) {
		t.Errorf("took %s", took)
	}
	if !strings.HasPrefix(r.Text, "begun\ntimed out after 2s: ") || kindOf(r) != tool.TimedOut || !f.TimedOut || r.Status != tool.Error {
		t.Errorf("%s %q", r.Status, r.Text)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := bashWith(t, b, tool.Env{}, bashArgs{Command: "kill -0 " + strings.TrimSpace(string(pid)) + " 2>/dev/null && cat /proc/" + strings.TrimSpace(string(pid)) + "/status"}); strings.Contains(out.Text, "sleeping") {
		t.Errorf("what had left the session lives on: %s", out.Text)
	}
}

func TestR018_SilenceAndCancel(t *testing.T) {
	b := bashIn(t, t.TempDir(), BashOptions{Silence: time.Second})
	r, f := bashWith(t, b, tool.Env{}, bashArgs{Command: "echo a; sleep 300"})
	if kindOf(r) != tool.Idle || !f.Idle || r.Text != "a\nsilent for 1s: ended by SIGTERM" {
		t.Errorf("%s: %q", kindOf(r), r.Text)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a, err := b.Prepare(ctx, bashCall(t, bashArgs{Command: "echo a; sleep 300"}))
	if err != nil {
		t.Fatal(err)
	}
	r, err = a.Do(ctx, tool.Env{Live: stop(cancel)})
	if err != nil || r.Status != tool.Interrupted || kindOf(r) != tool.Cancelled || r.Text != "a\ncancelled: ended by SIGTERM" {
		t.Errorf("%v, %s %s: %q", err, r.Status, kindOf(r), r.Text)
	}
}

// stop is a watcher who has seen enough.
type stop func()

func (s stop) Write(b []byte) (int, error) { s(); return 0, io.ErrClosedPipe }

func TestBashSaysWhatItLeavesRunning(t *testing.T) {
	r, f := bash(t, new(shelf), "sleep 300 & echo hi")
	if !strings.HasPrefix(r.Text, "hi\n[something it started still runs") || !f.Held || r.Status != tool.Success {
		t.Errorf("%s, held %t: %q", r.Status, f.Held, r.Text)
	}
}

func TestR045_TruncationIsAFactNotASentence(t *testing.T) {
	var s shelf
	r, f := bash(t, &s, "seq -f 'line %.0f' 20000; exit 1")
	whole := new(bytes.Buffer)
	for i := range 20000 {
		fmt.Fprintf(whole, "line %d\n", i+1)
	}
	if len(s.kept) != 1 || s.kept[0].String() != whole.String() {
		t.Fatalf("kept %d artifacts", len(s.kept))
	}
	n := int64(whole.Len())
	want := []tool.Artifact{{Handle: s.kept[0].handle, Type: "text/plain", Bytes: n, Lines: 20000}}
	if diff := cmp.Diff(want, r.Artifacts); diff != "" {
		t.Error(diff)
	}
	if !f.Truncated || f.Bytes != n || f.Dropped != 0 || len(f.Sum) != 64 || r.Status != tool.Error {
		t.Errorf("%s, %s", r.Status, r.Data)
	}
	lines := strings.Split(r.Text, "\n")
	if len(lines) != 40+1+40+1 || lines[0] != "line 1" || lines[39] != "line 40" ||
		lines[41] != "line 19961" || lines[80] != "line 20000" || lines[81] != "exit status 1" {
		t.Errorf("%d lines: %q", len(lines), r.Text)
	}
	if want := fmt.Sprintf("[... 19920 lines (%d bytes) of 20000 lines (%d bytes) left out; the whole is in %s ...]",
		n-int64(len(strings.Join(lines[:40], "\n"))+len(strings.Join(lines[41:81], "\n"))+2), n, want[0].Handle); lines[40] != want {
		t.Errorf("got %q\nwant %q", lines[40], want)
	}

	if r, _ := bash(t, &s, "seq 20000"); r.Status != tool.Partial {
		t.Errorf("of a success: %s", r.Status)
	}
}

func TestR018_OutputIsBounded(t *testing.T) {
	var s shelf
	o := newOutput(tool.Env{Spill: s.spill}, "", tool.Limits{})
	o.most = 100_000
	var tail []byte
	for i := range 100_000 {
		line := fmt.Appendf(nil, "%06d\n", i)
		tail = append(tail, line...)
		if _, err := o.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	text, arts, f := o.finish(tail[len(tail)-endsMax:])
	all := string(tail)
	want := all[:100_000] + "\n[... 534464 bytes were not kept ...]\n" + all[len(all)-endsMax:]
	if got := s.kept[0].String(); got != want {
		t.Errorf("kept %d bytes, want %d", len(got), len(want))
	}
	if f.Bytes != 700_000 || f.Dropped != 700_000-100_000-endsMax || arts[0].Bytes != int64(len(want)) {
		t.Errorf("%+v, %+v", f, arts)
	}
	if !strings.Contains(text, "; all but 534464 bytes of it are in artifact:") || !strings.HasSuffix(text, "099999\n") {
		t.Errorf("%q", text)
	}
	if len(o.raw) > tool.DefaultInline || cap(o.text.tail) > 8*tool.DefaultInline {
		t.Errorf("holds %d and %d bytes", len(o.raw), cap(o.text.tail))
	}
}

func TestOutputThatCannotBeKeptIsSaidToBeLost(t *testing.T) {
	for name, env := range map[string]tool.Env{
		"full":    {Spill: (&shelf{full: true}).spill},
		"nowhere": {},
		"closed":  {Spill: func(string) (tool.Spill, error) { return nil, os.ErrClosed }},
	} {
		r, f := bashWith(t, bashIn(t, t.TempDir(), BashOptions{}), env, bashArgs{Command: "yes | head -c 100000"})
		if !strings.Contains(r.Text, "; the rest is lost: ") || r.Status != tool.Partial || f.Dropped <= 0 || len(r.Artifacts) > 0 {
			t.Errorf("%s: %s, %s", name, r.Status, r.Data)
		}
	}
}

func TestR134_BinaryOutputIsRecognised(t *testing.T) {
	var s shelf
	r, f := bash(t, &s, `printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0'`)
	want := "[binary output, 20 bytes beginning 7f 45 4c 46 02 01 01 00 00 00 00 00 00 00 00 00; the whole is in artifact:20 ...]\nexit status 0"
	want = strings.Replace(want, " ...]", "]", 1)
	if r.Text != want || !f.Binary || !f.Truncated || len(r.Artifacts) != 1 || s.kept[0].Len() != 20 {
		t.Errorf("%q, %s, %v", r.Text, r.Data, r.Artifacts)
	}
	r, f = bash(t, &s, `printf 'some/long/name.go\0another/long/name.go\0'`)
	if r.Text != "some/long/name.go\u2400another/long/name.go\u2400\nexit status 0" || f.Binary {
		t.Errorf("names ended by NUL: %q", r.Text)
	}
}

func TestBug_S04_ACharacterCutByAReadStaysWhole(t *testing.T) {
	var s shelf
	for command, want := range map[string]string{
		`printf '\344'; sleep 0.05; printf '\270\255\n'`: "\u4e2d\n",
		`printf 'a\377b\n'`:    "a\ufffdb\n",
		`printf 'a\344\270'`:   "a\ufffd\n",
		`printf '\344\270a\n'`: "\ufffda\n",
	} {
		var live bytes.Buffer
		r, _ := bashWith(t, bashIn(t, t.TempDir(), BashOptions{}), tool.Env{Live: &live, Spill: s.spill}, bashArgs{Command: command})
		if r.Text != want+"exit status 0" {
			t.Errorf("%s: %q", command, r.Text)
		}
		if live.Len() == 0 || utf8.ValidString(want) == false {
			t.Errorf("%s: nothing live", command)
		}
	}
	// 150 kB of a character of three bytes, on one line and longer than fits.
	var live bytes.Buffer
	r, _ := bashWith(t, bashIn(t, t.TempDir(), BashOptions{}), tool.Env{Live: &live, Spill: s.spill},
		bashArgs{Command: `yes "$(printf '\344\270\255')" | tr -d '\n' | head -c 150000`})
	if strings.Contains(r.Text, "\ufffd") || !utf8.ValidString(r.Text) {
		t.Error("a character was cut")
	}
	if kept := s.kept[len(s.kept)-1]; live.String() != kept.String() || kept.Len() != 150_000 {
		t.Errorf("shown %d bytes, kept %d", live.Len(), kept.Len())
	}
}

func TestR134_WhatATerminalWouldBeLeftShowing(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                    "",
		"a\nb":                                "a\nb\n",
		"\n\n":                                "\n\n",
		"a\r\nb\r\r\n":                        "a\nb\n",
		"10%\r20%\r100%\ndone":                "100%\ndone\n",
		"10%\r20%\r":                          "20%\n",
		"\x1b[31mred\x1b[0m \x1b[1;4mb\x1b[m": "red b\n",
		"\x1b]0;title\x07x\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\": "xlink\n",
		"\x1b[2K\r50%\x1b[2K\r60%":                                  "60%\n",
		"N\bNA\bA\tx\by\b\b\b\b\b":                                  "\n",
		"_\bu\u4e2d\b.":                                             "u.\n",
		"a\x07\x0b\x0c\x7fb\u0085":                                  "ab\n",
		"caf\u00e9 \u4e2d\U0001f600":                                "caf\u00e9 \u4e2d\U0001f600\n",
		"\xff\xfe\xe4\xb8x":                                         "\ufffdx\n",
		strings.Repeat("x", 3*lineMax) + "\ry":                      strings.Repeat("x", 2*lineMax) + "y\n",
		strings.Repeat("1%\r", lineMax) + "2%":                      "2%\n",
		strings.Repeat("\u4e2d", lineMax) + "\n":                    strings.Repeat("\u4e2d", lineMax) + "\n",
	} {
		if got := transcribe(raw, len(raw)+1); got != want {
			t.Errorf("%.40q: got %.60q (%d), want %.60q (%d)", raw, got, len(got), want, len(want))
		}
	}
}

// transcribe returns the text of raw, written in pieces.
func transcribe(raw string, piece int) string {
	tr := transcript{room: 1 << 20, most: 1 << 20}
	for piece < len(raw) {
		tr.write([]byte(raw[:piece]))
		raw = raw[piece:]
	}
	tr.write([]byte(raw))
	tr.close()
	return tr.excerpt("")
}

func FuzzTranscript(f *testing.F) {
	f.Add("\x1b[31ma\xe4\xb8\xad\r\nb\b\x00", 1, 2000)
	f.Add(strings.Repeat("line\n", 100), 7, 100)
	f.Add(strings.Repeat("\u4e2d", 100), 2, 64)
	f.Fuzz(func(t *testing.T, raw string, piece, room int) {
		piece, room = max(1, piece), min(max(8, room), 1<<20)
		whole := transcribe(raw, len(raw)+1)
		if got := transcribe(raw, piece); got != whole {
			t.Fatalf("in pieces of %d: %q\nat once: %q", piece, got, whole)
		}
		if !utf8.ValidString(whole) || strings.ContainsAny(whole, "\x1b\r\x00\b\x7f\u009b") {
			t.Fatalf("not clean: %q", whole)
		}
		if whole != "" && !strings.HasSuffix(whole, "\n") {
			t.Fatalf("does not end a line: %q", whole)
		}
		tr := transcript{room: room, most: 100}
		tr.write([]byte(raw))
		tr.close()
		short := tr.excerpt("")
		if !tr.long() {
			if short != whole {
				t.Fatalf("%q is not %q", short, whole)
			}
			return
		}
		i := strings.Index(short, "[... ")
		j := strings.Index(short[max(i, 0):], " ...]\n") + max(i, 0)
		if i < 0 || !utf8.ValidString(short) || len(short) > room+200 {
			t.Fatalf("room %d: %q", room, short)
		}
		if head := strings.TrimSuffix(short[:i], "\n"); !strings.HasPrefix(whole, head) {
			t.Fatalf("%q does not begin %q", head, whole)
		}
		if tail := short[j+len(" ...]\n"):]; !strings.Contains(whole, "[... ") && !strings.HasSuffix(whole, tail) {
			t.Fatalf("%q does not end %q", tail, whole)
		}
	})
}

func TestBashDescriptionIsShort(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	s := bashIn(t, t.TempDir(), BashOptions{}).Spec()
	for text, most := range map[string]int{s.Description: 120, string(s.Input): 150} {
		if n, err := codec.Count(text); err != nil || n > most {
			t.Errorf("%d tokens, more than %d, %v: %s", n, most, err, text)
		}
	}
}

// TestEnding: the last line says how it ended and, from a second on, how long
// that took.
func TestEnding(t *testing.T) {
	c := process.Command{Timeout: 2 * time.Second, Silence: 3 * time.Second}
	for _, tc := range []struct {
		exit process.Exit
		want string
	}{
		{process.Exit{Took: 999 * time.Millisecond}, "exit status 0"},
		{process.Exit{Code: 3, Took: 1250 * time.Millisecond}, "exit status 3 after 1.3s"},
		{process.Exit{Code: -1, Signal: "SIGKILL", Took: time.Minute}, "ended by SIGKILL after 1m0s"},
		{process.Exit{Code: -1, Signal: "SIGTERM", TimedOut: true, Took: 4 * time.Second}, "timed out after 2s: ended by SIGTERM"},
		{process.Exit{Code: -1, Signal: "SIGTERM", Idle: true, Took: 4 * time.Second}, "silent for 3s: ended by SIGTERM"},
		{process.Exit{Code: 1, Cancelled: true}, "cancelled: exit status 1"},
	} {
		if got := ending(tc.exit, c); got != tc.want {
			t.Errorf("ending(%+v) = %q, want %q", tc.exit, got, tc.want)
		}
	}
}

//go:build linux

package toolbox

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/contract/tool/tooltest"
	"github.com/belay-agent/belay/internal/world/process"
)

// A bench is Bash and Process on one host.
type bench struct {
	t             testing.TB
	host          *process.Host
	bash, process tool.Tool
	calls         int
}

func newBench(t testing.TB, dir string) *bench {
	t.Helper()
	h, err := process.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	b := &bench{t: t, host: h}
	b.bash, b.process = bashOn(t, h, dir, BashOptions{}), Process(h)
	return b
}

func (b *bench) do(t tool.Tool, args any) (tool.Result, *tool.Failure) {
	b.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	b.calls++
	a, err := t.Prepare(b.t.Context(), tool.Input{Call: "c" + string(rune('0'+b.calls)), Args: raw})
	var r tool.Result
	if err == nil {
		r, err = a.Do(b.t.Context(), tool.Env{Allowed: a.Effects()})
	}
	if f, ok := err.(*tool.Failure); ok {
		return r, f
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return r, nil
}

// ask is a call of Process that must be possible.
func (b *bench) ask(args processArgs) (string, processFact) {
	b.t.Helper()
	r, f := b.do(b.process, args)
	if f != nil {
		b.t.Fatalf("%+v: %v", args, f)
	}
	var fact processFact
	if err := json.Unmarshal(r.Data, &fact); err != nil {
		b.t.Fatal(err)
	}
	return r.Text, fact
}

func (b *bench) fails(kind tool.Kind, args processArgs) {
	b.t.Helper()
	if r, f := b.do(b.process, args); f == nil || f.Kind != kind {
		b.t.Errorf("%+v: %v, %+v; want %s", args, f, r, kind)
	}
}

func TestR131_ACommandInTheBackground(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir())
	if text, _ := b.ask(processArgs{Do: "list"}); text != "nothing was left in the background\n" {
		t.Error(text)
	}
	r, f := b.do(b.bash, bashArgs{Command: `echo begun; while read -r x; do echo "got $x"; done; echo over; exit 6`, Background: true})
	if f != nil || r.Text != "begun\n[it goes on in the background as c2: see Process]" || r.Status != tool.Success {
		t.Fatalf("%+v, %v", r, f)
	}
	if text, _ := b.ask(processArgs{Do: "list"}); !strings.HasPrefix(text, "c2 runs for ") || !strings.HasSuffix(text, " s, 6 bytes printed: echo begun; while read -r x; do echo \"got $x\"; done; echo over; exit 6\n") {
		t.Error(text)
	}
	if text, fact := b.ask(processArgs{Do: "read", Name: "c2"}); !strings.HasPrefix(text, "begun\n[c2 runs for ") || !fact.Running {
		t.Error(text)
	}
	b.ask(processArgs{Do: "write", Name: "c2", Text: "a word\nand more"})
	text, _ := b.ask(processArgs{Do: "wait", Name: "c2", Timeout: 1})
	if !strings.Contains(text, "got a word\n") && !strings.Contains(text, "(nothing new)") { // it came with the write
		t.Error(text)
	}
	b.ask(processArgs{Do: "write", Name: "c2", End: true})
	if _, fact := b.ask(processArgs{Do: "wait", Name: "c2"}); fact.Running || fact.Code == nil || *fact.Code != 6 {
		t.Errorf("%+v", fact)
	}
	zero := int64(0)
	if text, _ := b.ask(processArgs{Do: "read", Name: "c2", From: &zero}); text != "begun\ngot a word\nover\n[c2 has ended with exit status 6; 22 bytes printed]" {
		t.Error(text)
	}
	if text, _ := b.ask(processArgs{Do: "read", Name: "c2"}); text != "(nothing new)\n[c2 has ended with exit status 6; 22 bytes printed]" {
		t.Error(text)
	}
	b.fails(tool.Unavailable, processArgs{Do: "write", Name: "c2", Text: "late"})
}

func TestR131_StoppedAndTimed(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir())
	if r, f := b.do(b.bash, bashArgs{Command: "sleep 300", Timeout: 1, Background: true}); f != nil || !strings.Contains(r.Text, "in the background as c1") {
		t.Fatalf("%+v, %v", r, f)
	}
	if text, fact := b.ask(processArgs{Do: "stop", Name: "c1"}); text != "(nothing new)\n[c1 was stopped; 0 bytes printed]" || !fact.Stopped {
		t.Error(text, fact)
	}
	// What ends at once is no process.
	r, f := b.do(b.bash, bashArgs{Command: "echo no; exit 3", Background: true})
	if f != nil || r.Failure == nil || r.Failure.Kind != tool.NonzeroExit || !strings.HasSuffix(r.Text, "exit status 3") {
		t.Errorf("%+v, %v", r, f)
	}
	if n := len(b.host.Processes()); n != 1 {
		t.Errorf("%d processes are listed", n)
	}
}

func TestR131_WhatEndedIsToldOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir())
	for _, script := range []string{"read -r x; exit 5", "read -r x; kill -9 $$", "read -r x"} {
		b.do(b.bash, bashArgs{Command: script, Background: true})
	}
	if news, ended := News(b.host); news != "" || ended != nil {
		t.Errorf("all of them run: %s", news)
	}
	for _, p := range b.host.Processes() {
		if _, err := p.Write([]byte("go\n")); err != nil {
			t.Fatal(err)
		}
		p.Wait(t.Context())
	}
	b.ask(processArgs{Do: "read", Name: "c3"}) // so that it is known
	const want = "in the background, c1 has ended with exit status 5: read -r x; exit 5; c2 was ended by SIGKILL: read -r x; kill -9 $$"
	if news, ended := News(b.host); news != want || strings.Join(ended, " ") != "c1 c2" {
		t.Errorf("got %q, want %q", news, want)
	}
	if news, ended := News(b.host); news != "" || ended != nil {
		t.Errorf("told twice: %s", news)
	}
}

func TestR130_ATerminalForTheBackground(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir())
	r, f := b.do(b.bash, bashArgs{Command: "stty size; read -r x; echo \"got $x\"; sleep 300", Background: true, Terminal: true})
	if f != nil || !strings.HasPrefix(r.Text, "40 120\n") {
		t.Fatalf("%+v, %v", r, f)
	}
	b.ask(processArgs{Do: "write", Name: "c1", Text: "yes\n"})
	all := ""
	for zero := int64(0); !strings.Contains(all, "got yes"); {
		all, _ = b.ask(processArgs{Do: "wait", Name: "c1", Timeout: 1, From: &zero})
	}
	b.ask(processArgs{Do: "stop", Name: "c1"})
}

// What wants an editor or a pager gets none, and nothing waits for a person.
func TestR137_NothingWaitsForAPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir())
	r, f := b.do(b.bash, bashArgs{Command: "git init -q . && git -c user.name=n -c user.email=e commit --allow-empty"})
	if f != nil || r.Failure == nil || r.Failure.Kind != tool.NonzeroExit || !strings.Contains(r.Text, "problem with the editor") {
		t.Errorf("%+v, %v", r, f)
	}
	r, f = b.do(b.bash, bashArgs{Command: "echo $PAGER $GIT_PAGER $EDITOR $GIT_TERMINAL_PROMPT ${TERM-none}"})
	if f != nil || !strings.HasPrefix(r.Text, "cat cat false 0 ") {
		t.Errorf("%+v, %v", r, f)
	}
	r, f = b.do(b.bash, bashArgs{Command: "echo ${PAGER-none} ${EDITOR-none} $TERM; sleep 300", Background: true, Terminal: true})
	if f != nil || !strings.HasPrefix(r.Text, "none none xterm-256color\n") {
		t.Errorf("%+v, %v", r, f)
	}
}

func TestR142_LongOutputOfTheBackground(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir())
	b.do(b.bash, bashArgs{Command: "read -r x; seq 200000; exit", Background: true})
	b.ask(processArgs{Do: "write", Name: "c1", Text: "go\n"})
	zero := int64(0)
	b.ask(processArgs{Do: "wait", Name: "c1"})
	text, _ := b.ask(processArgs{Do: "read", Name: "c1", From: &zero})
	if !strings.HasPrefix(text, "1\n2\n") || !strings.Contains(text, "left out; from shows it again") ||
		!strings.HasSuffix(text, "\n199999\n200000\n[c1 has ended with exit status 0; 1288895 bytes printed]") || len(text) > tool.DefaultInline {
		t.Errorf("%d bytes: %.100q ... %q", len(text), text, text[max(0, len(text)-100):])
	}
}

func TestR131_WhatAProcessCallMayDo(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir())
	for kind, all := range map[tool.Kind][]processArgs{
		tool.NotFound: {{Do: "read", Name: "c9"}, {Do: "stop", Name: "c9"}},
		tool.Invalid: {
			{Do: "read"}, {Do: "write", Name: "c1"}, {Do: "read", Name: "c1", Text: "x"}, {Do: "stop", Name: "c1", End: true}, {Do: "kill", Name: "c1"},
		},
		tool.TooLarge: {{Do: "write", Name: "c1", Text: strings.Repeat("x", writeMax+1)}},
	} {
		for _, args := range all {
			b.fails(kind, args)
		}
	}
	b.do(b.bash, bashArgs{Command: "cat", Background: true})
	name := b.host.Processes()[0].Name()
	for do, want := range map[string]bool{"read": true, "wait": true, "stop": true, "write": false} {
		args := processArgs{Do: do, Name: name}
		if do == "write" {
			args.Text = "x"
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		a, err := b.process.Prepare(t.Context(), tool.Input{Call: "c1", Args: raw})
		if err != nil {
			t.Fatal(err)
		}
		if a.Effects().OnlyReads() != want {
			t.Errorf("%s has the effects %v", do, a.Effects())
		}
		if do == "write" && !a.Effects().Covers(effect.Set{{Kind: effect.Process}}) && !a.Effects().Covers(effect.Set{{Kind: effect.Anything}}) {
			t.Errorf("write has the effects %v", a.Effects())
		}
	}
}

func TestR047_R053_ProcessKeepsItsContract(t *testing.T) {
	t.Parallel()
	run := func(script, args string) func(t testing.TB, dir string) (tool.Tool, tool.Input) {
		return func(t testing.TB, dir string) (tool.Tool, tool.Input) {
			b := newBench(t, dir)
			if r, f := b.do(b.bash, bashArgs{Command: script, Background: true}); f != nil {
				t.Fatalf("%+v, %v", r, f)
			}
			return b.process, tool.Input{Call: "c2", Args: json.RawMessage(args)}
		}
	}
	for name, c := range map[string]tooltest.Case{
		"list":  {Open: run("sleep 300", `{"do":"list"}`)},
		"read":  {Open: run("echo some; sleep 300", `{"do":"read","name":"c1"}`)},
		"write": {Open: run("cat", `{"do":"write","name":"c1","text":"some\n"}`)},
		"wait":  {Open: run("read -r; sleep 300", `{"do":"wait","name":"c1","timeout_s":1}`)},
		"stop":  {Open: run("sleep 300", `{"do":"stop","name":"c1"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tooltest.Test(t, c)
		})
	}
}

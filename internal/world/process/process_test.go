//go:build linux

package process_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/world/process"
)

var path = "PATH=" + os.Getenv("PATH")

func open(t *testing.T) *process.Host {
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
	return h
}

// script returns the command that has a shell run text.
func script(t *testing.T, text string) process.Command {
	t.Helper()
	shell, err := process.Shell([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	return process.Command{Argv: append(shell, text), Dir: t.TempDir(), Env: []string{path}, Keep: 1 << 12}
}

func run(t *testing.T, h *process.Host, c process.Command) process.Exit {
	t.Helper()
	e, err := h.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var untimed = cmpopts.IgnoreFields(process.Exit{}, "Took")

func TestR133_ExitAndSignalAreFields(t *testing.T) {
	t.Parallel()
	h := open(t)
	for text, want := range map[string]process.Exit{
		"true":                    {},
		"echo out; echo err >&2":  {Head: []byte("out\nerr\n")},
		"exit 7":                  {Code: 7},
		"echo part; kill -9 $$":   {Code: -1, Signal: "SIGKILL", Head: []byte("part\n")},
		"kill -TERM $$":           {Code: -1, Signal: "SIGTERM"},
		"no-such-cmd 2>/dev/null": {Code: 127},
		"printf '\\344\\270'":     {Head: []byte{0xe4, 0xb8}},
	} {
		want.Profile = "none"
		e := run(t, h, script(t, text))
		if diff := cmp.Diff(want, e, untimed, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", text, diff)
		}
		if e.Took <= 0 || e.Took > time.Minute {
			t.Errorf("%s: took %s", text, e.Took)
		}
	}
}

func TestR127_DirectoryAndEnvironmentAreExactlyThose(t *testing.T) {
	t.Setenv("LEAK", "secret")
	h := open(t)
	env, err := filepath.EvalSymlinks("/usr/bin/env")
	if err != nil {
		t.Skip(err)
	}
	c := process.Command{Argv: []string{env}, Dir: t.TempDir(), Env: []string{"A=1", "B=x y\nz"}, Keep: 4096}
	got := string(run(t, h, c).Head)
	own, ok := strings.CutPrefix(got, "A=1\nB=x y\nz\nBELAY_RUN=")
	if !ok || strings.Count(own, "\n") != 1 {
		t.Errorf("environment is %q", got)
	}

	c.Env = nil
	if got := string(run(t, h, c).Head); !strings.HasPrefix(got, "BELAY_RUN=") || strings.Count(got, "\n") != 1 {
		t.Errorf("without Env it is %q", got)
	}

	c = script(t, "pwd -P")
	want, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(run(t, h, c).Head)); got != want {
		t.Errorf("ran in %q, want %q", got, want)
	}
}

func TestR137_OwnSessionWithoutTerminalOrInput(t *testing.T) {
	inherited, err := syscall.Dup(1) // as if we had been started with it
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	h := open(t)
	e := run(t, h, script(t, `set -- $(cat /proc/$$/stat); [ $5 = $$ ] && [ $6 = $$ ] && echo leader
		(: </dev/tty) 2>/dev/null || echo no tty
		cat; readlink /proc/self/fd/0; ls /proc/self/fd | tr '\n' ' '`))
	if got, want := string(e.Head), "leader\nno tty\n/dev/null\n0 1 2 3 "; got != want {
		t.Errorf("got %q, want %q", got, want) // 3 is the directory that ls reads
	}
}

func TestBug_S01_HeldPipeDoesNotHoldTheResult(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"sleep 300 & echo hi",
		"setsid sleep 300 >&2 & echo hi",
		"(yes >/dev/stderr &) ; echo hi",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			w := newWitness(t)
			c := script(t, w.hold(text))
			var all seen
			c.Output, c.Timeout = &all, time.Minute
			began := time.Now()
			e := run(t, h, c)
			if took := time.Since(began); took > 5*2*time.Second {
				t.Errorf("took %s", took)
			}
			if !all.has("hi\n") || e.Code != 0 || !e.Held || e.TimedOut {
				t.Error(brief(e))
			}
			if e := run(t, h, script(t, "echo next")); string(e.Head) != "next\n" || e.Held {
				t.Error("the next one:", brief(e))
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			w.gone(t)
		})
	}
}

func TestR141_HugeOutputInLittleMemory(t *testing.T) {
	h := open(t)
	c := script(t, "yes 0123456 | head -c 52428800")
	c.Keep = 10_000
	var all counter
	c.Output = &all
	before := allocated()
	e := run(t, h, c)
	if grown := allocated() - before; grown > 4<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
	line := []byte("0123456\n")
	want := process.Exit{
		Head:    bytes.Repeat(line, 1250),
		Tail:    bytes.Repeat(line, 1250),
		Dropped: 52_428_800 - 20_000,
		Profile: "none",
	}
	if diff := cmp.Diff(want, e, untimed); diff != "" {
		t.Error(diff)
	}
	if all.n != 52_428_800 {
		t.Errorf("output got %d bytes", all.n)
	}
}

func TestBug_S05_RunawayOutputMeetsItsTimeout(t *testing.T) {
	h := open(t)
	for _, text := range []string{"yes", "cat /dev/zero", "exec perl -e '$|=1; print 1 while 1'"} {
		c := script(t, text)
		c.Timeout = time.Second
		before, began := allocated(), time.Now()
		e := run(t, h, c)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: took %s", text, took)
		}
		if grown := allocated() - before; grown > 8<<20 {
			t.Errorf("%s: allocated %d bytes", text, grown)
		}
		if !e.TimedOut || len(e.Head) != c.Keep || len(e.Tail) != c.Keep || e.Dropped <= 0 {
			t.Errorf("%s: timed out %t, kept %d and %d, dropped %d", text, e.TimedOut, len(e.Head), len(e.Tail), e.Dropped)
		}
	}
}

func TestBug_S04_BytesPassUntouched(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := script(t, `printf '\344'; sleep 0.05; printf '\270\255\377\0\033[1m'; printf '\344'`)
	var all bytes.Buffer
	c.Output = &all
	want := "\xe4\xb8\xad\xff\x00\x1b[1m\xe4"
	if e := run(t, h, c); string(e.Head) != want || all.String() != want {
		t.Errorf("kept %q, passed on %q", e.Head, all.String())
	}
}

type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) { b.writes++; return 0, errors.New("disk full") }

func TestOutputThatFailsBlocksNobody(t *testing.T) {
	t.Parallel()
	h := open(t)
	var b broken
	c := script(t, "yes | head -c 1000000; exit 3")
	c.Output = &b
	e := run(t, h, c)
	if total := e.Dropped + int64(len(e.Head)+len(e.Tail)); e.Code != 3 || total != 1_000_000 || b.writes != 1 {
		t.Errorf("exit %d, %d bytes, %d writes", e.Code, total, b.writes)
	}
}

func TestRunsDoNotHoldEachOther(t *testing.T) {
	t.Parallel()
	h := open(t)
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			c := script(t, fmt.Sprintf("echo %d; sleep 0.0%d; echo %d", i, i%10, i))
			e, err := h.Run(t.Context(), c)
			if want := fmt.Sprintf("%d\n%d\n", i, i); err != nil || string(e.Head) != want || e.Held {
				t.Error(brief(e), err)
			}
		})
	}
	all.Wait()
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	h := open(t)
	dir := t.TempDir()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx  context.Context
		c    process.Command
		want error // nil is any
	}{
		"no program":        {t.Context(), process.Command{Dir: dir}, nil},
		"no directory":      {t.Context(), process.Command{Argv: []string{"/bin/true"}}, nil},
		"relative":          {t.Context(), process.Command{Argv: []string{"/bin/true"}, Dir: "."}, nil},
		"missing directory": {t.Context(), process.Command{Argv: []string{"/bin/true"}, Dir: dir + "/none"}, fs.ErrNotExist},
		"missing program":   {t.Context(), process.Command{Argv: []string{dir + "/none"}, Dir: dir}, fs.ErrNotExist},
		"not on the path":   {t.Context(), process.Command{Argv: []string{"true"}, Dir: dir}, fs.ErrNotExist},
		"not executable":    {t.Context(), process.Command{Argv: []string{"/etc/passwd"}, Dir: dir}, fs.ErrPermission},
		"call leads out":    {t.Context(), process.Command{Call: "../c1", Argv: []string{"/bin/true"}, Dir: dir}, nil},
		"call is a file":    {t.Context(), process.Command{Call: "life.json", Argv: []string{"/bin/true"}, Dir: dir}, nil},
		"cancelled before":  {cancelled, process.Command{Argv: []string{"/bin/true"}, Dir: dir}, context.Canceled},
	} {
		e, err := h.Run(tt.ctx, tt.c)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %v", name, err, tt.want)
		}
		if diff := cmp.Diff(process.Exit{}, e); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestShellComesFromThePathGiven(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{"none", "sh", "both"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, mode := range map[string]fs.FileMode{"sh/sh": 0o755, "sh/bash": 0o644, "both/sh": 0o755, "both/bash": 0o755} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte("#!"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for env, want := range map[string][]string{
		"":                      nil,
		"PATH=":                 nil,
		"PATH=sh:.:":            nil,
		"PATH=/none":            nil,
		"PATH=/none:/sh":        {"/sh/sh", "-c"},
		"PATH=/sh:/both":        {"/both/bash", "--noprofile", "--norc", "-c"},
		"PATH=/both PATH=/none": nil,
	} {
		got, err := process.Shell(strings.Fields(strings.ReplaceAll(env, "/", dir+"/")))
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], dir)
		}
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: got %q, %v", env, got, err)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", env, err)
		}
	}
}

func TestNothingIsConfinedWithoutASandbox(t *testing.T) {
	t.Parallel()
	for _, s := range []effect.Set{nil, {{Kind: effect.Read, On: "a"}}, {{Kind: effect.Anything}}} {
		if open(t).Confines(s) {
			t.Errorf("claims to confine %v", s)
		}
	}
}

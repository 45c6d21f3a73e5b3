//go:build linux

package process_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/world/process"
)

// staged returns script(text), which reports its stages.
func staged(t *testing.T, text string) process.Command {
	t.Helper()
	c := script(t, text)
	if filepath.Base(c.Argv[0]) != "bash" {
		t.Skip("there is no bash")
	}
	c.Stages, c.Apart = true, true
	return c
}

func TestR145_StagesOfTheLastPipeline(t *testing.T) {
	t.Parallel()
	h := open(t)
	for text, want := range map[string][]int{
		"true":                              {0},
		"false":                             {1},
		"false | tail -1":                   {1, 0},
		"no-such-cmd | sort | cat":          {127, 0, 0},
		"grep nothere /dev/null | sort":     {1, 0},
		"seq 999999 | head -2":              {141, 0},
		"(exit 5) | (exit 6) | (exit 7)":    {5, 6, 7},
		"false | true; exit 4":              {1, 0},
		"set -eo pipefail; false | true; :": {1, 0},
		"set -e; false | true; (exit 5); :": {5},
		"! false | true":                    {1, 0},
		"(kill -9 $BASHPID) | cat":          {137, 0},
		"false | true # no newline":         {1, 0},
		"exec true":                         nil,
		"kill -9 $$":                        nil,
		"trap 'echo bye' EXIT; false":       nil,
		"false | true; cd /; exec 3>&1":     {0},
	} {
		if e := run(t, h, staged(t, text)); !slices.Equal(e.Stages, want) {
			t.Errorf("%s: %v, want %v", text, e.Stages, want)
		}
	}
}

// TestR145_AReportChangesNothing runs what a trailer could break with and without
// the report.
func TestR145_AReportChangesNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, text := range []string{
		"echo out; echo err >&2; exit 3",
		"set -e; false; echo no",
		"set -x; (exit 5); set +x; echo $-", "set -x; false",
		"set -eux; echo $nope",
		"trap 'echo bye $?' EXIT; (exit 7)",
		"trap 'echo bye $?' EXIT; exec false",
		"trap 'echo term; exit 9' TERM; kill $$; sleep 1",
		"exec echo hi",
		"exec no-such-cmd",
		"if", "echo $(", "echo 'abc", `echo "abc`, `echo a \`, "cat <<E\nhi", "cat <<'E'\nhi\nE", "cat <<E\n$(false)\nE",
		"echo a # comment", "# only", "echo a;", "echo a &", "{ echo a; }", "(exit 6)",
		"kill -TERM $$", "kill -9 $$", "kill -INT $$; echo on", "ulimit -t 1; :",
		"echo $0 $# $@ $BASH_EXECUTION_STRING $BASH_ENV ${BASH_ENV-unset}",
		"f() { return 4; }; f", "return 5", "break", "shopt -s extglob; echo !(x)",
		"exec 3>/dev/null; echo on >&3; exec 10>&1; echo own >&10; exec {f}>&1; echo dyn >&$f",
		"exec 2>/dev/null; false | true", "exec >&- 2>&-; false",
		"builtin() { echo no; }; echo() { printf no; }; false", "readonly PIPESTATUS; false", "IFS=,; false | true",
		"ls /proc/self/fd", "bash -c 'ls /proc/self/fd; echo $BASH_ENV; exit 3'", "(ls /proc/self/fd)", "cat /proc/self/environ | tr '\\0' '\\n' | grep -v BELAY | sort",
		"set -C; false", "enable -n trap; false", "set -o posix; false | true", "alias x=y; x",
	} {
		with := staged(t, text)
		without := with
		without.Stages = false
		a, b := run(t, h, with), run(t, h, without)
		a.Stages = nil
		if diff := cmp.Diff(b, a, untimed); diff != "" {
			t.Errorf("%q: (-without +with)\n%s", text, diff)
		}
	}
}

func TestR145_NoReportFromAnyOtherShell(t *testing.T) {
	t.Parallel()
	h := open(t)
	sh, err := process.Look("sh", []string{path})
	if err != nil {
		t.Skip(err)
	}
	c := staged(t, "")
	for name, argv := range map[string][]string{
		"sh":               {sh, "-c", "false | true; echo ${BASH_ENV-unset}"},
		"no script at all": {"env", "-u", "BELAY_RUN", "sh", "-c", "echo ${BASH_ENV-unset}"},
	} {
		c.Argv = argv
		if e := run(t, h, c); e.Stages != nil || string(e.Head) != "unset\n" {
			t.Errorf("%s: %v %q", name, e.Stages, e.Head)
		}
	}
	c = staged(t, "false | true; echo ${BASH_ENV-unset}")
	c.Env = append(c.Env, "POSIXLY_CORRECT=1") // such a bash reads no BASH_ENV
	if e := run(t, h, c); e.Stages != nil || string(e.Head) != "unset\n" {
		t.Errorf("posix: %v %q", e.Stages, e.Head)
	}
}

// TestR145_NobodyElseHoldsTheReport leaves a server behind: it has not inherited
// the descriptor, and the result does not wait for it.
func TestR145_NobodyElseHoldsTheReport(t *testing.T) {
	t.Parallel()
	h := open(t)
	dir := t.TempDir()
	c := staged(t, "sleep 300 >/dev/null 2>&1 & until [ $(cat /proc/$!/comm) = sleep ]; do :; done; echo $! >"+dir+"/pid; false | true")
	e := run(t, h, c)
	if !slices.Equal(e.Stages, []int{1, 0}) || e.Held {
		t.Error(brief(e), e.Stages)
	}
	pid, err := os.ReadFile(dir + "/pid")
	if err != nil {
		t.Fatal(err)
	}
	fds, err := filepath.Glob("/proc/" + strings.TrimSpace(string(pid)) + "/fd/*")
	if err != nil || len(fds) != 3 {
		t.Errorf("the server has %v open, %v", fds, err)
	}
}

// answering is a FIFO that gets a line for each piece of output.
type answering string

func (a answering) Write(b []byte) (int, error) {
	return len(b), os.WriteFile(string(a), []byte("\n"), 0)
}

func TestR145_StderrIsKeptApart(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := staged(t, "echo one; echo two >&2; cat no-such-file | sort; printf three")
	e := run(t, h, c)
	const complaint = "cat: no-such-file: No such file or directory\n"
	if got := string(e.Err.Head); got != "two\n"+complaint || e.Err.Dropped != 0 {
		t.Errorf("apart: %q", got)
	}
	if got := string(e.Head); len(got) != len("one\ntwo\n"+complaint+"three") || !strings.Contains(got, complaint) {
		t.Errorf("together: %q", got)
	}

	c = staged(t, "mkfifo go; exec 8<>go; for i in 1 2 3; do echo $i; read -u 8; echo $i$i >&2; read -u 8; done")
	c.Output = answering(filepath.Join(c.Dir, "go"))
	if got := string(run(t, h, c).Head); got != "1\n11\n2\n22\n3\n33\n" {
		t.Errorf("what was read before the next was written: %q", got)
	}

	c = staged(t, "seq 100000 >&2; seq 100000")
	c.Keep = 100
	e = run(t, h, c)
	const all = 588_895 // bytes of the numbers up to 100000
	if n := int64(len(e.Err.Head)+len(e.Err.Tail)) + e.Err.Dropped; n != all || !strings.HasSuffix(string(e.Err.Tail), "99999\n100000\n") {
		t.Errorf("apart: %d bytes, the last %q", n, e.Err.Tail)
	}
	if n := int64(len(e.Head)+len(e.Tail)) + e.Dropped; n != 2*all {
		t.Errorf("together: %d bytes", n)
	}

	c = staged(t, "echo out; echo err >&2")
	c.Apart = false
	if e := run(t, h, c); e.Err.Head != nil || string(e.Head) != "out\nerr\n" {
		t.Errorf("not asked for: %q, %q", e.Err.Head, e.Head)
	}
}

// A stream that ends early, or is held, does not end the other.
func TestR145_StreamsEndByThemselves(t *testing.T) {
	t.Parallel()
	h := open(t)
	for text, want := range map[string][3]string{
		"exec 2>&-; echo a; echo b":                   {"a\nb\n", "", ""},
		"exec >&-; echo a >&2; sleep 0.1; echo b >&2": {"a\nb\n", "a\nb\n", ""},
		"sleep 300 >/dev/null & echo a":               {"a\n", "", "held"},
		"sleep 300 2>/dev/null & echo a >&2":          {"a\n", "a\n", "held"},
	} {
		e := run(t, h, staged(t, text))
		held := ""
		if e.Held {
			held = "held"
		}
		if got := [3]string{string(e.Head), string(e.Err.Head), held}; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestR138_CancelledWithStderrApart(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := staged(t, "echo some >&2; echo ready; sleep 300 | cat")
	c.Output = &seen{wake: cancel}
	e, err := h.Run(ctx, c)
	if err != nil || !e.Cancelled || string(e.Err.Head) != "some\n" {
		t.Error(brief(e), string(e.Err.Head), err)
	}
}

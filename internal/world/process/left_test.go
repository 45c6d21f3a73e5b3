//go:build linux

package process_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/world/process"
)

// once is a script whose effect can be counted.
func once(counter, rest string) string { return "echo x >>'" + counter + "'; " + rest }

func count(t *testing.T, counter string) int {
	t.Helper()
	b, err := os.ReadFile(counter)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte("x\n"))
}

// survivors lists what still runs with the environment that play gives.
func survivors(spool string) (left []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		b, _ := os.ReadFile(path) // dead ones have none
		for tries := 0; len(b) == 0 && becomesAnother(filepath.Dir(path)) && tries < 1000; tries++ {
			b, _ = os.ReadFile(path)
		}
		if slices.Contains(strings.Split(string(b), "\x00"), "LIFE="+spool) {
			left = append(left, path)
		}
	}
	return left
}

// becomesAnother reports whether a process has, for the moment, neither arguments nor
// an environment, but a program: it is between two.
func becomesAnother(dir string) bool {
	args, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	_, noProgram := os.Readlink(filepath.Join(dir, "exe"))
	return err == nil && len(args) == 0 && noProgram == nil
}

func reopen(t *testing.T, spool string) *process.Host {
	t.Helper()
	h, err := process.Open(spool)
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

// Wherever a host is killed, the next one says the truth about the command, and
// nothing of it lives. Nobody runs it again under its name.
func TestPromise_P13_R075_KilledAtEachBoundary(t *testing.T) {
	t.Parallel()
	const tree = "setsid sleep 300 & sh -c 'trap \"\" TERM; sleep 300; :' & "
	for _, tt := range []struct {
		role, rest string
		started    bool
		exit       *process.Exit
		effects    int
	}{
		{"before", tree + "exit 7", false, nil, 0},
		{"about to fork", tree + "exit 7", true, nil, 0},
		{"running", tree + "echo ready; sleep 300", true, nil, 1},
		{"ended", tree + "echo ready; exit 7", true, nil, 1},
		// What is left has given up the output before the shell ends, however busy it is.
		{"recorded", "(setsid sleep 300 &) >/dev/null 2>&1; printf 12345; exit 7", true, &process.Exit{Code: 7, Dropped: 5, Profile: "none"}, 1},
		{"recorded", "kill -9 $$", true, &process.Exit{Code: -1, Signal: "SIGKILL", Profile: "none"}, 1},
	} {
		t.Run(tt.role, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			spool, counter := filepath.Join(dir, "spool"), filepath.Join(dir, "counter")
			if err := os.Mkdir(spool, 0o700); err != nil {
				t.Fatal(err)
			}
			before := time.Now()
			crash(t, tt.role, spool, once(counter, tt.rest))
			h := reopen(t, spool)
			left, err := h.Left("c1")
			if err != nil {
				t.Fatal(err)
			}
			if tt.started && (left.At.Before(before.Add(-time.Second)) || left.At.After(time.Now())) {
				t.Errorf("started at %s", left.At)
			}
			want := process.Left{Started: tt.started, At: left.At, Exit: tt.exit}
			if diff := cmp.Diff(want, left, untimed); diff != "" {
				t.Error(diff)
			}
			if n := count(t, counter); n != tt.effects {
				t.Errorf("it happened %d times, want %d", n, tt.effects)
			}
			if pids := survivors(spool); len(pids) > 0 {
				t.Errorf("still there: %q", pids)
			}
			c := script(t, once(counter, "true"))
			c.Call = "c1"
			if _, err := h.Run(t.Context(), c); errors.Is(err, fs.ErrExist) != tt.started {
				t.Errorf("again: %v", err)
			}
			if !tt.started {
				tt.effects = 1
			}
			if n := count(t, counter); n != tt.effects {
				t.Errorf("after that it happened %d times, want %d", n, tt.effects)
			}
		})
	}
}

func TestPromise_P01_KilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		dir := t.TempDir()
		spool, counter := filepath.Join(dir, "spool"), filepath.Join(dir, "counter")
		if err := os.Mkdir(spool, 0o700); err != nil {
			t.Fatal(err)
		}
		c, out := host(t, "random", spool, once(counter, "exit 7"))
		if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("host printed %q, %v", line, err)
		}
		after := time.Duration(random.IntN(30_000)) * time.Microsecond
		<-time.After(after)
		_ = c.Process.Kill()
		_ = c.Wait()
		left, err := reopen(t, spool).Left("c1")
		if err != nil {
			t.Fatal(err)
		}
		n := count(t, counter)
		switch {
		case !left.Started && n != 0, n > 1, left.Exit != nil && (n != 1 || left.Exit.Code != 7):
			t.Errorf("killed after %s: %+v, and it happened %d times", after, left, n)
		}
	}
}

func TestForgottenCommandsLeaveNothingButAreFenced(t *testing.T) {
	t.Parallel()
	spool := t.TempDir()
	crash(t, "forgotten", spool, "setsid sleep 300 >/dev/null 2>&1 & true", "UNGROUPED=1") // else it is gone already
	if len(survivors(spool)) == 0 {
		t.Fatal("nothing was left running")
	}
	if exists(filepath.Join(spool, "c1")) {
		t.Error("it was not forgotten")
	}
	h := reopen(t, spool)
	if pids := survivors(spool); len(pids) > 0 {
		t.Errorf("still there: %q", pids)
	}
	for i := range 20 {
		c := script(t, "true")
		c.Call = fmt.Sprint("c", i)
		run(t, h, c)
		if err := h.Forget(c.Call); err != nil {
			t.Error(err)
		}
		if err := h.Forget("never-run"); err != nil {
			t.Error(err)
		}
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	kept, err := os.ReadDir(spool)
	if err != nil || len(kept) > 0 {
		t.Errorf("kept %v, %v", kept, err)
	}
}

// Only what is certain is said.
func TestR075_LeftClaimsNothingThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	files := func(m map[string]string) func(*testing.T) string {
		return func(t *testing.T) string {
			spool := t.TempDir()
			for name, text := range m {
				if err := os.MkdirAll(filepath.Join(spool, "c1"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(spool, "c1", name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			return spool
		}
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const first, last = `{"boot":"b0","mark":"BELAY_RUN=0.","at":"2026-01-02T03:04:05Z"}` + "\n", `{"code":7,"bytes":5,"took_ns":9,"profile":"none"}` + "\n"
	exit := &process.Exit{Code: 7, Dropped: 5, Took: 9, Profile: "none"}
	for name, tt := range map[string]struct {
		spool func(*testing.T) string
		want  process.Left
		fails string
	}{
		"no entry":              {files(nil), process.Left{}, ""},
		"an empty entry":        {files(map[string]string{"exit.new": last}), process.Left{}, ""},
		"started":               {files(map[string]string{"started": first}), process.Left{Started: true, At: at}, ""},
		"its process known":     {files(map[string]string{"started": first + `{"pid":7,"start":8}` + "\n"}), process.Left{Started: true, At: at}, ""},
		"its process cut short": {files(map[string]string{"started": first + `{"pid":7,"st`}), process.Left{Started: true, At: at}, ""},
		"started, cut short":    {files(map[string]string{"started": first[:20]}), process.Left{Started: true}, ""},
		"started, never filled": {files(map[string]string{"started": "\x00\x00\x00"}), process.Left{Started: true}, ""},
		"exit being written":    {files(map[string]string{"started": first, "exit.new": last}), process.Left{Started: true, At: at}, ""},
		"ended":                 {files(map[string]string{"started": first, "exit": last}), process.Left{Started: true, At: at, Exit: exit}, ""},
		"exit damaged":          {files(map[string]string{"started": first, "exit": last[:20]}), process.Left{Started: true, At: at}, ""},
		"exit alone":            {files(map[string]string{"exit": last}), process.Left{Started: true, Exit: exit}, ""},
		"no spool was kept":     {func(*testing.T) string { return "" }, process.Left{}, "no record of commands is kept"},
		"the spool is gone":     {func(t *testing.T) string { return filepath.Join(t.TempDir(), "spool") }, process.Left{}, "the record of commands is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left, err := reopen(t, tt.spool(t)).Left("c1")
			if diff := cmp.Diff(tt.want, left); diff != "" {
				t.Error(diff)
			}
			if fmt.Sprint(err) != tt.fails && (err != nil || tt.fails != "") {
				t.Errorf("error %v, want %q", err, tt.fails)
			}
		})
	}
}

func TestWhatCannotBeReadIsNotTakenForAbsent(t *testing.T) {
	t.Parallel()
	spool := t.TempDir()
	if err := os.MkdirAll(filepath.Join(spool, "c1", "started"), 0o700); err != nil {
		t.Fatal(err)
	}
	if h, err := process.Open(spool); err == nil {
		h.Close()
		t.Error("opened without having read a record")
	}
	h := reopen(t, t.TempDir())
	for _, call := range []string{"", ".", "..", "../c1", "c1/../../c2", `c1\..`, "c1.", "life.json", "c:1", "c1\x00", "\u0441", strings.Repeat("c", 65)} {
		if left, err := h.Left(call); err == nil {
			t.Errorf("Left(%q) = %+v", call, left)
		}
		if err := h.Forget(call); err == nil {
			t.Errorf("Forget(%q) removes something", call)
		}
	}
}

// strace runs a host under strace, and returns what that and the host printed.
// It skips where no process may be traced.
func strace(t *testing.T, spool, text string, options ...string) (calls, printed string) {
	t.Helper()
	program, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: the order on disk is not shown")
	}
	log := filepath.Join(t.TempDir(), "log")
	c := exec.Command(program, append(append([]string{"-f", "-y", "-o", log}, options...), os.Args[0])...)
	c.Env = append(os.Environ(), "PROCESS_TEST_ROLE=running", "SPOOL="+spool, "SCRIPT="+text)
	out, err := c.CombinedOutput()
	if strings.Contains(string(out), "PTRACE") || strings.Contains(string(out), "ptrace") {
		t.Skipf("tracing is forbidden here: %s", out)
	}
	b, readErr := os.ReadFile(log)
	if err != nil || readErr != nil {
		t.Fatalf("%v, %v: %s", err, readErr, out)
	}
	return string(b), string(out)
}

// That started is absent proves that nothing started, also after a power cut;
// and exit is on disk before anyone learns of it.
func TestR076_OnDiskBeforeItRunsAndBeforeItIsReported(t *testing.T) {
	t.Parallel()
	spool := t.TempDir()
	calls, _ := strace(t, spool, "exit 7", "-e", "trace=fsync,execve,rename,renameat,renameat2,write")
	var got []string
	var step = regexp.MustCompile(`(fsync|execve|rename\w*|write)\((.*)`)
	for _, m := range step.FindAllStringSubmatch(calls, -1) {
		switch call, rest := m[1], m[2]; {
		case call == "execve" && strings.Contains(rest, `"exit 7"`):
			got = append(got, "run")
		case call == "write" && strings.Contains(rest, `"ended 7`):
			got = append(got, "report")
		case call == "fsync" || call == "rename" || call == "renameat" || call == "renameat2":
			at, _, _ := strings.Cut(rest[strings.Index(rest, spool):], ">")
			at, _, _ = strings.Cut(at, `"`)
			got = append(got, call[:5]+" "+strings.TrimPrefix(at, filepath.Dir(spool)+"/"))
		}
	}
	top := filepath.Base(spool)
	want := []string{
		"fsync " + top + "/c1/started", "fsync " + top + "/c1", "fsync " + top, "run",
		"fsync " + top + "/c1/exit.new", "renam " + top + "/c1/exit.new", "fsync " + top + "/c1", "report",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", diff, calls)
	}
}

// What cannot be recorded is not run; what ended and cannot be recorded is
// reported all the same.
func TestPromise_P05_AFailedSync(t *testing.T) {
	t.Parallel()
	for k := 1; k <= 5; k++ {
		dir := t.TempDir()
		spool, counter := filepath.Join(dir, "spool"), filepath.Join(dir, "counter")
		if err := os.Mkdir(spool, 0o700); err != nil {
			t.Fatal(err)
		}
		_, printed := strace(t, spool, once(counter, "exit 7"), "-e", "trace=fsync", "-e", fmt.Sprintf("inject=fsync:error=EIO:when=%d", k))
		left, err := reopen(t, spool).Left("c1")
		if err != nil {
			t.Fatal(err)
		}
		// strace counts for each thread, so only the first sync is surely the first:
		// of the others either those before the start fail or those after it.
		n := count(t, counter)
		refused := strings.Contains(printed, "input/output error") && n == 0 && !left.Started
		ran := strings.HasPrefix(printed, "ended 7 <nil>") && n == 1 && left.Started
		if !refused && !ran || k == 1 && !refused {
			t.Errorf("sync %d: it happened %d times, %+v, %s", k, n, left, printed)
		}
	}
}

//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// gate makes a FIFO that commands of a test can write to ("echo up > ../gate"),
// and returns what waits for a line from there.
func (p *place) gate(t *testing.T) (wait func() string) {
	t.Helper()
	name := filepath.Join(p.dir, "../gate")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	// Open for both, so that neither side waits for the other to open it.
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := f.SetReadDeadline(time.Now().Add(bound)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(f)
	return func() string {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("wait for the command: %v", err)
		}
		return strings.TrimSpace(line)
	}
}

// survivors returns the processes whose environment has the home of p. It finds
// none where there is no /proc to look in.
func (p *place) survivors(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		env, err := os.ReadFile(file) // one that is gone or not ours has none
		if err == nil && strings.Contains("\x00"+string(env), "\x00HOME="+p.home+"\x00") {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			found = append(found, filepath.Base(filepath.Dir(file))+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// start starts c and kills it at the end of the test, if it still runs.
func start(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // it is gone if all went well
}

func send(t *testing.T, c *exec.Cmd, s os.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// R018 R069: the first signal ends the turn: every call has its result, the
// whole process group is gone, and so are those who would not listen.
func TestSignalEndsTheTurn(t *testing.T) {
	const (
		willing  = `(sleep 99 & echo up > ../gate; sleep 99); touch woke`
		stubborn = `trap '' TERM INT HUP; (trap '' TERM; sleep 99) & echo up > ../gate; sleep 99; sleep 99; touch woke`
	)
	for _, tc := range []struct {
		name, command string
		signal        os.Signal
		most          time.Duration
	}{
		{"SIGINT", willing, os.Interrupt, 5 * time.Second},
		{"SIGTERM", willing, syscall.SIGTERM, 5 * time.Second},
		{"SIGHUP", willing, syscall.SIGHUP, 5 * time.Second},
		{"who ignores it", stubborn, os.Interrupt, 5 * (2*time.Second + time.Second)}, // the grace, a second, and slack
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(t, "a.txt", "one\n")
			up := p.gate(t)
			model := p.play(t, `say: I wait.
call: Read {"path": "a.txt"}
call: Bash {"command": "`+tc.command+`"}
call: Bash {"command": "touch woke never"}`)
			c := p.command(t, "run", "--mode", "full", "-m", model, "wait")
			var errs strings.Builder
			c.Stderr = &errs
			start(t, c)
			up()
			began := time.Now()
			send(t, c, tc.signal)
			if code := status(t, c.Wait()); code != 130 {
				t.Errorf("exit status %d, want 130\n%s", code, errs.String())
			}
			if took := time.Since(began); took > tc.most {
				t.Errorf("it took %v, more than %v", took, tc.most)
			}
			if left := p.survivors(t); len(left) > 0 {
				t.Errorf("still running: %q", left)
			}
			all := p.events(t)
			want := map[string]string{"c1": "success", "c2": "interrupted cancelled", "c3": "interrupted cancelled"}
			if d := cmp.Diff(want, outcomes(t, all)); d != "" {
				t.Errorf("results (-want +got):\n%s", d)
			}
			if got := lastStop(all); got != "interrupted" {
				t.Errorf("the turn ended with %q", got)
			}
			if p.exists("woke") || p.exists("never") {
				t.Error("something ran on after the signal")
			}
		})
	}
}

// P07: a turn that was cancelled before the model said anything leaves nothing
// that a later request could stumble over.
func TestBug_P07_CancelledWithoutText(t *testing.T) {
	eachDialect(t, func(t *testing.T, d modeltest.Dialect) {
		p := newPlace(t)
		asked := make(chan struct{})
		silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			close(asked)
			<-r.Context().Done()
		}))
		defer silent.Close()
		p.env = []string{"OPENAI_BASE_URL=" + silent.URL, "ANTHROPIC_BASE_URL=" + silent.URL}
		_, m := p.reach(t, d, nil, whole(d, says("here I am")))
		env := p.env
		p.env = env[:2]
		c := p.command(t, "run", "-m", m, "hello")
		start(t, c)
		select {
		case <-asked:
		case <-time.After(bound):
			t.Fatal("the model was never asked")
		}
		send(t, c, os.Interrupt)
		if code := status(t, c.Wait()); code != 130 {
			t.Errorf("exit status %d, want 130", code)
		}
		if got := lastStop(p.events(t)); got != "interrupted" {
			t.Errorf("the turn ended with %q", got)
		}
		p.env = env
		e := p.run(t, "resume", "are you there?")
		e.wants(t, 0)
		if e.out != "here I am\n" {
			t.Errorf("answer: %q", e.out)
		}
	})
}

// A call without a model ends the same way, and those after it are not made.
func TestSignalEndsToolCall(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	up := p.gate(t)
	c := p.command(t, "tool", "call", "--mode", "full",
		"Bash", `{"command":"echo up > ../gate; sleep 99; touch woke"}`, "Bash", `{"command":"touch woke never"}`)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	start(t, c)
	up()
	send(t, c, os.Interrupt)
	if code := status(t, c.Wait()); code != 130 {
		t.Errorf("exit status %d, want 130\n%s", code, errs.String())
	}
	if strings.Count(out.String(), "\n") != 1 || !strings.HasPrefix(out.String(), `{"status":"interrupted",`) {
		t.Errorf("results: %s", out.String())
	}
	if left := p.survivors(t); len(left) > 0 || p.exists("woke") || p.exists("never") {
		t.Errorf("still running: %q", left)
	}
}

// The second signal ends the program: it does not wait for who ignores the
// first, but leaves nobody behind.
func TestSecondSignalEndsTheProgram(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	up := p.gate(t)
	model := p.play(t, `call: Bash {"command": "trap 'echo hit > ../gate' TERM; echo up > ../gate; while :; do sleep 99 & wait; done"}`)
	c := p.command(t, "run", "--mode", "full", "-m", model, "wait")
	start(t, c)
	up()
	send(t, c, os.Interrupt)
	if got := up(); got != "hit" {
		t.Fatalf("the command says %q", got)
	}
	began := time.Now()
	send(t, c, syscall.SIGTERM)
	if code := status(t, c.Wait()); code != 130 {
		t.Errorf("exit status %d, want 130", code)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if left := p.survivors(t); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
}

// R068 R075: a session whose process was killed in the middle of a command goes
// on: the result is unknown, the next request is as it must be, and nothing is
// done twice.
func TestResumeAfterKill(t *testing.T) {
	for _, tc := range []struct {
		name string
		args func(id string) []string
	}{
		{"without a goal", func(string) []string { return nil }},
		{"with a goal", func(string) []string { return []string{"go on"} }},
		{"by the beginning of its id", func(id string) []string { return []string{id[:10], "go on"} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			up := p.gate(t)
			model := p.play(t,
				`call: Bash {"command": "echo once >> count; echo up > ../gate; sleep 99; echo twice >> count"}`,
				"expect: error /it may have happened/\nsay: I looked.")
			c := p.command(t, "run", "--mode", "full", "-m", model, "count")
			start(t, c)
			up()
			send(t, c, syscall.SIGKILL)
			if code := status(t, c.Wait()); code != -1 {
				t.Fatalf("it was not killed but ended with %d", code)
			}
			all := p.events(t)
			if got := lastStop(all); got != "" {
				t.Fatalf("the turn ended with %q", got)
			}
			if e := p.run(t, "sessions"); !strings.Contains(e.out, "  cut  ") {
				t.Errorf("sessions: %q", e.out)
			}

			id := bodies[event.Opened](all)[0].Session
			e := p.run(t, append([]string{"resume", "--mode", "full"}, tc.args(id)...)...)
			e.wants(t, 0)
			if e.out != "I looked.\n" {
				t.Errorf("answer: %q", e.out)
			}
			all = p.events(t)
			if d := cmp.Diff(map[string]string{"c1": "unknown cancelled"}, outcomes(t, all)); d != "" {
				t.Errorf("results (-want +got):\n%s", d)
			}
			count, err := os.ReadFile(filepath.Join(p.dir, "count"))
			if err != nil || string(count) != "once\n" {
				t.Errorf("count is %q, %v", count, err)
			}
			if left := p.survivors(t); len(left) > 0 {
				t.Errorf("still running: %q", left)
			}
		})
	}
}

// U02: who reads the events goes away: a quiet end, nothing more is done, the
// session is kept and the children are gone.
func TestBug_U02_ClosedPipe(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	up := p.gate(t)
	model := p.play(t,
		`call: Bash {"command": "sleep 99 & echo up > ../gate; read x < ../release"}`,
		`call: Bash {"command": "touch woke never"}`)
	release := filepath.Join(p.dir, "../release")
	if err := syscall.Mkfifo(release, 0o600); err != nil {
		t.Fatal(err)
	}
	c := p.command(t, "run", "--json", "--mode", "full", "-m", model, "wait")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	c.Stderr = &errs
	start(t, c)
	up()
	if line, err := bufio.NewReaderSize(out, 16).ReadSlice('{'); err != nil || string(line) != "{" {
		t.Fatalf("the first event begins with %q, %v", line, err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(release, []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	if code := status(t, c.Wait()); code <= 0 {
		t.Errorf("exit status %d", code)
	}
	if strings.Contains(errs.String(), "belay:") || strings.Contains(errs.String(), "panic") {
		t.Errorf("it is not quiet: %s", errs.String())
	}
	all := p.events(t)
	outcomes(t, all)
	if got := lastStop(all); got == "" || got == "end" {
		t.Errorf("the turn ended with %q", got)
	}
	if left := p.survivors(t); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
	if p.exists("never") {
		t.Error("it went on")
	}
}

// The answer that nobody takes is no success either.
func TestBug_U02_ClosedPipeOfTheAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	c := p.command(t, "run", "-m", p.play(t, "say: hi"), "hello")
	c.Stdout = w
	e := finish(t, c)
	if e.code <= 0 || strings.Contains(e.err, "panic") || strings.Contains(e.err, "belay:") {
		t.Errorf("exit status %d\n%s", e.code, e.err)
	}
	if got := lastStop(p.events(t)); got != "end" {
		t.Errorf("the turn ended with %q", got)
	}
}

// A06: a question that nobody can answer is denied at once, whatever standard
// input is, and the run goes on to its end.
func TestBug_A06_NobodyToAsk(t *testing.T) {
	pipe := func(t *testing.T) (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		return r, w
	}
	for name, stdin := range map[string]func(*testing.T) io.Reader{
		"null": func(*testing.T) io.Reader { return nil },
		"closed pipe": func(t *testing.T) io.Reader {
			r, w := pipe(t)
			w.Close()
			return r
		},
		"open idle pipe": func(t *testing.T) io.Reader {
			r, _ := pipe(t)
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(t, "../secret.txt", "secret\n")
			model := p.play(t,
				`call: Bash {"command": "touch ran"}`,
				"expect: error /no approver/\n"+`call: Read {"path": "../secret.txt"}`,
				"expect: error\nexpect: not last /secret\\n/\n"+`call: Write {"path": "new.txt", "content": "x"}`,
				"expect: error /no approver/\nsay: I did what I could.")
			c := p.command(t, "run", "--mode", "ask", "-m", model, "try")
			c.Stdin = stdin(t)
			began := time.Now()
			e := finish(t, c)
			e.wants(t, 3)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			if e.out != "I did what I could.\n" {
				t.Errorf("answer: %q", e.out)
			}
			all := p.events(t)
			want := map[string]string{"c1": "error needs_approval", "c2": "error outside_workspace", "c3": "error needs_approval"}
			if d := cmp.Diff(want, outcomes(t, all)); d != "" {
				t.Errorf("results (-want +got):\n%s", d)
			}
			if got := lastStop(all); got != "end" || p.exists("ran") || p.exists("new.txt") {
				t.Errorf("the turn ended with %q", got)
			}
		})
	}
}

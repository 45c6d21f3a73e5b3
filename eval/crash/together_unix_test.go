//go:build unix

package crash

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
)

// N04: eight sessions work in one repository at once, and all of them end with
// their answer and a whole log. No lock is shared by sessions, so none can be
// busy.
func TestBug_N04_EightSessionsInOneRepository(t *testing.T) {
	t.Parallel()
	const sessions = 8
	p, err := newPlace(t.TempDir(), template(t), binary(t, plain))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	ends := make([]end, sessions)
	errs := make([]error, sessions)
	for i := range sessions {
		play := filepath.Join(p.top, fmt.Sprintf("%d.play", i))
		script := strings.ReplaceAll(`-- step --
call: Read {"path": "data/prices.txt"}
call: Write {"path": "out/N.txt", "content": "one\n"}
-- step --
expect: not error
call: Edit {"path": "out/N.txt", "old": "one", "new": "two"}
call: Bash {"command": "echo N >>log.txt"}
-- step --
expect: not error
call: Grep {"pattern": "two", "path": "out/N.txt"}
-- step --
expect: result /two/
say: session N is done
`, "N", fmt.Sprint(i))
		if err := os.WriteFile(play, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			ends[i], errs[i] = p.run(nil, nil, "run", "--mode", "full", "-m", "script:"+play, "go")
		})
	}
	all.Wait()
	for i, e := range ends {
		if want := fmt.Sprintf("session %d is done\n", i); errs[i] != nil || e.code != 0 || e.out != want {
			t.Errorf("session %d: %v, %v", i, errs[i], e)
		}
	}
	s := story{place: p}
	dirs := s.sessions()
	if len(dirs) != sessions {
		t.Fatalf("%d sessions: %q", len(dirs), dirs)
	}
	for _, dir := range dirs {
		events, err := eventsOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		v := verdict{unknown: map[string]int{}}
		v.judgeCalls(events)
		if !done(events) || v.calls != 5 || len(v.wrong()) > 0 {
			t.Errorf("%s: ended %v, %+v", dir, done(events), v)
		}
		if shown, err := p.run(nil, nil, "log", filepath.Base(dir)); err != nil || shown.code != 0 || shown.err != "" {
			t.Errorf("log: %v, %v", err, shown)
		}
	}
	files, err := p.files()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(files["log.txt"]), "\n")
	for i := range sessions {
		if n := strings.Count(files["log.txt"], fmt.Sprintf("%d\n", i)); n != 1 || files[fmt.Sprintf("out/%d.txt", i)] != "two\n" {
			t.Errorf("session %d: %d lines of %q, %q", i, n, lines, files[fmt.Sprintf("out/%d.txt", i)])
		}
	}
	for name := range files {
		if strings.Contains(name, ".belay-") {
			t.Errorf("left behind: %s", name)
		}
	}
}

// A gate is a FIFO beside the workspace that a command writes to: echo up >../gate.
func (p *place) gate(t *testing.T) (wait func()) {
	t.Helper()
	name := filepath.Join(p.top, "gate")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0) // for both, so that neither side waits for the other
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := f.SetReadDeadline(time.Now().Add(bound)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(f)
	return func() {
		t.Helper()
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatalf("wait for the command: %v", err)
		}
	}
}

// P06: a session has one writer. Who comes second learns who the first is; when
// that is killed, the next takes over, and when it only stands still, nobody
// does.
func TestPromise_P06_OneWriter(t *testing.T) {
	t.Parallel()
	p, err := newPlace(t.TempDir(), template(t), binary(t, plain))
	if err != nil {
		t.Fatal(err)
	}
	up := p.gate(t)
	play := filepath.Join(p.top, "wait.play")
	script := "-- step --\ncall: Bash {\"command\": \"echo up >../gate; sleep 99\"}\n-- step --\nsay: taken over\n"
	if err := os.WriteFile(play, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	first := p.command(ctx, nil, "run", "--mode", "full", "-m", "script:"+play, "wait")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	up()
	refused := func(state string) {
		t.Helper()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				e, err := p.run(nil, nil, "resume", "--mode", "full")
				if err != nil || e.code != 2 || !strings.Contains(e.err, fmt.Sprintf("in use by process %d", first.Process.Pid)) {
					t.Errorf("while the first %s: %v, %v", state, err, e)
				}
			})
		}
		all.Wait()
	}
	refused("runs")
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	refused("stands still")
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	e, err := p.run(nil, nil, "resume", "--mode", "full")
	if err != nil || e.code != 0 || e.out != "taken over\n" {
		t.Errorf("after it was killed: %v, %v", err, e)
	}
	s := story{place: p}
	all, err := s.events()
	if err != nil || len(bodies[event.Opened](all)) != 2 {
		t.Errorf("it was opened %d times, %v", len(bodies[event.Opened](all)), err)
	}
	if left := p.survivors(); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
}

//go:build linux

package process_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/world/process"
)

// play is a host on SPOOL that runs SCRIPT, in the environment LIFE, and is
// killed: how far it gets is its role. It prints a line when it is as far.
func play(role string) {
	opened := process.Open
	if os.Getenv("UNGROUPED") != "" {
		opened = process.OpenUngrouped
	}
	h, err := opened(os.Getenv("SPOOL"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	shell, err := process.Shell(os.Environ())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	c := process.Command{
		Call: "c1", Argv: append(shell, os.Getenv("SCRIPT")), Dir: os.TempDir(),
		Env: []string{path, "LIFE=" + os.Getenv("LIFE_ID")}, Output: os.Stdout,
	}
	switch role {
	case "before":
		stop()
	case "recorded":
		c.Output = nil
	case "about to fork": // as every fork does, the next one waits for this lock
		syscall.ForkLock.RLock()
	case "ended":
		c.Output = writer(func() {
			for len(children("belay-lifeline")) > 0 {
				runtime.Gosched()
			}
			stop()
		})
	case "random":
		fmt.Println("ready")
	}
	e, err := h.Run(context.Background(), c)
	switch role {
	case "recorded":
		stop()
	case "forgotten":
		if err := h.Forget("c1"); err != nil {
			fmt.Println(err)
		}
		stop()
	}
	fmt.Println("ended", e.Code, err)
}

// stop waits to be killed.
func stop() {
	fmt.Println("ready")
	<-make(chan bool)
}

// A writer is called for the first output.
type writer func()

func (w writer) Write(b []byte) (int, error) { w(); return len(b), nil }

// host starts this program in a role.
func host(t *testing.T, role, spool, text string, env ...string) (c *exec.Cmd, out *bufio.Reader) {
	t.Helper()
	c = exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), env...), "PROCESS_TEST_ROLE="+role, "SPOOL="+spool, "SCRIPT="+text, "LIFE_ID="+spool)
	pipe, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewReader(pipe)
}

// crash runs text in a host of its own on spool, and kills that host once it,
// or text, has printed a line.
func crash(t *testing.T, role, spool, text string, env ...string) {
	t.Helper()
	c, out := host(t, role, spool, text, env...)
	if role == "about to fork" {
		for late := time.Now().Add(time.Minute); !recorded(spool); runtime.Gosched() {
			if time.Now().After(late) {
				t.Error("nothing is recorded after a minute")
				break
			}
		}
	} else if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Errorf("host printed %q, %v", line, err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait()
}

func recorded(spool string) bool {
	b, _ := os.ReadFile(filepath.Join(spool, "c1", "started"))
	return bytes.HasSuffix(b, []byte("\n"))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestTheCommandDiesWithUs(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	crash(t, "running", t.TempDir(), w.hold("echo ready; exec sleep 300"))
	w.gone(t)
}

func TestOpenFencesAnEarlierLife(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	spool := filepath.Join(t.TempDir(), "spool")
	crash(t, "running", spool, w.hold("setsid sleep 300 & sleep 300 & sh -c 'trap \"\" TERM; sleep 300; :' & echo ready; wait"), "UNGROUPED=1")
	h, err := process.Open(spool)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	w.gone(t)
	if _, err := os.Stat(filepath.Join(spool, "c1", "started")); err != nil {
		t.Errorf("the evidence is gone: %v", err)
	}
}

func TestFenceSparesOthers(t *testing.T) {
	t.Parallel()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Skip(err)
	}
	for name, tt := range map[string]struct {
		boot  string
		later uint64
		torn  bool
		dies  bool
	}{
		"it":                 {boot: strings.TrimSpace(string(boot)), dies: true},
		"a later process":    {boot: strings.TrimSpace(string(boot)), later: 1},
		"an earlier boot":    {boot: "b0"},
		"half of its record": {boot: strings.TrimSpace(string(boot)), torn: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := exec.Command("sleep", "300")
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { _ = c.Wait(); close(ended) }()
			spool := t.TempDir()
			write(t, spool, map[string]any{
				"boot": tt.boot, "mark": "BELAY_RUN=none.", "pid": c.Process.Pid, "start": started(t, c.Process.Pid) - tt.later,
			}, tt.torn)
			h, err := process.Open(spool)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
			alive := syscall.Kill(c.Process.Pid, 0) == nil && !dead(t, c.Process.Pid)
			if alive == tt.dies {
				t.Errorf("alive: %t", alive)
			}
			_ = c.Process.Kill()
			<-ended
		})
	}
}

func write(t *testing.T, spool string, record any, torn bool) {
	t.Helper()
	b, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	if torn {
		b = b[:len(b)/2]
	}
	if err := os.Mkdir(filepath.Join(spool, "c1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(spool, "c1", "started"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func stat(t *testing.T, pid int) []string {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return append([]string{"X"}, make([]string, 20)...)
	}
	_, after, _ := strings.Cut(string(b), ") ")
	return strings.Fields(after)
}

func started(t *testing.T, pid int) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(stat(t, pid)[19], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func dead(t *testing.T, pid int) bool { return strings.Contains("ZX", stat(t, pid)[0]) }

func TestRecordIsThereBeforeAndAfterTheIdIsKnown(t *testing.T) {
	t.Parallel()
	spool := t.TempDir()
	h, err := process.Open(spool)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	c := script(t, `cat "$SPOOL/c9/started"; echo $$`)
	c.Call, c.Env, c.Timeout = "c9", append(c.Env, "SPOOL="+spool), time.Minute
	e := run(t, h, c)
	lines := strings.Split(strings.TrimSpace(string(e.Head)), "\n")
	first, pid := lines[0], lines[len(lines)-1] // the process may be recorded by then
	var early, late struct {
		Boot, Mark string
		PID        int
		Start      uint64
	}
	if err := json.Unmarshal([]byte(first), &early); err != nil || early.Mark == "" || early.Boot == "" {
		t.Errorf("the command saw %q, %v", first, err)
	}
	b, err := os.ReadFile(filepath.Join(spool, "c9", "started"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		if err := json.Unmarshal(line, &late); err != nil {
			t.Fatal(err)
		}
	}
	if strconv.Itoa(late.PID) != pid || late.Start == 0 || late.Mark != early.Mark {
		t.Errorf("record %s of process %s", b, pid)
	}
}

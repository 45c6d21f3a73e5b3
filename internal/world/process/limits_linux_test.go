package process_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/world/process"
)

// small are limits that greedy programs reach soon, and this machine never.
var small = process.Limits{Processes: 200, Memory: 256 << 20, File: 10 << 20}

// Each of them would take this machine with it, if nothing bounded it: 8 GB of
// memory, a file of 10 GB, and a program that does nothing but start itself, for
// a few seconds at most.
func TestPromise_P15_NothingEatsTheMachine(t *testing.T) {
	for _, p := range []process.Profile{process.Full, process.Bubblewrap, process.Namespaces} {
		t.Run(string(p), func(t *testing.T) {
			root := outside(t)
			h := held(t, p, process.Sandbox{Root: root, Limits: small})
			greedy := func(text string) (process.Exit, string) {
				t.Helper()
				c := script(t, text)
				c.Dir, c.Allowed, c.Timeout, c.Grace = root, writes, 3*time.Second, time.Millisecond
				e := run(t, h, c)
				if e.Profile != string(p) {
					t.Fatalf("held by %q", e.Profile)
				}
				head := string(e.Head)
				e.Head, e.Tail = nil, nil
				return e, head
			}
			e, out := greedy(`head -c 10G /dev/zero > big; echo status $?; stat -c %s big`)
			if !strings.Contains(out, "status 153") && !strings.Contains(out, "File too large") || !strings.HasSuffix(out, "\n10485760\n") {
				t.Errorf("10 GB in a file: %+v\n%.500s", e, out)
			}
			e, out = greedy("PROCESS_TEST_ROLE=hog exec " + copySelf(t, filepath.Join(root, "hog")))
			if !e.Memory {
				t.Errorf("8 GB of memory: %+v\n%.500s", e, out)
			}
			e, out = greedy(`f() { f | f & f; }; f 2>/dev/null; sleep 60`)
			if e.Took > 20*time.Second || !e.TimedOut && !e.Memory {
				t.Errorf("a fork bomb: %+v\n%.500s", e, out)
			}
			if e, out = greedy("echo well"); out != "well\n" {
				t.Errorf("after all of them: %+v\n%.500s", e, out)
			}
		})
	}
	asUser(t)
}

// hog takes 8 GB of memory, and uses them.
func hog() {
	var all [][]byte
	for range 128 {
		b := make([]byte, 64<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
	}
	fmt.Println("got it all", len(all))
}

// What is cancelled while it forks as fast as it can is gone at once.
func TestPromise_P15_AForkBombIsCancelledAtOnce(t *testing.T) {
	root := outside(t)
	h := held(t, process.Full, process.Sandbox{Root: root, Limits: small})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := script(t, `f() { f | f & f; }; echo up; f 2>/dev/null; sleep 60`)
	c.Dir, c.Allowed, c.Grace = root, writes, time.Millisecond
	var asked time.Time
	c.Output = writer(func() {
		if asked.IsZero() {
			asked = time.Now()
			cancel()
		}
	})
	e, err := h.Run(ctx, c)
	took := time.Since(asked)
	if err != nil || !e.Cancelled || took > 5*time.Second { // 200 ms on a machine with nothing else to do
		t.Errorf("%+v, %v after %v", e, err, took)
	}
	t.Logf("cancelled in %v", took)
}

// The groups that bound commands are gone with them.
func TestLimitsLeaveNoGroups(t *testing.T) {
	root := outside(t)
	h := held(t, process.Full, process.Sandbox{Root: root, Limits: small})
	c := script(t, `cat /proc/self/cgroup`)
	c.Dir, c.Allowed = root, writes
	own := string(run(t, h, c).Head)
	for _, line := range strings.Split(own, "\n") {
		f := strings.SplitN(line, ":", 3)
		if len(f) < 3 || !strings.Contains(f[2], "belay-") {
			continue
		}
		if _, err := os.Stat("/sys/fs/cgroup/" + f[1] + f[2]); err == nil {
			t.Errorf("%s is still there", line)
		}
	}
}

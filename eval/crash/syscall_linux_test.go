package crash

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// changing are the system calls by which Belay changes anything on disk, or is
// about to.
var changing = []string{
	"write", "pwrite64", "fsync", "fdatasync", "renameat", "renameat2", "linkat", "unlinkat", "openat", "ftruncate", "mkdirat", "fallocate",
}

// killing returns what runs a program and kills it at its k-th call of name, as
// each of its threads counts them, but leaves alone what it starts.
func killing(name string, k int) []string {
	return []string{
		"strace", "-f", "-qqq", "-b", "execve", "-o", "/dev/null",
		"-e", "trace=" + name, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", name, k),
	}
}

// traced skips the test where strace cannot be used.
func traced(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("P02: strace is not installed")
	}
	if out, err := exec.Command("strace", "-f", "-qqq", "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		t.Skipf("P02: strace may not trace here: %v %s", err, out)
	}
}

// P02: killed at any system call that changes something, not only where there
// are marks.
func TestPromise_P02_EverySystemCall(t *testing.T) {
	t.Parallel()
	traced(t)
	st := openSession(t, plain)
	st.everySystemCall(t, 10, func(s *story, before []string) (end, error) { return s.begin(nil, before) })
}

// P02: and so when it recovers from a crash that left half a frame, or a change
// half done.
func TestPromise_P02_EverySystemCallOfRecovery(t *testing.T) {
	t.Parallel()
	traced(t)
	st := openSession(t, marked)
	for _, mark := range []string{"journal half written", "workspace temp written", "process started"} {
		t.Run(mark, func(t *testing.T) {
			n := slices.Index(st.marks[len(st.marks)/3:], mark) + len(st.marks)/3 + 1
			st.everySystemCall(t, 2, func(s *story, before []string) (end, error) {
				if e, err := s.begin([]string{fmt.Sprintf("FAILPOINT=%d", n)}, nil); err != nil || e.code != -1 {
					return e, fmt.Errorf("it was not killed: %v, %w", e, err)
				}
				return s.resume(nil, before)
			})
		})
	}
}

// everySystemCall judges the story killed wherever run, with something in front
// of the program, is killed: at a sample of places, or everywhere.
func (st *stage) everySystemCall(t *testing.T, sample int, run func(s *story, before []string) (end, error)) {
	t.Helper()
	var y tally
	killed := make(map[string]*atomic.Int64)
	for _, name := range changing {
		killed[name] = new(atomic.Int64)
	}
	at := func(name string, k int) bool {
		dead := false
		s, v, err := st.tell(func(s *story) error {
			e, err := run(s, killing(name, k))
			dead = e.code == -1
			return err
		})
		if err != nil {
			t.Errorf("%s %d: %v", name, k, err)
			return false
		}
		if dead {
			killed[name].Add(1)
			s.kills = []string{name}
		}
		y.add(s, v)
		for _, w := range v.wrong() {
			t.Errorf("%s %d: %s", name, k, w)
		}
		return dead
	}
	if soak {
		each(changing, time.Now().Add(time.Hour), func(name string) {
			for k := 1; at(name, k); k++ {
			}
		})
	} else {
		r := rand.New(rand.NewPCG(seed(t), 3))
		each(r.Perm(len(changing))[:sample], time.Now().Add(time.Minute), func(i int) { at(changing[i], 1+i%4) })
	}
	var counts []string
	for _, name := range changing {
		counts = append(counts, fmt.Sprintf("%s %d", name, killed[name].Load()))
	}
	t.Logf("killed at %s\n%s", strings.Join(counts, ", "), &y)
}

package crash

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
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

// P02: killed at any system call that changes something, not only where there
// are marks.
func TestPromise_P02_EverySystemCall(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("P02: strace is not installed")
	}
	if out, err := exec.Command("strace", "-f", "-qqq", "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		t.Skipf("P02: strace may not trace here: %v %s", err, out)
	}
	st := open(t, binary(t, plain))
	var y tally
	killed := make(map[string]*atomic.Int64)
	for _, name := range changing {
		killed[name] = new(atomic.Int64)
	}
	at := func(point syscallPoint) bool {
		dead := false
		s, v, err := st.tell(func(s *story) error {
			e, err := s.begin(nil, killing(point.name, point.k))
			dead = e.code == -1
			return err
		})
		if err != nil {
			t.Errorf("%s %d: %v", point.name, point.k, err)
			return dead
		}
		if dead {
			killed[point.name].Add(1)
			s.kills = []string{point.name}
		}
		y.add(s, v)
		for _, w := range v.wrong() {
			t.Errorf("%s %d: %s", point.name, point.k, w)
		}
		return dead
	}
	if soak {
		each(changing, time.Now().Add(time.Hour), func(name string) {
			for k := 1; at(syscallPoint{name, k}); k++ {
			}
		})
	} else {
		r := rand.New(rand.NewPCG(seed(t), 3))
		var points []syscallPoint
		for _, i := range r.Perm(len(changing))[:10] {
			points = append(points, syscallPoint{changing[i], 1 + r.IntN(4)})
		}
		each(points, time.Now().Add(time.Minute), func(p syscallPoint) { at(p) })
	}
	var counts []string
	for _, name := range changing {
		counts = append(counts, fmt.Sprintf("%s %d", name, killed[name].Load()))
	}
	t.Logf("killed at %s\n%s", strings.Join(counts, ", "), &y)
	if y.kills == 0 {
		t.Error("nothing was killed")
	}
}

// A syscallPoint is the k-th call of a name.
type syscallPoint struct {
	name string
	k    int
}

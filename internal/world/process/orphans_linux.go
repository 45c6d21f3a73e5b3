package process

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Kin are the children of this process. There is one such set for all Hosts, as
// there is to the system, of which any of them could wait for any child.
var kin orphans

// Orphans are what is left by commands that nothing ends whole, neither a cgroup
// nor a sandbox. From the first such command of a Host to its end what loses its
// parent becomes a child of ours, and is found however else it has changed.
type orphans struct {
	mu    sync.Mutex
	hosts int            // that have such commands
	open  bool           // orphans come to us
	home  string         // the cgroup that we are in
	ours  map[int]uint64 // what we started and have not waited for; of such commands, when
	last  uint64         // when the last such command had ended
}

// adopt has orphans come to us for one more Host, until leave.
func (o *orphans) adopt() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hosts++; o.hosts == 1 {
		o.home = unified(os.Getpid())
		o.open = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil
	}
}

func (o *orphans) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hosts--; o.hosts == 0 {
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) // as it let us before
		o.open = false
	}
}

// start starts cmd, whose child is no orphan until waited says that it is gone. A
// loose one is such a command.
func (o *orphans) start(cmd *exec.Cmd, loose bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for loose && now() <= o.last { // what it left must be older than what cmd will
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if o.ours == nil {
		o.ours = make(map[int]uint64)
	}
	pid := cmd.Process.Pid
	o.ours[pid] = 0
	if loose {
		o.ours[pid] = startOf(pid)
	}
	return nil
}

func (o *orphans) waited(p *os.Process) {
	o.mu.Lock()
	if o.ours[p.Pid] > 0 {
		o.last = now()
	}
	delete(o.ours, p.Pid)
	o.mu.Unlock()
	o.bury()
}

// lead has t find its orphans, if they come to us.
func (o *orphans) lead(t *tree) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open {
		t.orphans = o
	}
}

// claims reports whether p, to which neither session nor mark leads, is an orphan
// of t. One that another command that still runs may have left is not: that ends
// with its Host.
func (o *orphans) claims(t *tree, p proc) bool {
	if o == nil || p.parent != os.Getpid() || p.session == session() {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for pid, since := range o.ours {
		if pid == p.pid || pid == p.session || pid == p.group {
			return false
		}
		if since > 0 && since <= p.start && !slices.Contains(t.leaders, pid) {
			return false
		}
	}
	return unified(p.pid) == o.home && !marked(p.pid, runEntry)
}

// bury waits for the orphans that have ended.
func (o *orphans) bury() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.open {
		return
	}
	own := session()
	for p, state := range all() {
		_, ours := o.ours[p.pid]
		if state == "Z" && p.parent == os.Getpid() && !ours && p.session != own {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// now returns the time in ticks since boot, as the system tells of a process when
// it started.
func now() uint64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // is there since Linux 2.6.39
	return uint64(t.Nano() / int64(10*time.Millisecond))
}

// session returns the one that we are in, and nothing that a Host starts.
func session() int {
	id, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return id
}

// unified returns the cgroup (v2) of pid.
func unified(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(b) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "0::"); ok {
			return path
		}
	}
	return ""
}

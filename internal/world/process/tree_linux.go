package process

import (
	"bytes"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// controls has the program's input be the terminal of its session.
func controls(a *syscall.SysProcAttr) { a.Setctty, a.Ctty = true, 0 }

// A proc is a process as the system shows it.
type proc struct {
	pid, parent, group, session int
	start                       uint64
}

// signal sends sig to all of t, and returns how many that are.
func (t *tree) signal(sig syscall.Signal) int {
	if t.group != nil {
		return t.signalGroup(sig)
	}
	found := t.members()
	groups := make(map[int]bool)
	for _, p := range found {
		if slices.Contains(t.leaders, p.group) && !groups[p.group] {
			groups[p.group] = true
			_ = syscall.Kill(-p.group, sig) // at once, before it can grow
		}
	}
	for _, p := range found {
		if !groups[p.group] {
			_ = syscall.Kill(p.pid, sig)
		}
	}
	return len(found)
}

// signalGroup is signal for what is in a cgroup. What is in the process group of
// its leader gets sig at once, so that nothing there goes on when another ends.
func (t *tree) signalGroup(sig syscall.Signal) int {
	pids := t.group.pids()
	others := pids[:0]
	for _, pid := range pids {
		if pgid, err := syscall.Getpgid(pid); err == nil && !slices.Contains(t.leaders, pgid) {
			others = append(others, pid)
		}
	}
	for _, leader := range t.leaders {
		_ = syscall.Kill(-leader, sig)
	}
	for _, pid := range others {
		_ = syscall.Kill(pid, sig)
	}
	return len(pids)
}

func (t *tree) count() int {
	if t.group != nil {
		if t.group.populated() {
			return 1
		}
		return 0
	}
	return len(t.members())
}

// exact reports whether count is sure of what it says.
func (t *tree) exact() bool { return t.group != nil }

// kill kills all of t, and returns how many there were to kill, or at least
// whether there were any.
func (t *tree) kill() int {
	if t.group == nil {
		return t.signal(syscall.SIGKILL)
	}
	n := t.count()
	if n > 0 {
		t.group.kill()
	}
	return n
}

// members returns the living processes of t, and remembers them: what was once
// seen in t is found again, wherever it goes.
func (t *tree) members() []proc {
	if t.known == nil {
		t.known = make(map[int]uint64)
	}
	var found, rest []proc
	for p, state := range all() {
		if p.start < t.since || strings.Contains("ZX", state) {
			continue
		}
		if t.owns(p) {
			found = append(found, p)
		} else {
			rest = append(rest, p)
		}
	}
	for i := 0; i < len(found); i++ { // found grows by the children of what is in it
		rest = slices.DeleteFunc(rest, func(p proc) bool {
			if p.parent != found[i].pid {
				return false
			}
			found = append(found, p)
			return true
		})
	}
	for _, p := range found {
		t.known[p.pid] = p.start
	}
	return found
}

func (t *tree) owns(p proc) bool {
	if start, ok := t.known[p.pid]; ok && start == p.start {
		return true
	}
	return slices.Contains(t.leaders, p.session) || slices.Contains(t.leaders, p.group) ||
		marked(p.pid, t.marks...) || t.orphans.claims(t, p)
}

// marked reports whether the environment that pid was started with has an entry
// that begins with one of marks.
func marked(pid int, marks ...string) bool {
	for entry := range bytes.SplitSeq(environ(pid), []byte{0}) {
		for _, mark := range marks {
			if bytes.HasPrefix(entry, []byte(mark)) {
				return true
			}
		}
	}
	return false
}

// execTries is how often is looked at a process that is about to be another program,
// with execPause in between: that takes it some 100 µs.
const (
	execTries = 200
	execPause = 100 * time.Microsecond
)

// environ returns the environment that pid was started with. While a process
// becomes another program the system shows neither that nor its arguments, though
// it is as much there as before and after.
func environ(pid int) []byte {
	dir := "/proc/" + strconv.Itoa(pid)
	bare := 0
	for range execTries {
		env, err := shownOf(dir + "/environ")
		if err != nil || len(env) > 0 {
			return env
		}
		if args, err := shownOf(dir + "/cmdline"); err == nil && len(args) > 0 {
			if bare++; bare > 1 { // and not between the two looks
				return nil
			}
			continue
		}
		if _, err := os.Readlink(dir + "/exe"); err != nil { // it is dead, or the system's own
			return nil
		}
		time.Sleep(execPause)
	}
	return nil
}

func shownOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 8<<20)) // more than the system lets it be
}

// all goes through what the system shows, but for ourselves: also what is dead.
func all() iter.Seq2[proc, string] {
	return func(yield func(proc, string) bool) {
		dir, err := os.Open("/proc")
		if err != nil {
			return
		}
		defer dir.Close()
		names, _ := dir.Readdirnames(-1)
		for _, name := range names {
			pid, err := strconv.Atoi(name)
			if err != nil || pid == os.Getpid() {
				continue
			}
			if p, state, ok := read(pid); ok && !yield(p, state) {
				return
			}
		}
	}
}

// read returns what the system shows of pid.
func read(pid int) (p proc, state string, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return p, "", false
	}
	return parseStat(string(b))
}

// parseStat reads a line of /proc/PID/stat: its second field is a name that
// may hold anything, also spaces and parentheses.
func parseStat(line string) (p proc, state string, ok bool) {
	pid, rest, _ := strings.Cut(line, " (")
	close := strings.LastIndexByte(rest, ')')
	if close < 0 {
		return p, "", false
	}
	fields := strings.Fields(rest[close+1:])
	if len(fields) < 20 {
		return p, "", false
	}
	var errs [5]error
	p.pid, errs[0] = strconv.Atoi(pid)
	p.parent, errs[1] = strconv.Atoi(fields[1])
	p.group, errs[2] = strconv.Atoi(fields[2])
	p.session, errs[3] = strconv.Atoi(fields[3])
	p.start, errs[4] = strconv.ParseUint(fields[19], 10, 64)
	return p, fields[0], errs == [5]error{}
}

// startOf returns when pid started, in ticks since boot, or 0 where it is gone.
func startOf(pid int) uint64 {
	p, _, _ := read(pid)
	return p.start
}

// boot names this run of the system.
func boot() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

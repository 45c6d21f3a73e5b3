package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// UsualLimits returns what leaves room for everything else on this machine: most
// of its memory, and more processes and larger files than builds and tests need.
func UsualLimits() Limits {
	l := Limits{Processes: 4096, File: 16 << 30}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		l.Memory = int64(info.Totalram) * int64(info.Unit) / 4 * 3
	}
	return l
}

// apply bounds this process, and all that it starts, by itself.
func (l Limits) apply() error {
	bounds := []struct {
		name string
		what int
		max  uint64
		on   bool
	}{
		{"the size of a core", unix.RLIMIT_CORE, 0, true},
		{"the size of files", unix.RLIMIT_FSIZE, uint64(l.File), l.File > 0},
		{"the number of processes", unix.RLIMIT_NPROC, uint64(l.Processes), l.Processes > 0},
	}
	for _, b := range bounds {
		if !b.on {
			continue
		}
		var was unix.Rlimit
		if err := unix.Getrlimit(b.what, &was); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		max := min(b.max, was.Max)
		if err := unix.Setrlimit(b.what, &unix.Rlimit{Cur: max, Max: max}); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return nil
}

const lookEvery = 50 * time.Millisecond

// watch ends init, and all with it, when what is in its namespace has more than
// the limit allows. It is for where the system has no groups that do so.
func (i *initial) watch() {
	for {
		time.Sleep(lookEvery)
		memory, count := inside()
		if i.Limit.Memory > 0 && memory > i.Limit.Memory || i.Limit.Processes > 0 && count > i.Limit.Processes {
			close(i.greedy)
			_ = syscall.Kill(-1, syscall.SIGKILL)
			return
		}
	}
}

// inside returns how much memory all processes that we see have for themselves,
// and how many those are.
func inside() (memory int64, count int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0, 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		b, err := os.ReadFile("/proc/" + name + "/statm")
		if err != nil {
			continue
		}
		count++
		f := strings.Fields(string(b))
		if len(f) < 3 {
			continue
		}
		resident, err1 := strconv.ParseInt(f[1], 10, 64)
		shared, err2 := strconv.ParseInt(f[2], 10, 64)
		if err1 == nil && err2 == nil {
			memory += (resident - shared) * int64(os.Getpagesize())
		}
	}
	return memory, count
}

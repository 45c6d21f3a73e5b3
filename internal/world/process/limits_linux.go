package process

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
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
		{"the number of processes", unix.RLIMIT_NPROC, uint64(l.Processes), l.Processes > 0}, // init has spares: see spare
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

// spares are how many threads init has ready.
const spares = 6

// spare makes threads that the runtime keeps: when the command has used up all
// that may be, there would be none for init to see to it.
func spare() {
	var all sync.WaitGroup
	done := make(chan struct{})
	all.Add(spares)
	for range spares {
		go func() {
			runtime.LockOSThread() // so that it needs one of its own
			defer runtime.UnlockOSThread()
			all.Done()
			<-done
		}()
	}
	all.Wait()
	close(done)
}

const lookEvery = 50 * time.Millisecond

// watch ends init, and all with it, when what is in its namespace has more than
// the limit allows. It is for where the system has no groups that do so.
func (i *initial) watch() {
	for {
		time.Sleep(lookEvery)
		memory, count := inside()
		if i.Limit.Memory > 0 && memory > i.Limit.Memory || i.Limit.Processes > 0 && count > i.Limit.Processes {
			i.say(word{Ended: true, Status: uint32(syscall.SIGKILL), Greedy: true})
			os.Exit(128 + int(syscall.SIGKILL))
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

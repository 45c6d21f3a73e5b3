package process

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	holdersMax = 8   // that are named
	lookedMax  = 512 // processes that are looked at for it
)

// holders names the processes of t that can still write to from.
func (t *tree) holders(from source) (names []string) {
	var pipes []string
	for _, f := range from.files() {
		if info, err := f.Stat(); err == nil {
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				pipes = append(pipes, fmt.Sprintf("pipe:[%d]", s.Ino))
			}
		}
	}
	pids := t.pids()
	for _, pid := range pids[:min(len(pids), lookedMax)] {
		if len(names) < holdersMax && holds(pid, pipes) {
			names = append(names, fmt.Sprintf("%s (%d)", comm(pid), pid))
		}
	}
	return names
}

func (t *tree) pids() (pids []int) {
	if t.group != nil {
		return t.group.pids()
	}
	for _, p := range t.members() {
		pids = append(pids, p.pid)
	}
	return pids
}

func holds(pid int, pipes []string) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		to, err := os.Readlink(dir + "/" + e.Name())
		return err == nil && slices.Contains(pipes, to)
	})
}

// comm is the name of pid as the system shows it.
func comm(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return "a process"
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(b)), "?")
}

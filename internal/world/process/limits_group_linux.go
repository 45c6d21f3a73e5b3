package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A bounds is the control groups that a command is in, for its limits. All
// methods of a nil bounds do nothing.
type bounds struct {
	dirs  []string // of the groups
	oom   string   // the file that counts who was killed for memory
	field string   // in it
}

// bind makes groups for the limits of o where the system lets us. What they hold
// the order need not.
func (h *Host) bind(o *order) *bounds {
	b := &bounds{}
	l := o.Limit
	name := fmt.Sprintf("belay-%s-%d", h.id, h.groups.Add(1))
	if l.Processes > 0 {
		if dir := b.add("pids", name, map[string]string{"pids.max": strconv.Itoa(l.Processes)}); dir != "" {
			o.Limit.Processes = 0
		}
	}
	if l.Memory > 0 {
		limit := strconv.FormatInt(l.Memory, 10)
		switch dir := b.add("memory", name, map[string]string{
			"memory.limit_in_bytes": limit, "memory.max": limit, // of version 1, and of version 2
			"memory.swap.max": "0",
		}); {
		case dir == "":
		case exists(filepath.Join(dir, "memory.events")):
			b.oom, b.field, o.Limit.Memory = filepath.Join(dir, "memory.events"), "oom_kill ", 0
		default:
			b.oom, b.field, o.Limit.Memory = filepath.Join(dir, "memory.oom_control"), "oom_kill ", 0
		}
	}
	o.Watch = o.Alone && (o.Limit.Memory > 0 || o.Limit.Processes > 0)
	if !o.Alone || o.User && o.UID == 0 {
		o.Limit.Processes = 0 // the system would count, or not count, everything of this user
	}
	return b
}

// bindMemory makes a group for the memory of a command that nothing else holds,
// where the system lets us.
func (h *Host) bindMemory() *bounds {
	o := order{Limit: Limits{Memory: h.sandbox.Limits.Memory}}
	if o.Limit.Memory == 0 {
		return nil
	}
	return h.bind(&o)
}

// greedier is by how much more likely than others the system ends a command that
// nothing bounds when it has no memory left, in thousandths of it: the command goes
// before us, who have to tell.
const greedier = "500"

// offer has pid, which runs already, and all that it starts bounded as far as that
// can be, and ended before others are. What is started while its parent is on its
// way into the groups is found by looking again.
func (b *bounds) offer(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte(greedier), 0)
	held := make(map[int]bool)
	for range maxLooks {
		before := len(held)
		for _, p := range family(pid) {
			if !held[p] {
				held[p] = true
				_ = b.hold([]int{p}) // what has ended already needs no bounds
			}
		}
		if len(held) == before {
			return
		}
	}
}

// maxLooks bounds how often offer looks for what was started meanwhile: from the
// second time on, only by what the first did not see.
const maxLooks = 16

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// add makes, or finds, the group called name under controller and sets in it
// those of limits that it knows. It returns "" if there is none that holds.
func (b *bounds) add(controller, name string, limits map[string]string) string {
	parent := groupOf(controller)
	if parent == "" {
		return ""
	}
	dir := filepath.Join(parent, name)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return ""
	}
	if !slices.Contains(b.dirs, dir) {
		b.dirs = append(b.dirs, dir)
	}
	held := false
	for file, limit := range limits {
		err := os.WriteFile(filepath.Join(dir, file), []byte(limit), 0)
		held = held || err == nil && file != "memory.swap.max"
	}
	if !held {
		return ""
	}
	return dir
}

// groupOf returns where a group for controller can be made, "" if nowhere.
func groupOf(controller string) string {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(f) < 3:
		case slices.Contains(strings.Split(f[1], ","), controller):
			dir := filepath.Join("/sys/fs/cgroup", f[1], f[2])
			if !exists(dir) {
				dir = filepath.Join("/sys/fs/cgroup", controller, f[2])
			}
			if exists(filepath.Join(dir, "cgroup.procs")) {
				return dir
			}
		case f[0] == "0" && f[1] == "":
			// A group with processes of its own has none below it that is bounded.
			dir := filepath.Join("/sys/fs/cgroup", filepath.Dir(f[2]))
			have, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
			if err == nil && slices.Contains(strings.Fields(string(have)), controller) {
				return dir
			}
		}
	}
	return ""
}

// sweep removes the groups that a life which was killed left: a group that has a
// process cannot be removed, and a new one will have one soon.
func sweep() {
	for _, controller := range []string{"pids", "memory"} {
		parent := groupOf(controller)
		entries, err := os.ReadDir(parent)
		if parent == "" || err != nil {
			continue
		}
		for _, e := range entries {
			info, err := e.Info()
			if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), "belay-") && time.Since(info.ModTime()) > time.Minute {
				_ = os.Remove(filepath.Join(parent, e.Name()))
			}
		}
	}
}

// hold puts pids, and with them what they start from now on, in the groups.
func (b *bounds) hold(pids []int) error {
	if b == nil {
		return nil
	}
	for _, dir := range b.dirs {
		for _, pid := range pids {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
				return fmt.Errorf("bound process %d: %w", pid, err)
			}
		}
	}
	return nil
}

// family returns pid and what it has started.
func family(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ { // all grows
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", all[i], all[i]))
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(b)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// end reports whether something was killed because the memory had run out, and
// removes the groups.
func (b *bounds) end() (greedy bool) {
	if b == nil {
		return false
	}
	if b.oom != "" {
		have, _ := os.ReadFile(b.oom)
		for line := range bytes.Lines(have) {
			n, ok := strings.CutPrefix(strings.TrimSpace(string(line)), b.field)
			greedy = greedy || ok && n != "0"
		}
	}
	for _, dir := range b.dirs {
		for try := range 20 {
			if err := os.Remove(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
				break
			}
			time.Sleep(time.Duration(try) * time.Millisecond) // the system counts the dead for a moment
		}
	}
	b.dirs, b.oom = nil, ""
	return greedy
}

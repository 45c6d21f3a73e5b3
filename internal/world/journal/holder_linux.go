package journal

import (
	"fmt"
	"os"
	"strings"
)

// bootID names the machine's present start; "" if the system does not tell.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// stateOf returns the letter of a process's state and the tick at which it
// began; nothing if there is none.
func stateOf(pid int) (state, ticks string) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", ""
	}
	name := strings.LastIndexByte(string(b), ')') // ends it; it may hold anything
	fields := strings.Fields(string(b[name+1:]))
	if len(fields) < 20 { // from field 3, the state, to 22, the start
		return "", ""
	}
	return fields[0], fields[19]
}

// condition returns what has become of the process that began at that tick.
func condition(pid int, ticks string) Condition {
	state, now := stateOf(pid)
	switch {
	case ticks == "":
		return Unclear
	case now != ticks || state == "Z" || state == "X":
		return Vanished
	case state == "T" || state == "t":
		return Suspended
	}
	return Running
}

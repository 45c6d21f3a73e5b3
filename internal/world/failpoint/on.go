//go:build failpoint

package failpoint

import (
	"os"
	"strconv"
	"sync"
)

// Enabled says whether the marks are there.
const Enabled = true

var passed struct {
	sync.Mutex
	n int
}

// Hit counts a mark and ends the process if it is the one that was asked for.
// One mark is passed at a time, so that the log ends with the last.
func Hit(name string) {
	passed.Lock()
	defer passed.Unlock()
	passed.n++
	if log := os.Getenv("FAILPOINT_LOG"); log != "" {
		add(log, name)
	}
	if n, err := strconv.Atoi(os.Getenv("FAILPOINT")); err != nil || n != passed.n {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		panic("failpoint: find this process: " + err.Error())
	}
	if err := self.Kill(); err != nil {
		panic("failpoint: kill this process: " + err.Error())
	}
	select {} // the signal may take a moment
}

func add(log, name string) {
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.WriteString(name + "\n")
	}
	if err != nil {
		panic("failpoint: write the log: " + err.Error())
	}
	if err := f.Close(); err != nil {
		panic("failpoint: close the log: " + err.Error())
	}
}

//go:build linux

package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// hostile are the ways in which leak tries to leave something behind.
var hostile = []string{
	"plain", "setsid", "daemon", "ignores", "setpgid", "hopper", "daemons", "userns", "scrubbed", "orphan",
}

const (
	daemonsMax = 50
	hopsMax    = 2000 // of a hopper, so that it ends by itself
)

// leak is a program that starts others so that they are hard to find again,
// prints "ready", and waits. What it has open they all inherit.
func leak(shape string) {
	var failed error
	start := func(attr *syscall.SysProcAttr, argv ...string) {
		c := &exec.Cmd{Path: argv[0], Args: argv, Env: os.Environ(), SysProcAttr: attr}
		if err := c.Start(); err != nil {
			failed = err
		}
	}
	again := func(attr *syscall.SysProcAttr, role string) {
		_ = os.Setenv("PROCESS_TEST_ROLE", "leak "+role)
		start(attr, "/proc/self/exe", role)
	}
	sleep := []string{"/bin/sleep", "300"}
	session := &syscall.SysProcAttr{Setsid: true}
	switch kind, rest, _ := strings.Cut(shape, " "); kind {
	case "plain":
		start(nil, sleep...)
		start(nil, sleep...)
	case "setsid":
		start(session, sleep...)
	case "daemon":
		again(session, "fork")
	case "daemons":
		for range daemonsMax / 2 {
			start(session, sleep...)
		}
		again(session, "forks")
	case "fork": // and exit: an orphan in no session of ours
		start(session, sleep...)
		return
	case "forks":
		for range daemonsMax / 2 {
			start(session, sleep...)
		}
		return
	case "ignores":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		start(nil, sleep...)
	case "setpgid":
		start(&syscall.SysProcAttr{Setpgid: true}, sleep...)
		start(&syscall.SysProcAttr{Setpgid: true}, sleep...)
	case "hopper":
		again(session, "hop "+fmt.Sprint(hopsMax))
	case "hop":
		var left int
		if _, err := fmt.Sscan(rest, &left); err == nil && left > 0 {
			again(session, fmt.Sprint("hop ", left-1))
		}
		return
	case "userns":
		uid := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		again(&syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID, UidMappings: uid}, "daemon inside")
	case "orphan": // that has left session, parent and environment at once
		os.Clearenv()
		start(session, "/bin/sh", "-c", "/usr/bin/setsid /bin/sleep 300 & exit")
	case "scrubbed":
		os.Clearenv()
		start(session, "/bin/sh", "-c", "/bin/sleep 300 & exec /bin/sleep 300")
	}
	switch {
	case failed != nil:
		fmt.Println(failed)
	case !strings.HasSuffix(shape, " inside"):
		fmt.Println("ready")
	}
	time.Sleep(5 * time.Minute)
}

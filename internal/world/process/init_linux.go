package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	initRole  = "__init"  // is process 1 of a sandbox
	probeRole = "__probe" // does nothing, successfully

	// lingers is how long what a program leaves running may take to end by
	// itself, so that its last output is not lost.
	lingers = 200 * time.Millisecond
)

// An order is what the agent has init do.
type order struct {
	Path string
	Argv []string
	Env  []string
	Dir  string
	More int // files beyond the first three that the program gets

	Alone  bool // init is process 1 of a namespace
	User   bool // in a new namespace of users, as whoever started us
	UID    int
	GID    int
	View   *view // of the files; nil leaves all as it is
	Wall   *wall // what Landlock lets through; nil is all
	Lo     bool  // bring up the loopback device
	Listen bool  // for the proxy
	Lock   *lock // the last step; nil leaves all powers
	Limit  Limits
	Watch  bool // Limit.Memory is for init to see to
}

// A word is what init says to the agent: Ready, then Listens where it has to,
// Started or Failed, and Ended.
type word struct {
	Ready   bool   `json:"ready,omitempty"`
	Listens bool   `json:"listens,omitempty"` // and gives away its listener
	Started bool   `json:"started,omitempty"`
	Failed  string `json:"failed,omitempty"`
	Errno   int    `json:"errno,omitempty"`
	Ended   bool   `json:"ended,omitempty"`
	Status  uint32 `json:"status,omitempty"` // of the program, as wait has it
	Left    bool   `json:"left,omitempty"`   // it left something running, which was ended
	Greedy  bool   `json:"greedy,omitempty"` // it was ended for its memory
}

// Main runs the part of a sandbox that args name. A program that is to have
// sandboxes calls it before anything else, and ends with code if it is ours.
func Main(args []string) (code int, ours bool) {
	if len(args) < 2 {
		return 0, false
	}
	switch {
	case args[1] == probeRole && len(args) == 2:
		return 0, true
	case args[1] == initRole && len(args) == 4:
		return begin(args[2], args[3]), true
	}
	return 0, false
}

// begin runs init, given the descriptors of a socket to the agent and of its
// order.
func begin(socket, paper string) int {
	runtime.LockOSThread() // what is dropped is dropped for this thread, and for what it starts
	fd, err1 := strconv.Atoi(socket)
	from, err2 := strconv.Atoi(paper)
	if err1 != nil || err2 != nil || fd < 3 || from < 3 {
		return 125
	}
	unix.CloseOnExec(fd)
	unix.CloseOnExec(from)
	i := &initial{agent: os.NewFile(uintptr(fd), "agent")}
	err := i.read(os.NewFile(uintptr(from), "order"))
	if err == nil {
		err = i.prepare()
	}
	if err == nil {
		err = i.start()
	}
	if err != nil {
		w := word{Failed: err.Error()}
		if errno, ok := errors.AsType[syscall.Errno](err); ok {
			w.Errno = int(errno)
		}
		i.say(w)
		return 125
	}
	return i.wait()
}

// An initial is init at work.
type initial struct {
	order
	agent *os.File
	pid   int // of the program
}

func (i *initial) say(w word) {
	b, err := json.Marshal(w)
	if err == nil {
		_, _ = i.agent.Write(b) // who is not there any more does not need it
	}
}

// read reads the order, once the agent says that all is ready outside.
func (i *initial) read(f *os.File) error {
	defer f.Close()
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	i.say(word{Ready: true})
	if n, err := i.agent.Read(make([]byte, 1)); n != 1 {
		return fmt.Errorf("wait for the agent: %w", err)
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<30))
	if err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	if err := json.Unmarshal(b, &i.order); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	return nil
}

// prepare makes the place that the program runs in.
func (i *initial) prepare() error {
	spare()
	go i.follow()
	// Nothing that is sent to the group of the program may end init; the program
	// starts with every signal as usual.
	signal.Notify(make(chan os.Signal, 1))
	steps := []struct {
		name string
		do   func() error
		on   bool
	}{
		{"map the user", i.mapUser, i.User},
		{"close the memory", func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }, true}, // to the program; mapUser needs it open
		{"mount", func() error { return i.View.mount() }, i.View != nil},
		{"bring up the loopback device", raiseLo, i.Lo},
		{"listen for the proxy", i.listen, i.Listen},
		{"adopt", func() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }, !i.Alone},
		{"bound", i.Limit.apply, true},
		{"enter " + i.Dir, func() error { return os.Chdir(i.Dir) }, true},
		{"raise the wall", func() error { return i.Wall.raise() }, i.Wall != nil},
		{"lock", func() error { return i.Lock.apply() }, i.Lock != nil},
	}
	for _, s := range steps {
		if !s.on {
			continue
		}
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// follow ends with the agent, and so does everything in our namespace.
func (i *initial) follow() {
	for {
		n, err := i.agent.Read(make([]byte, 1))
		if n == 0 && err != nil {
			os.Exit(125)
		}
	}
}

// mapUser makes us who we were outside. The agent cannot do it: what cannot be
// looked into cannot be written to by its own user either.
func (i *initial) mapUser() error {
	uid, gid := strconv.Itoa(i.UID), strconv.Itoa(i.GID)
	for _, m := range [][2]string{
		{"/proc/self/uid_map", uid + " " + uid + " 1\n"},
		{"/proc/self/setgroups", "deny"},
		{"/proc/self/gid_map", gid + " " + gid + " 1\n"},
	} {
		if err := os.WriteFile(m[0], []byte(m[1]), 0); err != nil {
			return err
		}
	}
	return nil
}

func (i *initial) start() error {
	files := []uintptr{0, 1, 2}
	for n := range i.More {
		files = append(files, uintptr(3+n))
		unix.CloseOnExec(3 + n) // ForkExec passes on what is in files, and nothing else of it
	}
	pid, err := syscall.ForkExec(i.Path, i.Argv, &syscall.ProcAttr{
		Env: i.Env, Files: files,
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", i.Path, err)
	}
	i.pid = pid
	i.say(word{Started: true})
	return nil
}

// wait returns what the program has exited with, after what it left running has
// been given a moment.
func (i *initial) wait() int {
	if i.Watch {
		go i.watch()
	}
	var status syscall.WaitStatus
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return 125
		}
		if pid == i.pid {
			status = ws
			break
		}
	}
	w := word{Ended: true, Status: uint32(status)}
	if i.Alone {
		w.Left = i.linger()
	}
	i.say(w)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// linger reports whether something is left that does not end by itself.
func (i *initial) linger() bool {
	end := time.Now().Add(lingers)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
		if syscall.Kill(-1, 0) == syscall.ESRCH {
			return false
		}
		if time.Now().After(end) {
			return true
		}
		time.Sleep(pause)
	}
}

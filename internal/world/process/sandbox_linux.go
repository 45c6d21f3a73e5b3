package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-agent/belay/internal/world/process/proxy"
)

const (
	approved = "none, as approved" // the profile of what is allowed to do anything
	settle   = 10 * time.Second    // that setting up may take
	wordMax  = 4 << 10             // bytes of what init says
)

// cold has the usual programs make new caches, where the old ones can only be
// read. It is not for those that are also stores, such as that of Go's modules.
func cold(tmp string) []string {
	return []string{"XDG_CACHE_HOME=" + tmp + "/.cache", "GOCACHE=" + tmp + "/.cache/go-build"}
}

// fresh has the usual programs make the caches of s that are not there, which
// nothing can be laid over, in the temporary directory of the session.
func (s Sandbox) fresh(environ []string) (more []string) {
	for _, at := range s.Caches {
		if exists(at) {
			continue
		}
		switch filepath.Base(at) {
		case ".cache":
			more = append(more, "XDG_CACHE_HOME=/tmp/.cache")
		case ".npm":
			more = append(more, "npm_config_cache=/tmp/.npm")
		case "go":
			more = append(more, "GOMODCACHE=/tmp/.gomod")
		}
	}
	for _, kv := range environ { // what was set counts more than a usual place
		name, value, _ := strings.Cut(kv, "=")
		more = slices.DeleteFunc(more, func(m string) bool { return strings.HasPrefix(m, name+"=") })
		if value != "" && slices.Contains(s.Caches, filepath.Clean(value)) && !exists(value) {
			more = append(more, name+"=/tmp/.cache-"+name)
		}
	}
	return more
}

// A cage holds one command. All methods of a nil cage do nothing: nothing holds
// it.
type cage struct {
	profile string
	agent   *os.File   // our end of a socket to init
	theirs  []*os.File // what init gets of ours
	absent  []string   // protected paths that were not there
	bounds  *bounds
	reaches *proxy.Options // what of the network it may reach; nil is none, or all
	proxy   *proxy.Proxy
	free    func() // gives back its place in the caches
}

// confine turns cmd, which is ready to start, into one that is held to what its
// command is allowed. A nil cage means that there is no sandbox.
func (h *Host) confine(cmd *exec.Cmd, c Command, mark string) (*cage, error) {
	if h.sandbox.Program == "" {
		return nil, nil
	}
	g := h.sandbox.grant(c.Allowed)
	profile := Profile(approved)
	if !g.anything {
		profile = h.Profile()
	}
	if profile == approved || profile == None {
		if h.sandbox.Required {
			return nil, ErrUnheld
		}
		return &cage{profile: string(profile), bounds: h.bindMemory()}, nil
	}
	return h.cage(profile, g, cmd, mark)
}

// cage has Program start cmd, as profile says.
func (h *Host) cage(profile Profile, g grant, cmd *exec.Cmd, mark string) (k *cage, err error) {
	tmp, err := h.temporary()
	if err != nil {
		return nil, err
	}
	scene, err := h.sandbox.scene(g, tmp)
	if err != nil {
		return nil, err
	}
	o := order{
		Path: cmd.Path, Argv: cmd.Args, Env: append(slices.Clone(cmd.Env), "TMPDIR=/tmp"), Dir: cmd.Dir, More: len(cmd.ExtraFiles),
		UID: os.Geteuid(), GID: os.Getegid(),
		Lock: &lock{Inet: true, Modes: true}, Limit: h.sandbox.Limits,
	}
	k = &cage{profile: string(profile), absent: scene.absent}
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	program := []string{h.sandbox.Program}
	switch profile {
	case Full, Namespaces:
		o.Alone, o.View, o.Lo = true, &scene.view, !g.network
		o.User = profile == Full
		if scene.Over, k.free, err = h.layers(); err != nil {
			return nil, err
		}
		scene.User = o.User
		o.Env = append(o.Env, h.sandbox.fresh(o.Env)...)
		k.isolate(cmd.SysProcAttr, o.User, g.network)
	case Bubblewrap:
		o.Alone = true
		o.Env = append(o.Env, cold("/tmp")...)
		if program, err = bubblewrap(scene.view, h.sandbox.Program, g.network); err != nil {
			return nil, err
		}
	case Landlock:
		g.network = g.network || len(g.hosts) > 0 // it cannot tell hosts apart
		o.Env = append(append(o.Env, cold(tmp)...), "TMPDIR="+tmp)
		o.Lock = &lock{Inet: g.network, Modes: g.inside || len(g.outside) > 0}
	}
	o.Wall = scene.wall(o.Alone)
	if g.network {
		k.profile += ", network open"
	} else {
		k.reach(g.hosts, h.sandbox, &o)
	}
	k.bounds = h.bind(&o)
	return k, k.connect(o, cmd, program, mark)
}

// isolate has what attr starts begin in namespaces of its own.
func (k *cage) isolate(attr *syscall.SysProcAttr, user, network bool) {
	attr.Cloneflags |= unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	if !network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	if user {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.AmbientCaps = []uintptr{unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_SETPCAP, unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE}
	}
}

// connect makes cmd start init instead, which gets o and a socket to us.
func (k *cage) connect(o order, cmd *exec.Cmd, program []string, mark string) error {
	paper, err := scratch("order")
	if err != nil {
		return err
	}
	k.theirs = append(k.theirs, paper)
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := paper.Write(b); err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	_ = unix.SetNonblock(pair[0], true) // so that the runtime waits for it
	k.agent = os.NewFile(uintptr(pair[0]), "init")
	k.theirs = append(k.theirs, os.NewFile(uintptr(pair[1]), "agent"))

	first := 3 + len(cmd.ExtraFiles)
	cmd.ExtraFiles = append(slices.Clone(cmd.ExtraFiles), k.theirs...)
	cmd.Path = program[0]
	cmd.Args = append(program, initRole, strconv.Itoa(first+1), strconv.Itoa(first))
	cmd.Dir = "/"
	cmd.Env = []string{mark, "GOMAXPROCS=2"} // the keys of others are in neither environment
	return nil
}

// begin is told of the start of cmd, or of err. It returns once the program runs,
// or why it does not.
func (k *cage) begin(cmd *exec.Cmd, err error) error {
	if k == nil || k.agent == nil {
		switch {
		case k == nil:
		case err != nil:
			k.bounds.end()
		default:
			k.bounds.offer(cmd.Process.Pid)
		}
		return err
	}
	closeAll(k.theirs...)
	k.theirs = nil
	if err != nil {
		k.close()
		return fmt.Errorf("start a sandbox: %w", err)
	}
	var first word
	_ = k.agent.SetReadDeadline(time.Now().Add(settle))
	first, err = k.hear() // so all there is now is there: with bwrap, init is not what we started
	if err == nil {
		err = k.bounds.hold(family(cmd.Process.Pid))
	}
	if err == nil {
		_, err = k.agent.Write([]byte{1})
	}
	if err == nil {
		first, err = k.hear()
	}
	if err == nil && first.Listens {
		first, err = k.hear()
	}
	switch {
	case err != nil:
		err = fmt.Errorf("set up a sandbox: %w", err)
	case first.Started:
		return nil
	case first.Errno != 0:
		err = &unset{first.Failed, syscall.Errno(first.Errno)}
	default:
		err = &unset{first.Failed, nil}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	cmd.Process = nil // nothing of the command has run
	k.close()
	return err
}

// An unset is why a sandbox was not set up.
type unset struct {
	what  string
	errno error
}

func (u *unset) Error() string { return "in the sandbox: " + u.what }
func (u *unset) Unwrap() error { return u.errno }

func (k *cage) hear() (w word, err error) {
	b := make([]byte, wordMax)
	n, f, err := k.receive(b)
	if f != nil {
		err = errors.Join(err, k.serve(f))
	}
	if err != nil {
		return w, err
	}
	if n == 0 {
		return w, io.EOF
	}
	return w, json.Unmarshal(b[:n], &w)
}

// end says in e how the program ended, whose sandbox ended as s says.
func (k *cage) end(e *Exit, s *os.ProcessState) {
	e.Code, e.Signal = status(s)
	if k == nil || k.agent == nil {
		if k != nil {
			e.Memory = k.bounds.end()
		}
		return
	}
	_ = k.agent.SetReadDeadline(time.Now().Add(time.Second))
	if last, err := k.hear(); err == nil && last.Ended {
		e.Code, e.Signal = statusOf(syscall.WaitStatus(last.Status))
		e.Left, e.Memory = last.Left, last.Greedy
	}
	e.Refused = k.refused()
	e.Memory = k.bounds.end() || e.Memory
	for _, path := range k.absent {
		if _, err := os.Lstat(path); err == nil {
			e.Made = append(e.Made, path)
			if filepath.Base(path) == redirectFile { // whoever runs git next would run what is there
				_ = os.Remove(path)
			}
		}
	}
	k.close()
}

func (k *cage) close() {
	if k == nil {
		return
	}
	closeAll(k.theirs...)
	closeAll(k.agent)
	if k.proxy != nil {
		k.proxy.Close()
		k.proxy = nil
	}
	k.bounds.end()
	if k.free != nil {
		k.free()
		k.free = nil
	}
}

// whole reports whether all of what k holds ends with its first process.
func (k *cage) whole() bool {
	return k != nil && k.agent != nil && !strings.HasPrefix(k.profile, string(Landlock))
}

func (k *cage) held() string {
	if k == nil {
		return string(None)
	}
	return k.profile
}

// probe finds out, once, how commands can be held here.
func (h *Host) probe() (Profile, map[Profile]string) {
	h.probed.Do(func() {
		h.profile, h.gaps = None, map[Profile]string{}
		if h.sandbox.Program == "" {
			return
		}
		for _, p := range []Profile{Full, Bubblewrap, Namespaces, Landlock} {
			if h.sandbox.Only != "" && p != h.sandbox.Only {
				continue
			}
			if err := h.try(p); err != nil {
				h.gaps[p] = err.Error()
				continue
			}
			h.profile = p
			return
		}
	})
	return h.profile, h.gaps
}

// try runs a program that does nothing in profile p.
func (h *Host) try(p Profile) error {
	if p == Namespaces && os.Geteuid() != 0 {
		return errors.New("only root can")
	}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"belay", probeRole}, Dir: "/", SysProcAttr: attributes(),
	}
	k, err := h.cage(p, grant{inside: true}, cmd, runEntry+"probe")
	if err != nil {
		return err
	}
	var said strings.Builder
	cmd.Stderr = &said
	err = kin.start(cmd, false)
	if child := cmd.Process; err == nil {
		defer kin.waited(child)
	}
	if err := k.begin(cmd, err); err != nil {
		return fmt.Errorf("%w %s", err, strings.TrimSpace(said.String()))
	}
	_ = cmd.Wait() // ProcessState says more
	var e Exit
	k.end(&e, cmd.ProcessState)
	if e.Code != 0 {
		return fmt.Errorf("a program that does nothing ended with %d %s", e.Code, e.Signal)
	}
	return nil
}

package process_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A target is what is outside of a sandbox, for who is inside.
type target struct {
	Root   string // of the workspace
	Out    string // directory outside: file, dir, socket
	Hidden string // directory that must not be seen: key
	Secret string // file that must not be seen
	Canary string // what those and the agent's environment hold, with its letters in reverse order
	TCP    []string
	UDP    string
	Name   string // of an abstract socket
	Victim int    // a process of the same user
	Agent  int
	Suid   string // the program id, as root
}

func (t target) out(elem ...string) string {
	return filepath.Join(append([]string{t.Out}, elem...)...)
}
func (t target) in(elem ...string) string {
	return filepath.Join(append([]string{t.Root}, elem...)...)
}

// mend puts back what an attempt that got out took away.
func (t target) mend() {
	for path, text := range map[string]string{
		t.out("file"): "outside\n", t.Secret: string(t.canary()), filepath.Join(t.Hidden, "key"): string(t.canary()),
		t.in(".git/config"): "[core]\n", t.in(".git/hooks/there"): "", t.in(".envrc"): "", t.in(".github/workflows/ci.yml"): "",
	} {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			_ = os.MkdirAll(filepath.Dir(path), 0o755)
			_ = os.WriteFile(path, []byte(text), 0o644)
		}
	}
	_ = os.Mkdir(t.out("dir"), 0o755)
}

// canary returns what must not be found.
func (t target) canary() []byte {
	b := []byte(t.Canary)
	slices.Reverse(b)
	return b
}

// errWhole is what an attempt returns that did something which harms nobody here.
var errWhole = errors.New("it did nothing outside")

// An attempt to get out. It failed if it returns an error.
type attempt struct {
	name string
	do   func(t target) error
}

// attempts are real: each of them succeeds outside of a sandbox, for root or for
// the user that the files belong to.
var attempts = []attempt{
	{"create a file", func(t target) error { return os.WriteFile(t.out("new"), nil, 0o600) }},
	{"append to a file", func(t target) error { return appendTo(t.out("file")) }},
	{"truncate a file", func(t target) error { return os.Truncate(t.out("file"), 0) }},
	{"open a file to write", func(t target) error { return opens(t.out("file"), unix.O_RDWR) }},
	{"open and truncate for reading", func(t target) error { return opens(t.out("file"), unix.O_RDONLY|unix.O_TRUNC) }},
	{"remove a file", func(t target) error { return unix.Unlink(t.out("file")) }},
	{"make a directory", func(t target) error { return os.Mkdir(t.out("new-dir"), 0o700) }},
	{"remove a directory", func(t target) error { return unix.Rmdir(t.out("dir")) }},
	{"rename outside", func(t target) error { return os.Rename(t.out("file"), t.out("file2")) }},
	{"rename out", func(t target) error { return os.Rename(made(t, "move-out"), t.out("moved")) }},
	{"rename in", func(t target) error { return os.Rename(t.out("file"), t.in("moved-in")) }},
	{"exchange", func(t target) error {
		return unix.Renameat2(unix.AT_FDCWD, made(t, "exchange"), unix.AT_FDCWD, t.out("file"), unix.RENAME_EXCHANGE)
	}},
	{"link in and write", func(t target) error {
		if err := os.Link(t.out("file"), t.in("link-in")); err != nil {
			return err
		}
		return appendTo(t.in("link-in"))
	}},
	{"link out", func(t target) error { return os.Link(made(t, "link-out"), t.out("linked")) }},
	{"write through a symbolic link", func(t target) error {
		_ = os.Symlink(t.out("file"), t.in("symlink"))
		return appendTo(t.in("symlink"))
	}},
	{"make a symbolic link outside", func(t target) error { return os.Symlink("/", t.out("symlink")) }},
	{"write by a path with dots", func(t target) error { return appendTo(t.Root + "/../out/file") }},
	{"write by a descriptor's path", func(t target) error {
		return withFd(t.out("file"), func(fd int) error { return appendTo(fmt.Sprintf("/proc/self/fd/%d", fd)) })
	}},
	{"chmod", func(t target) error { return unix.Chmod(t.out("file"), 0o666) }},
	{"fchmod of what is open for reading", func(t target) error {
		return withFd(t.out("file"), func(fd int) error { return unix.Fchmod(fd, 0o666) })
	}},
	{"fchmodat2", func(t target) error {
		return unix.Fchmodat(unix.AT_FDCWD, t.out("file"), 0o666, unix.AT_SYMLINK_NOFOLLOW)
	}},
	{"chown", func(t target) error { return unix.Chown(t.out("file"), os.Getuid(), os.Getgid()) }},
	{"fchown", func(t target) error {
		return withFd(t.out("file"), func(fd int) error { return unix.Fchown(fd, os.Getuid(), os.Getgid()) })
	}},
	{"change times", func(t target) error { return os.Chtimes(t.out("file"), time.Unix(1, 0), time.Unix(1, 0)) }},
	{"change times of what is open", func(t target) error {
		return withFd(t.out("file"), func(fd int) error { return unix.Futimes(fd, []unix.Timeval{{Sec: 1}, {Sec: 1}}) })
	}},
	{"setxattr", func(t target) error { return unix.Setxattr(t.out("file"), "user.x", []byte("y"), 0) }},
	{"fsetxattr", func(t target) error {
		return withFd(t.out("file"), func(fd int) error { return unix.Fsetxattr(fd, "user.x", []byte("y"), 0) })
	}},
	{"removexattr", func(t target) error { return unix.Removexattr(t.out("file"), "user.there") }},
	{"chattr", func(t target) error {
		return withFd(t.out("file"), func(fd int) error {
			flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
			if err != nil {
				return err
			}
			return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|0x40) // not for backups
		})
	}},
	{"make a pipe", func(t target) error { return unix.Mkfifo(t.out("fifo"), 0o600) }},
	{"make a nameless file and link it", func(t target) error {
		fd, err := unix.Open(t.Out, unix.O_TMPFILE|unix.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, t.out("nameless"), unix.AT_SYMLINK_FOLLOW)
	}},
	{"bind a socket outside", func(t target) error {
		l, err := net.Listen("unix", t.out("bound"))
		if err == nil {
			_ = l.Close()
		}
		return err
	}},
	{"write with a shell", func(t target) error { return sh("echo x >> " + t.out("file")) }},
	{"copy with cp", func(t target) error { return sh("cp /etc/hostname " + t.out("copied")) }},
	{"write with sed -i", func(t target) error { return sh("sed -i s/a/b/ " + t.out("file")) }},
	{"write with dd", func(t target) error { return sh("dd if=/dev/zero of=" + t.out("file") + " bs=1 count=1 conv=notrunc") }},
	{"write in /etc", func(t target) error { return opens("/etc/belay-test", unix.O_CREAT|unix.O_WRONLY) }},
	{"preload into every program", func(t target) error { return opens("/etc/ld.so.preload", unix.O_CREAT|unix.O_WRONLY) }},

	{"add a hook", func(t target) error { return os.WriteFile(t.in(".git/hooks/pre-commit"), []byte("#!/bin/sh\n"), 0o755) }},
	{"change a hook", func(t target) error { return appendTo(t.in(".git/hooks/there")) }},
	{"change the settings of git", func(t target) error { return appendTo(t.in(".git/config")) }},
	{"replace the settings of git", func(t target) error { return os.Rename(made(t, "config"), t.in(".git/config")) }},
	{"move .git away", func(t target) error { return os.Rename(t.in(".git"), t.in(".git2")) }},
	{"move .git/hooks away", func(t target) error { return os.Rename(t.in(".git/hooks"), t.in(".git/hooks2")) }},
	{"change a protected file", func(t target) error { return appendTo(t.in(".envrc")) }},
	{"replace a protected file", func(t target) error { return os.Rename(made(t, "envrc"), t.in(".envrc")) }},
	{"add to a protected directory", func(t target) error { return os.WriteFile(t.in(".github/workflows/evil.yml"), nil, 0o600) }},
	{"move what a protected directory is in", func(t target) error { return os.Rename(t.in(".github"), t.in(".github2")) }},

	{"mount", func(t target) error { return unix.Mount("tmpfs", t.in("dir"), "tmpfs", 0, "") }},
	{"remount the root", func(t target) error { return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") }},
	{"bind what is outside into the workspace", func(t target) error { return unix.Mount(t.Out, t.in("dir"), "", unix.MS_BIND, "") }},
	{"unmount /proc", func(target) error { return unix.Unmount("/proc", unix.MNT_DETACH) }},
	{"unmount what covers a key", func(t target) error { return unix.Unmount(t.Hidden, unix.MNT_DETACH) }},
	{"clear read-only", func(target) error {
		return unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	}},
	{"copy a mount", func(t target) error {
		_, err := unix.OpenTree(unix.AT_FDCWD, t.Out, unix.OPEN_TREE_CLONE)
		return err
	}},
	{"make a file system", func(target) error { _, err := unix.Fsopen("tmpfs", 0); return err }},
	{"pivot_root", func(t target) error { return unix.PivotRoot(t.Root, t.in("dir")) }},
	{"chroot", func(t target) error { return unix.Chroot(t.Root) }},
	{"unshare users", func(target) error { return try(unix.SYS_UNSHARE, unix.CLONE_NEWUSER) }},
	{"unshare mounts", func(target) error { return try(unix.SYS_UNSHARE, unix.CLONE_NEWNS) }},
	{"start in new namespaces", func(target) error {
		c := exec.Command("true")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS}
		return c.Run()
	}},
	{"start in new namespaces with unshare", func(target) error { return sh("unshare -Urm true") }},
	{"enter the namespaces of process 1", func(target) error {
		return withFd("/proc/1/ns/mnt", func(fd int) error { return unix.Setns(fd, 0) })
	}},

	{"write by the root of process 1", func(t target) error { return appendTo("/proc/1/root" + t.out("file")) }},
	{"write by the root of the agent", func(t target) error { return appendTo(fmt.Sprintf("/proc/%d/root%s", t.Agent, t.out("file"))) }},
	{"open the memory of process 1", func(target) error { return opens("/proc/1/mem", unix.O_RDWR) }},
	{"open the memory of the agent", func(t target) error { return ofAgent(t, "mem") }},
	{"read the environment of process 1", func(target) error { return opens("/proc/1/environ", unix.O_RDONLY) }},
	{"find the key in an environment", func(t target) error { return grep(t, "/proc/[0-9]*/environ") }},
	{"find the key in a command line", func(t target) error { return grep(t, "/proc/[0-9]*/cmdline") }},
	{"set the program that gets cores", func(target) error { return opens("/proc/sys/kernel/core_pattern", unix.O_WRONLY) }},
	{"open the key to the kernel", func(target) error { return opens("/proc/sysrq-trigger", unix.O_WRONLY) }},
	{"set a knob in /sys", func(target) error { return opens("/sys/kernel/mm/transparent_hugepage/enabled", unix.O_WRONLY) }},
	{"make a control group", func(target) error { return makeGroup() }},
	{"trace process 1", func(target) error { return unix.PtraceSeize(1) }},
	{"trace a process of the same user", func(t target) error { return unix.PtraceSeize(t.Victim) }},
	{"be traced", func(target) error { return try(unix.SYS_PTRACE, unix.PTRACE_TRACEME) }},
	{"read another process", func(t target) error {
		b := make([]byte, 8)
		_, err := unix.ProcessVMReadv(t.Victim, []unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&b[0])), Len: 8}}, 0)
		if errors.Is(err, unix.EFAULT) {
			return nil // it was let look
		}
		return err
	}},
	{"signal a process of the same user", func(t target) error { return unix.Kill(t.Victim, unix.SIGTERM) }},
	{"signal it by a descriptor", func(t target) error {
		fd, err := unix.PidfdOpen(t.Victim, 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0)
	}},
	{"take a descriptor of another process", func(t target) error {
		fd, err := unix.PidfdOpen(t.Victim, 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(fd, 0, 0)
		return err
	}},
	{"become root by a program of root's", func(t target) error { return setuid(t) }},
	{"setuid", func(target) error {
		if os.Getuid() == 0 {
			return try(unix.SYS_SETUID, 1)
		}
		return try(unix.SYS_SETUID, 0)
	}},

	{"connect to a service by its file", func(t target) error { return dial("unix", t.out("socket")) }},
	{"connect to a service by its name", func(t target) error { return dial("unix", "@"+t.Name) }},
	{"connect to the loopback of the system", func(t target) error { return dialAny(t) }},
	{"connect by multipath TCP", func(t target) error { return multipath(t) }},
	{"send a datagram", func(t target) error { return datagram(t) }},
	{"connect with bash", func(t target) error {
		host, port, _ := net.SplitHostPort(t.TCP[0])
		return sh("exec 9<>/dev/tcp/" + host + "/" + port)
	}},
	{"a raw socket", func(target) error { return socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) }},
	{"a packet socket", func(target) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
	{"a socket to the auditor", func(target) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT) }},
	{"a socket to the firewall", func(target) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER) }},
	{"a socket to the hypervisor", func(target) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
	{"a socket to the crypto of the kernel", func(target) error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) }},

	{"io_uring", func(target) error {
		var p [120]byte
		return try(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&p)))
	}},
	{"bpf", func(target) error { var p [120]byte; return try(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&p)), 120) }},
	{"userfaultfd", func(target) error { return try(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1) }},
	{"read the keyring", func(target) error { return try(unix.SYS_KEYCTL, 0, ^uintptr(2), 1) }},
	{"open by handle", func(t target) error { return byHandle(t) }},
	{"perf_event_open", func(target) error {
		var p [120]byte
		return try(unix.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&p)), 0, ^uintptr(0), ^uintptr(0))
	}},
	{"push input to a terminal", func(target) error { return pushInput() }},
	{"open a disk", func(target) error { return anyDevice(unix.S_IFBLK) }},
	{"open a device of the kernel", func(target) error {
		for _, name := range []string{"mem", "kmsg", "kvm", "fuse", "loop-control", "vhost-net", "net/tun"} {
			if opens("/dev/"+name, unix.O_RDWR) == nil {
				return nil
			}
		}
		return fs.ErrPermission
	}},
	{"make a disk and open it", func(t target) error {
		if err := unix.Mknod(t.in("disk"), unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0))); err != nil {
			return err
		}
		return opens(t.in("disk"), unix.O_RDONLY)
	}},

	{"read a hidden key", func(t target) error { return reads(t, filepath.Join(t.Hidden, "key")) }},
	{"list a hidden directory", func(t target) error { _, err := os.ReadDir(t.Hidden); return err }},
	{"read a hidden key by a link", func(t target) error {
		_ = os.Symlink(t.Hidden, t.in("to-hidden"))
		return reads(t, t.in("to-hidden", "key"))
	}},
	{"read a hidden key by process 1", func(t target) error { return reads(t, "/proc/1/root"+filepath.Join(t.Hidden, "key")) }},
	{"chmod what hides", func(t target) error { return os.Chmod(t.Hidden, 0o700) }},
	{"remove what hides", func(t target) error { return os.Remove(t.Secret) }},
	{"read a secret", func(t target) error { return reads(t, t.Secret) }},
	{"find a descriptor of the agent", func(target) error { return extraFd() }},
}

func made(t target, name string) string {
	_ = os.WriteFile(t.in(name), []byte("made inside\n"), 0o600)
	return t.in(name)
}

func opens(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

func appendTo(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("written inside\n")
	return err
}

func withFd(path string, do func(fd int) error) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}

func sh(script string) error {
	out, err := exec.Command("bash", "-c", script).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %.200s", err, out)
	}
	return nil
}

func try(call uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, errno := unix.Syscall6(call, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

func socket(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

func dial(network, address string) error {
	c, err := net.DialTimeout(network, address, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err
}

func dialAny(t target) (err error) {
	for _, address := range t.TCP {
		if err = dial("tcp", address); err == nil {
			return nil
		}
	}
	return err
}

func multipath(t target) error {
	_, port, _ := net.SplitHostPort(t.TCP[0])
	n, _ := strconv.Atoi(port)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
	if err != nil {
		return err
	}
	return unix.Connect(fd, &unix.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}})
}

// datagram cannot know whether it came through: the other side does.
func datagram(t target) error {
	c, err := net.Dial("udp", t.UDP)
	if err != nil {
		return err
	}
	if _, err = c.Write([]byte("out")); err == nil {
		err = errWhole
	}
	return err
}

func reads(t target, path string) error {
	b, err := os.ReadFile(path)
	if err == nil && !bytes.Contains(b, t.canary()) {
		return errWhole
	}
	return err
}

// grep looks for the canary in the files of other processes than this one.
func grep(t target, pattern string) error {
	paths, _ := filepath.Glob(pattern)
	for _, path := range paths {
		if strings.HasPrefix(path, fmt.Sprintf("/proc/%d/", os.Getpid())) || strings.HasPrefix(path, fmt.Sprintf("/proc/%d/", os.Getppid())) {
			continue
		}
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, t.canary()) {
			return nil
		}
	}
	return fs.ErrNotExist
}

func ofAgent(t target, file string) error {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", t.Agent))
	if err != nil {
		return err
	}
	if !bytes.Contains(comm, []byte("test")) {
		return errWhole // another process with that number
	}
	return opens(fmt.Sprintf("/proc/%d/%s", t.Agent, file), unix.O_RDONLY)
}

func makeGroup() error {
	for _, dir := range []string{"", "/unified", "/memory", "/pids"} {
		path := "/sys/fs/cgroup" + dir + "/belay-escape"
		if os.Mkdir(path, 0o755) == nil {
			return os.Remove(path)
		}
	}
	return fs.ErrPermission
}

func setuid(t target) error {
	if os.Getuid() == 0 {
		return errWhole
	}
	out, err := exec.Command(t.Suid, "-u").Output()
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(out)) != "0" {
		return errWhole
	}
	return nil
}

func byHandle(t target) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, t.out("file"), 0)
	if err != nil {
		return err
	}
	return withFd("/", func(fd int) error {
		_, err := unix.OpenByHandleAt(fd, handle, unix.O_RDWR)
		return err
	})
}

func pushInput() error {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	c := byte('x')
	return try(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
}

func anyDevice(kind uint32) error {
	entries, err := os.ReadDir("/dev")
	if err != nil {
		return err
	}
	for _, e := range entries {
		var s unix.Stat_t
		path := "/dev/" + e.Name()
		if unix.Lstat(path, &s) == nil && s.Mode&unix.S_IFMT == kind && opens(path, unix.O_RDONLY) == nil {
			return nil
		}
	}
	return fs.ErrNotExist
}

// extraFd looks for a descriptor that we opened none of.
func extraFd() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if n, _ := strconv.Atoi(e.Name()); err == nil && n > 2 && !strings.HasPrefix(to, "/proc/") && !strings.HasPrefix(to, "/sys/fs/cgroup/") && !strings.HasPrefix(to, "anon_inode:") {
			fmt.Println(e.Name(), to)
			return nil
		}
	}
	return fs.ErrNotExist
}

// An outcome is how an attempt ended.
type outcome struct {
	Name string
	Err  string // "" is an escape
	Said string
}

// escape runs every attempt in a process of its own, and prints the outcomes.
func escape() {
	if name := os.Getenv("ATTEMPT"); name != "" {
		escape1(name)
		return
	}
	var t target
	if err := json.Unmarshal([]byte(os.Getenv("TARGET")), &t); err != nil {
		fmt.Println(err)
		return
	}
	out := json.NewEncoder(os.Stdout)
	for _, a := range attempts {
		t.mend()
		c := exec.Command("/proc/self/exe")
		c.Env = append(os.Environ(), "ATTEMPT="+a.name)
		said, err := c.CombinedOutput()
		o := outcome{Name: a.name, Said: string(said)}
		if err != nil {
			o.Err = fmt.Sprintf("%v: %.300s", err, said)
		}
		_ = out.Encode(o)
	}
}

func escape1(name string) {
	var t target
	if err := json.Unmarshal([]byte(os.Getenv("TARGET")), &t); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	time.AfterFunc(5*time.Second, func() { fmt.Println("it took too long"); os.Exit(2) })
	i := slices.IndexFunc(attempts, func(a attempt) bool { return a.name == name })
	if err := attempts[i].do(t); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

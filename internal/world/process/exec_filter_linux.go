package process

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// arches are the architectures that there is a filter for. The filter ends what
// calls the system in another one's way: its numbers mean other calls.
var arches = map[string]uint32{
	"amd64": unix.AUDIT_ARCH_X86_64,
	"arm64": unix.AUDIT_ARCH_AARCH64,
}

// refused are the calls that every command does without. Most of them would need
// capabilities; they are the ones through which kernels were broken into.
var refused = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_PERF_EVENT_OPEN, unix.SYS_BPF, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	openTreeAttr, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
}

// modes are the calls that change what a file is but for its content, which
// Landlock does not see.
var modes = []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	setxattrat, removexattrat, fileSetattr,
}

// Calls that have the same number everywhere, and no name yet.
const (
	setxattrat    = 463
	removexattrat = 466
	openTreeAttr  = 467
	fileSetattr   = 469
)

const (
	newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	x32 = 0x40000000 // what the numbers of the third way to call an amd64 kernel start at

	fsSetFlags = 0x40086602 // ioctls that change attributes
	fsSetXattr = 0x401c5820
)

// Where a filter finds what it decides by, on a little-endian machine.
const (
	atNumber = 0
	atArch   = 4
	atArgs   = 16 // 8 bytes each
)

// filter returns the program that the kernel asks about each system call.
func (l *lock) filter(arch string) ([]unix.SockFilter, error) {
	id, ok := arches[arch]
	if !ok {
		return nil, fmt.Errorf("there is no filter of system calls for %s", arch)
	}
	var p assembly
	p.load(atArch)
	p.unless(id, kill)
	p.load(atNumber)
	if arch == "amd64" {
		p.from(x32, deny(unix.ENOSYS))
	}
	p.is(unix.SYS_CLONE3, deny(unix.ENOSYS)) // its flags are out of sight; clone does as well
	for _, call := range slices.Concat(refused, refusedHere) {
		p.is(call, deny(unix.EPERM))
	}
	if !l.Modes {
		for _, call := range slices.Concat(modes, modesHere) {
			p.is(call, deny(unix.EPERM))
		}
	}
	p.on(unix.SYS_CLONE, func(p *assembly) {
		p.load(atArgs)
		p.any(newNamespaces, deny(unix.EPERM))
	})
	p.on(unix.SYS_IOCTL, func(p *assembly) {
		p.load(atArgs + 8)
		p.is(unix.TIOCSTI, deny(unix.EPERM))
		p.is(unix.TIOCLINUX, deny(unix.EPERM))
		if !l.Modes {
			p.is(fsSetFlags, deny(unix.EPERM))
			p.is(fsSetXattr, deny(unix.EPERM))
		}
	})
	p.on(unix.SYS_SOCKET, l.sockets)
	p.ret(unix.SECCOMP_RET_ALLOW)
	return p, nil
}

// sockets decides about a new socket. Those of services on this machine are
// files, which a read-only view does not keep from being connected to.
func (l *lock) sockets(p *assembly) {
	if l.Inet {
		p.load(atArgs + 16)
		p.is(unix.IPPROTO_MPTCP, deny(unix.EPERM)) // Landlock does not see it
		p.load(atArgs)
		p.is(unix.AF_INET, unix.SECCOMP_RET_ALLOW)
		p.is(unix.AF_INET6, unix.SECCOMP_RET_ALLOW)
		p.unless(unix.AF_NETLINK, deny(unix.EPERM))
		p.load(atArgs + 16)
		p.is(unix.NETLINK_ROUTE, unix.SECCOMP_RET_ALLOW) // the list of addresses
	}
	p.ret(deny(unix.EPERM))
}

const kill = unix.SECCOMP_RET_KILL_PROCESS

func deny(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// An assembly is a filter in the making.
type assembly []unix.SockFilter

func (p *assembly) add(code uint16, k uint32, yes, no uint8) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (p *assembly) load(offset uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }
func (p *assembly) ret(what uint32)    { p.add(unix.BPF_RET|unix.BPF_K, what, 0, 0) }

// is, unless, from and any return what if the value loaded is k, is not k, is k
// or more, or has a bit of k.
func (p *assembly) is(k, what uint32) {
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, 1)
	p.ret(what)
}

func (p *assembly) unless(k, what uint32) {
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 1, 0)
	p.ret(what)
}

func (p *assembly) from(k, what uint32) {
	p.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, k, 0, 1)
	p.ret(what)
}

func (p *assembly) any(k, what uint32) {
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, k, 0, 1)
	p.ret(what)
}

// on decides about call alone. It loads the number again for what comes after.
func (p *assembly) on(call uint32, decide func(*assembly)) {
	var inner assembly
	decide(&inner)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, call, 0, uint8(len(inner)))
	*p = append(*p, inner...)
	p.load(atNumber)
}

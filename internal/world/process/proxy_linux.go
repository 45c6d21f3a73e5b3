package process

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/belay-agent/belay/internal/world/process/proxy"
)

// proxyPort is where, on the loopback device of its own network, a command finds
// the proxy. It is none that the system gives out by itself.
const proxyPort = 61080

// reach has the command of o, which has no network, reach hosts through a proxy
// of ours.
func (k *cage) reach(hosts []string, s Sandbox, o *order) {
	if len(hosts) == 0 {
		return
	}
	k.reaches = &proxy.Options{Hosts: hosts, Upstream: s.Upstream, Direct: s.Direct}
	o.Listen = true
	inside := slices.DeleteFunc([]string{"localhost", "127.0.0.1", "::1"}, func(name string) bool { return slices.Contains(hosts, name) })
	o.Env = proxy.Environ(o.Env, fmt.Sprintf("127.0.0.1:%d", proxyPort), inside)
	k.profile += openTo + strings.Join(hosts, ", ")
}

// serve serves the command on the listener f, which init has made in its network.
func (k *cage) serve(f *os.File) error {
	defer f.Close()
	if k.reaches == nil || k.proxy != nil {
		return nil
	}
	l, err := net.FileListener(f)
	if err != nil {
		return err
	}
	k.proxy = proxy.Serve(l, *k.reaches)
	return nil
}

// refused returns the hosts that the command was not let reach.
func (k *cage) refused() []string {
	if k.proxy == nil {
		return nil
	}
	return k.proxy.Refused()
}

// listen makes the listener of the proxy, and gives it away: so the agent accepts
// in a network that it is not in.
func (i *initial) listen() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: proxyPort, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return err
	}
	return control(i.agent, func(agent int) error {
		return unix.Sendmsg(agent, []byte(`{"listens":true}`), unix.UnixRights(fd), nil, 0)
	})
}

// receive reads a message of init, and what it gives away with it; f is nil if
// that is nothing.
func (k *cage) receive(b []byte) (n int, f *os.File, err error) {
	conn, err := k.agent.SyscallConn()
	if err != nil {
		return 0, nil, err
	}
	rights := make([]byte, unix.CmsgSpace(4))
	var failed error
	got := 0
	err = conn.Read(func(fd uintptr) bool {
		n, got, _, _, failed = unix.Recvmsg(int(fd), b, rights, unix.MSG_CMSG_CLOEXEC)
		return failed != unix.EAGAIN && failed != unix.EINTR
	})
	if err == nil {
		err = failed
	}
	if err != nil || got == 0 {
		return max(n, 0), nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:got])
	if err != nil {
		return n, nil, err
	}
	for _, m := range messages {
		if fds, err := unix.ParseUnixRights(&m); err == nil && len(fds) > 0 {
			f = os.NewFile(uintptr(fds[0]), "listener")
		}
	}
	return n, f, nil
}

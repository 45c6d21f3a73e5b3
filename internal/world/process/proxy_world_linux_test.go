package process_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// The network that the agent is in has one way out, to the world: a namespace in
// which every address there is answers, and where every packet that comes is
// counted.
const (
	agentAddr4, worldAddr4 = "45.45.45.1", "45.45.45.2"
	agentAddr6, worldAddr6 = "2600:1234::1", "2600:1234::2"
	worldDNS               = "9.9.9.9"
)

// A traffic is what has come to the world: bytes by address, and names that were
// asked for.
type traffic struct {
	Packets map[string]int `json:"packets"`
	Bytes   map[string]int `json:"bytes"` // of TCP and UDP
	Asked   []string       `json:"asked"`
}

// A world is the rest of the internet.
type world struct {
	mu    sync.Mutex
	came  *sync.Cond
	seen  traffic
	times map[string]int // that a name was asked for
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// playWorld is the program that is the world: it begins with the first line of its
// input, and answers each further one with what has come since the last.
func playWorld() {
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	w := &world{times: make(map[string]int)}
	w.came = sync.NewCond(&w.mu)
	w.reset()
	if err := w.open(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	for in.Scan() {
		w.mu.Lock()
		for w.seen.Packets[worldAddr4] == 0 { // the mark behind all that came before
			w.came.Wait()
		}
		delete(w.seen.Packets, worldAddr4)
		b, _ := json.Marshal(w.seen)
		w.reset()
		w.mu.Unlock()
		fmt.Println(string(b))
	}
}

func (w *world) reset() { w.seen = traffic{Packets: map[string]int{}, Bytes: map[string]int{}} }

func (w *world) open() error {
	for _, args := range []string{
		"link set lo up", "addr add " + worldAddr4 + "/30 dev in", "addr add " + worldAddr6 + "/64 dev in nodad", "link set in up",
		"route add local 0.0.0.0/0 dev lo table main", "-6 route add local ::/0 dev lo table main",
	} {
		if err := ip(strings.Fields(args)...); err != nil {
			return err
		}
	}
	if err := w.listen(); err != nil {
		return err
	}
	for _, port := range []string{":80", ":8080"} {
		l, err := net.Listen("tcp", port)
		if err != nil {
			return err
		}
		go func() { _ = http.Serve(l, http.HandlerFunc(serveWorld)) }()
	}
	l, err := tls.Listen("tcp", ":443", &tls.Config{Certificates: []tls.Certificate{certificate()}})
	if err != nil {
		return err
	}
	go func() {
		_ = (&http.Server{Handler: http.HandlerFunc(serveWorld), ErrorLog: log.New(io.Discard, "", 0)}).Serve(l)
	}()
	banner, err := net.Listen("tcp", ":22")
	if err != nil {
		return err
	}
	go func() {
		for {
			c, err := banner.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "served a banner\n")
			_ = c.Close()
		}
	}()
	return w.resolve()
}

func serveWorld(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/to":
		http.Redirect(w, r, r.URL.RawQuery, http.StatusFound)
	case r.URL.Path == "/big":
		_, _ = w.Write(make([]byte, 1<<20))
	case strings.HasPrefix(r.URL.Path, "/git/"):
		http.StripPrefix("/git/", http.FileServer(http.Dir(os.Getenv("WORLD_DIR")))).ServeHTTP(w, r)
	default:
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "served %s %s %d\n", r.Host, r.Method, n)
	}
}

func certificate() tls.Certificate {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	der, _ := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1)}, &x509.Certificate{}, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// listen counts what comes from the agent's network, but for what the kernels
// themselves say.
func (w *world) listen() error {
	all := binary.BigEndian.Uint16([]byte{unix.ETH_P_ALL & 0xff, unix.ETH_P_ALL >> 8})
	in, err := net.InterfaceByName("in")
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: in.Index}); err != nil {
		return err
	}
	go func() {
		b := make([]byte, 1<<17)
		for {
			n, from, err := unix.Recvfrom(fd, b, 0)
			if err != nil {
				return
			}
			if l, ok := from.(*unix.SockaddrLinklayer); ok && l.Pkttype != unix.PACKET_OUTGOING {
				w.count(b[:n])
			}
		}
	}()
	return nil
}

func (w *world) count(b []byte) {
	var to netip.Addr
	var protocol byte
	var rest []byte
	switch {
	case len(b) >= 20 && b[0]>>4 == 4:
		to, protocol, rest = netip.AddrFrom4([4]byte(b[16:20])), b[9], b[min(len(b), int(b[0]&15)*4):min(len(b), int(binary.BigEndian.Uint16(b[2:])))]
	case len(b) >= 40 && b[0]>>4 == 6:
		to, protocol, rest = netip.AddrFrom16([16]byte(b[24:40])), b[6], b[40:]
		if protocol == 58 && len(rest) > 0 && rest[0] >= 130 || protocol == 0 { // neighbours, listeners
			return
		}
	default:
		return
	}
	n := 0
	switch {
	case protocol == unix.IPPROTO_TCP && len(rest) >= 20:
		n = max(0, len(rest)-int(rest[12]>>4)*4)
		if begins := rest[13]&2 != 0; n == 0 && !begins {
			return // such as the end of what an earlier command had begun
		}
	case protocol == unix.IPPROTO_UDP:
		n = max(0, len(rest)-8)
	case protocol == unix.IPPROTO_IGMP:
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Packets[to.String()]++
	w.seen.Bytes[to.String()] += n
	w.came.Broadcast()
}

// A wire is the agent's side of the world.
type wire struct {
	in  io.Writer
	out *bufio.Scanner
}

// report returns what has come to the world since the last time.
func (w *wire) report() (seen traffic, err error) {
	mark, err := net.Dial("udp", worldAddr4+":9")
	if err != nil {
		return seen, err
	}
	defer mark.Close()
	if _, err := mark.Write([]byte("mark")); err != nil {
		return seen, err
	}
	if _, err := io.WriteString(w.in, "\n"); err != nil {
		return seen, err
	}
	if !w.out.Scan() {
		return seen, io.ErrUnexpectedEOF
	}
	return seen, json.Unmarshal(w.out.Bytes(), &seen)
}

// enterWorld makes the world around this process, which is in a network and a
// view of files of its own. The world ends when its input does.
func enterWorld(dir string) (w *wire, end func(), err error) {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "PROCESS_TEST_ROLE=world", "WORLD_DIR="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := c.Start(); err != nil {
		return nil, nil, err
	}
	end = func() { _ = in.Close(); _ = c.Wait() }
	for _, args := range []string{
		"link set lo up", fmt.Sprintf("link add out type veth peer name in netns %d", c.Process.Pid),
		"addr add " + agentAddr4 + "/30 dev out", "addr add " + agentAddr6 + "/64 dev out nodad", "link set out up",
		"route add default via " + worldAddr4, "-6 route add default via " + worldAddr6,
	} {
		if err := ip(strings.Fields(args)...); err != nil {
			end()
			return nil, nil, err
		}
	}
	w = &wire{in, bufio.NewScanner(out)}
	if _, err := io.WriteString(in, "\n"); err != nil || !w.out.Scan() || w.out.Text() != "ready" {
		end()
		return nil, nil, fmt.Errorf("the world did not begin: %q, %w", w.out.Text(), err)
	}
	conf := filepath.Join(dir, "resolv.conf")
	err = os.WriteFile(conf, []byte("nameserver "+worldDNS+"\noptions timeout:10 attempts:2\n"), 0o644)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount(conf, "/etc/resolv.conf", "", unix.MS_BIND, "")
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return w, end, nil
}

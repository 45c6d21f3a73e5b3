package process_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-agent/belay/internal/world/process"
)

// TestPromise_P20_NothingIsReachedButWhatWasGranted has commands reach, or try to,
// in a network where everything answers and every packet is counted. No packet
// goes to a host that was not granted, nor a question for its name; and what was
// granted is served.
func TestPromise_P20_NothingIsReachedButWhatWasGranted(t *testing.T) {
	needs(t, "ip", "curl", "wget", "git", "openssl", "python3")
	if os.Getuid() != 0 {
		t.Skip("skipped (P20: only root can make the network it is tried in)")
	}
	if os.Getenv("BELAY_TEST_NETWORK") == "" {
		c := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=9m")
		c.Env = append(os.Environ(), "BELAY_TEST_NETWORK=own")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
		out, err := c.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if err != nil || !strings.Contains(line, "--- PASS") {
				t.Log(strings.TrimSuffix(line, "\n"))
			}
		}
		if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) && !bytes.Contains(out, []byte("--- SKIP: "+t.Name())) {
			t.Fatal(err)
		}
		return
	}
	p20(t)
}

func p20(t *testing.T) {
	base := outside(t)
	root := filepath.Join(base, "ws")
	put(t, filepath.Join(base, "repo/file"), "served by git\n")
	copySelf(t, filepath.Join(func() string { put(t, filepath.Join(root, "a"), ""); return root }(), "self"))
	out, err := exec.Command("sh", "-ec", `cd "$0/repo"; git init -q .; git add file
		git -c user.name=a -c user.email=a@b commit -q -m a; git clone -q --bare . ../repo.git; git -C ../repo.git update-server-info`, base).CombinedOutput()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	w, end, err := enterWorld(base)
	if err != nil {
		t.Skip("skipped (P20: there is no network to try it in: ", err, ")")
	}
	defer end()
	came := agentServers(t)
	cases := netCases()
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases { // past what chooses one of many
		cases[i].script = "python3() { " + strings.TrimSpace(string(python)) + ` -IS "$@"; }; ` + cases[i].script
	}
	t.Run("held by nothing", func(t *testing.T) { getsOut(t, root, w) })
	for i, p := range []process.Profile{process.Full, process.Bubblewrap, process.Namespaces} {
		t.Run(string(p), func(t *testing.T) {
			h := held(t, p, process.Sandbox{Root: root})
			for n, c := range together(cases) {
				if i > 0 && c.served != "" && n%6 != 0 { // the proxy is the same
					continue
				}
				tryCase(t, h, root, c, w, came)
			}
		})
	}
	closed := 0
	for _, c := range cases {
		if c.served == "" {
			closed++
		}
	}
	if closed < 120 {
		t.Errorf("only %d cases in which nothing may be reached", closed)
	}
	t.Logf("%d cases, in %d nothing may be reached", len(cases), closed)
}

// getsOut has the ways past the proxy go where nothing holds them: else they would
// prove nothing.
func getsOut(t *testing.T, root string, w *wire) {
	h, err := process.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var none []string
	cases := directCases()
	for _, c := range cases {
		if c.hosts != "" || strings.HasSuffix(c.name, "a new route") { // which would take the network away
			continue
		}
		if _, err := w.report(); err != nil {
			t.Fatal(err)
		}
		out, _ := shellIn(t, h, root, c.script, nil)
		seen, err := w.report()
		if err != nil {
			t.Fatal(err)
		}
		if len(seen.Packets) == 0 && !strings.Contains(out, "served") {
			none = append(none, c.name)
		}
	}
	if len(none) > 12 { // some kernels know no SCTP, no vsock, or keep a new namespace apart
		t.Errorf("of %d these do not get out of nothing: %q", len(cases)/2, none)
	}
}

// tryCase runs c, and looks at what it prints and where its packets went.
func tryCase(t *testing.T, h *process.Host, root string, c netCase, w *wire, came *atomic.Int64) {
	t.Helper()
	if _, err := w.report(); err != nil {
		t.Fatal(err)
	}
	came.Store(0)
	if strings.HasPrefix(c.name, "the address") || strings.HasPrefix(c.name, "and then") || strings.HasPrefix(c.name, "the first") || c.name == "in one command" {
		if h.Profile() != process.Full {
			return // the world changes only once
		}
	}
	hosts := strings.Fields(c.hosts)
	out, e := shellIn(t, h, root, c.script, reaching(hosts...))
	for said := range strings.SplitSeq(out, caseMark) {
		if asks := strings.HasPrefix(said, "literal: ") || strings.HasPrefix(said, "spelled: "); asks && !strings.Contains(said, "HTTP/1.1 4") {
			t.Errorf("%s: the proxy did not refuse it: %q", c.name, said)
		}
		if c.served == "" && (strings.Contains(said, "served") || strings.Contains(said, " 200 ")) {
			t.Errorf("%s: it was served: %q", c.name, said)
		}
	}
	switch {
	case strings.Count(c.script, caseMark) != strings.Count(out, caseMark) || e.Signal != "":
		t.Errorf("%s: not all was tried: %+v: %q", c.name, e, out)
	case !strings.Contains(out, c.served):
		t.Errorf("%s: it was not served: %+v: %q", c.name, e, out)
	}
	if len(hosts) > 0 && !strings.Contains(e.Profile, ", network open to ") && !strings.Contains(c.hosts, "*") {
		t.Errorf("%s: held by %s", c.name, e.Profile)
	}
	if n := came.Load(); n > 0 && !slices.Contains(hosts, "localhost") {
		t.Errorf("%s: %d came to this machine", c.name, n)
	}
	seen, err := w.report()
	if err != nil {
		t.Fatal(err)
	}
	for to, n := range seen.Packets {
		if to != worldDNS && !slices.Contains(c.to, to) {
			t.Errorf("%s: %d packets with %d bytes went to %s", c.name, n, seen.Bytes[to], to)
		}
		if c.quiet && to != worldDNS && seen.Bytes[to] > 0 {
			t.Errorf("%s: %d bytes went to %s", c.name, seen.Bytes[to], to)
		}
	}
	for _, name := range seen.Asked {
		if !slices.Contains(hosts, name) {
			t.Errorf("%s: there was a question for %s", c.name, name)
		}
	}
	if seen.Bytes[worldDNS] > 0 && len(seen.Asked) == 0 {
		t.Errorf("%s: %d bytes went to the name server", c.name, seen.Bytes[worldDNS])
	}
}

// agentServers serves on this machine, and counts what comes.
func agentServers(t *testing.T) *atomic.Int64 {
	came := new(atomic.Int64)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "served by the agent") })
	for network, addr := range map[string]string{"tcp": ":80", "tcp4": ":443", "tcp6": "[::1]:8080", "unix": "@belay-test-network"} {
		l, err := net.Listen(network, addr)
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: handler, ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				came.Add(1)
			}
		}}
		t.Cleanup(func() { _ = s.Close() })
		go func() { _ = s.Serve(l) }()
	}
	return came
}

// fetch is the program that gets a URL as Go programs do.
func fetch(url string) {
	t := http.DefaultTransport.(*http.Transport)
	t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	c := http.Client{Timeout: 10 * time.Second}
	r, err := c.Get(url)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer r.Body.Close()
	_, _ = io.Copy(os.Stdout, r.Body)
}

package process_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/world/process"
)

var profiles = []process.Profile{process.Full, process.Bubblewrap, process.Namespaces, process.Landlock}

// plainUser is a user without rights that a test run by root also runs as.
const plainUser = 4242

// asUser runs the test that calls it also as a user without rights, if it is run
// by root, and says whose run this is.
func asUser(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	t.Run("not root", func(t *testing.T) {
		dir := outside(t)
		if err := os.Chown(dir, plainUser, plainUser); err != nil {
			t.Skip(err)
		}
		binary := copySelf(t, filepath.Join(dir, "process.test"))
		suid := filepath.Join(dir, "suid")
		if b, err := os.ReadFile("/usr/bin/id"); err != nil || os.WriteFile(suid, b, 0o755) != nil || os.Chmod(suid, 0o755|os.ModeSetuid) != nil {
			t.Fatal("no program of root's was made")
		}
		name, _, _ := strings.Cut(t.Name(), "/")
		c := exec.Command(binary, "-test.run=^"+name+"$", "-test.v", "-test.timeout=5m")
		c.Dir = dir
		c.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir, "BELAY_TEST_SUID="+suid)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: plainUser, Gid: plainUser}}
		out, err := c.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			t.Log(strings.TrimSuffix(line, "\n"))
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(out, []byte("--- PASS: "+name)) && !bytes.Contains(out, []byte("--- SKIP: "+name)) {
			t.Error("the test did not run")
		}
	})
}

// outside makes a directory that a private /tmp does not cover.
func outside(t *testing.T) string {
	t.Helper()
	base := "/var"
	if os.Getuid() != 0 {
		base = os.Getenv("HOME")
	}
	dir, err := os.MkdirTemp(base, "belay-test-")
	if err != nil {
		t.Skip("no place outside /tmp: ", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copySelf(t *testing.T, path string) string {
	t.Helper()
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, self); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// held opens a host that holds commands as p says, or skips: not the profile,
// but what it needs is missing here.
func held(t *testing.T, p process.Profile, s process.Sandbox) *process.Host {
	t.Helper()
	var err error
	if s.Program, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	s.Only = p
	h, err := s.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	if h.Profile() != p {
		t.Skipf("skipped (P12: %s: %s)", p, h.Gaps()[p])
	}
	return h
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var writes = effect.Set{{Kind: effect.Write, On: ".", Tree: true}, {Kind: effect.Process}}

// A stage is a place to break out of.
type stage struct {
	target
	host *process.Host
	came chan string // who connected from where
}

const canary = "canary-f3b1c9-secret"

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

func newStage(t *testing.T, p process.Profile) *stage {
	t.Helper()
	base := outside(t)
	s := &stage{came: make(chan string, 1000), target: target{
		Root: filepath.Join(base, "ws"), Out: filepath.Join(base, "out"), Hidden: filepath.Join(base, "home/state"),
		Secret: filepath.Join(base, "home/.netrc"), Canary: backwards(canary),
		Name: fmt.Sprintf("belay-test-%d-%s", os.Getpid(), p), Agent: os.Getpid(),
	}}
	for path, text := range map[string]string{
		s.out("file"): "outside\n", s.out("dir/.keep"): "", filepath.Join(s.Hidden, "key"): canary, s.Secret: canary,
		s.in(".git/HEAD"): "ref: refs/heads/main\n", s.in(".git/config"): "[core]\n", s.in(".git/hooks/there"): "#!/bin/sh\n",
		s.in(".envrc"): "", s.in(".github/workflows/ci.yml"): "", s.in("dir/.keep"): "",
	} {
		put(t, path, text)
	}
	_ = os.Remove(s.out("dir/.keep"))
	_ = unix.Setxattr(s.out("file"), "user.there", []byte("y"), 0)
	s.Suid = os.Getenv("BELAY_TEST_SUID")
	s.serve(t)
	victim := exec.Command("sleep", "300")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	s.Victim = victim.Process.Pid
	t.Cleanup(func() { _ = victim.Process.Kill(); _ = victim.Wait() })
	t.Setenv("PROVIDER_KEY", canary)
	s.host = held(t, p, process.Sandbox{
		Root: s.Root, Hidden: []string{s.Hidden}, Secrets: []string{s.Secret},
		Protected: []string{s.in(".envrc"), s.in(".github/workflows"), s.in(".npmrc")},
		Limits:    process.Limits{Processes: 500, Memory: 2 << 30, File: 1 << 30},
	})
	return s
}

// serve listens in every way that an attempt knows.
func (s *stage) serve(t *testing.T) {
	accept := func(l net.Listener) {
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				s.came <- l.Addr().Network() + " " + l.Addr().String()
				_ = c.Close()
			}
		}()
	}
	listen := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Logf("no %s on %s: %v", network, address, err)
			return nil
		}
		accept(l)
		return l
	}
	if l := listen("tcp", "127.0.0.1:0"); l != nil {
		s.TCP = append(s.TCP, l.Addr().String())
	}
	if l := listen("tcp", "[::1]:0"); l != nil {
		s.TCP = append(s.TCP, l.Addr().String())
	}
	listen("unix", s.out("socket"))
	listen("unix", "@"+s.Name)
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = u.Close() })
	s.UDP = u.LocalAddr().String()
	go func() {
		b := make([]byte, 100)
		for {
			if _, _, err := u.ReadFrom(b); err != nil {
				return
			}
			s.came <- "udp"
		}
	}()
}

// try runs all attempts, and returns those that got out: as they say, and as is
// seen from outside.
func (s *stage) try(t *testing.T) (escapes []string) {
	t.Helper()
	probe := copySelf(t, s.in("probe"))
	b, err := json.Marshal(s.target)
	if err != nil {
		t.Fatal(err)
	}
	before := manifest(t, s.Out)
	git := manifest(t, s.in(".git"))
	var out bytes.Buffer
	e, err := s.host.Run(t.Context(), process.Command{
		Argv: []string{probe}, Dir: s.Root, Allowed: writes, Output: &out, Timeout: 3 * time.Minute,
		Env: []string{path, "PROCESS_TEST_ROLE=escape", "TARGET=" + string(b), "GORACE=atexit_sleep_ms=0", "HOME=" + s.Root},
	})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := make(map[string]string)
	for d := json.NewDecoder(&out); ; {
		var o outcome
		if d.Decode(&o) != nil {
			break
		}
		outcomes[o.Name] = o.Err
		if o.Err == "" && o.Said != "" {
			t.Logf("%s: %s", o.Name, o.Said)
		}
	}
	if len(outcomes) != len(attempts) {
		t.Errorf("%d of %d attempts were made; ended with %+v", len(outcomes), len(attempts), e)
	}
	for name, failed := range outcomes {
		if failed == "" {
			escapes = append(escapes, name)
		}
		if strings.Contains(failed, "panic") || strings.Contains(failed, "took too long") {
			t.Errorf("%s was not tried: %s", name, failed)
		}
	}
	if after := manifest(t, s.Out); after != before {
		escapes = append(escapes, "seen outside")
	}
	if after := manifest(t, s.in(".git")); after != git {
		escapes = append(escapes, "seen in .git")
	}
	if err := unix.Kill(s.Victim, 0); err != nil {
		escapes = append(escapes, "the other process is gone")
	}
	for len(s.came) > 0 {
		escapes = append(escapes, "seen by "+<-s.came)
	}
	slices.Sort(escapes)
	return escapes
}

// manifest tells all that commands could change of what is below dir.
func manifest(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintln(&b, err)
			return nil
		}
		var s unix.Stat_t
		if err := unix.Lstat(path, &s); err != nil {
			return err
		}
		text := []byte{}
		if s.Mode&unix.S_IFMT == unix.S_IFREG && s.Size < 1000 {
			text, _ = os.ReadFile(path)
		}
		n, _ := unix.Listxattr(path, nil)
		fmt.Fprintf(&b, "%s %o %d %d %d %v %d %d %q\n", path, s.Mode, s.Uid, s.Gid, s.Nlink, s.Mtim.Nano(), s.Size, n, text)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return b.String()
}

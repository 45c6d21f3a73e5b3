package process_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/world/process"
)

// reaching is what a command is allowed that may write in the workspace and
// reach hosts.
func reaching(hosts ...string) effect.Set {
	set := effect.Set{{Kind: effect.Write, On: ".", Tree: true}, {Kind: effect.Process}}
	for _, host := range hosts {
		set = append(set, effect.Effect{Kind: effect.Network, On: host})
	}
	return set
}

// shellIn runs script in h, and returns all that it printed.
func shellIn(t testing.TB, h *process.Host, root, script string, allowed effect.Set) (string, process.Exit) {
	t.Helper()
	var out bytes.Buffer
	e, err := h.Run(t.Context(), process.Command{
		Argv: []string{"bash", "-c", script}, Dir: root, Env: []string{path, "HOME=" + root, "LC_ALL=C"}, Allowed: allowed, Output: &out, Timeout: 3 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), e
}

// needs skips a test that cannot be without a program.
func needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := process.Look(p, os.Environ()); err != nil {
			t.Skipf("skipped (P20: no %s)", p)
		}
	}
}

// TestAGrantedHostIsReached: in every profile that has a network of its own, as
// root and not, a command reaches through the proxy what it was let reach, on
// any port, and nothing without.
func TestAGrantedHostIsReached(t *testing.T) {
	needs(t, "curl")
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Host)
		_, _ = io.WriteString(w, "served")
	}))
	t.Cleanup(server.Close)
	port := server.URL[strings.LastIndexByte(server.URL, ':'):]
	for _, p := range []process.Profile{process.Full, process.Bubblewrap, process.Namespaces} {
		t.Run(string(p), func(t *testing.T) {
			root := filepath.Join(outside(t), "ws")
			put(t, filepath.Join(root, "a"), "")
			h := held(t, p, process.Sandbox{Root: root})
			asked = nil
			script := fmt.Sprintf(`curl -s -m 10 http://localhost%[1]s/; curl -s -m 10 -p http://localhost%[1]s/; curl -s -m 10 http://other.example/; curl -s -m 3 --noproxy '*' http://127.0.0.1%[1]s/`, port)
			out, e := shellIn(t, h, root, script, reaching("Localhost."))
			if want := "servedservedbelay: other.example is not granted\n"; out != want || e.Code != 7 {
				t.Errorf("%d, %q", e.Code, out)
			}
			if diff := cmp.Diff([]string{"localhost" + port, "localhost" + port}, asked); diff != "" {
				t.Error(diff)
			}
			if want := string(p) + ", network open to localhost"; e.Profile != want || !cmp.Equal(e.Refused, []string{"other.example"}) {
				t.Errorf("%s, refused %q", e.Profile, e.Refused)
			}
			if got := e.Hint(nil); got != "the sandbox let it reach no other.example" {
				t.Error(got)
			}
			if !h.Confines(reaching("localhost")) {
				t.Error("it is said not to be confined")
			}
			out, e = shellIn(t, h, root, `env | grep -i proxy; curl -s -m 3 http://localhost`+port, reaching())
			if out != "" || e.Code == 0 || e.Refused != nil || len(asked) != 2 {
				t.Errorf("without a host: %d, %q, %q", e.Code, out, asked)
			}
		})
	}
	t.Run("landlock", func(t *testing.T) { // which cannot tell hosts apart, and says so
		h := held(t, process.Landlock, process.Sandbox{Root: outside(t)})
		if h.Confines(effect.Set{{Kind: effect.Network, On: "localhost"}}) {
			t.Error("it is said to be confined")
		}
		_, e := shellIn(t, h, t.TempDir(), "true", reaching("localhost"))
		if e.Profile != "landlock, network open" {
			t.Error(e.Profile)
		}
	})
	asUser(t)
}

// What a command left running has no network any more, and the end of the command
// waits for nobody who is served.
func TestTheProxyEndsWithTheCommand(t *testing.T) {
	needs(t, "curl")
	root := filepath.Join(outside(t), "ws")
	put(t, filepath.Join(root, "a"), "")
	come, gone := make(chan bool), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		come <- true
		<-r.Context().Done()
		gone <- true
	}))
	t.Cleanup(server.Close)
	h := held(t, process.Full, process.Sandbox{Root: root})
	p, err := h.Start(process.Command{
		Argv: []string{"curl", "-s", strings.Replace(server.URL, "127.0.0.1", "localhost", 1)}, Dir: root, Env: []string{path}, Allowed: reaching("localhost"), Grace: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	<-come
	p.Stop()
	<-gone
}

// Who goes past the proxy is told that it is there.
func TestHintOfAHostThatIsOpen(t *testing.T) {
	e := process.Exit{Code: 128, Profile: "full, network open to a.b, c.d"}
	for stderr, want := range map[string]string{
		"ssh: Could not resolve hostname":       "the sandbox was on (full, network open to a.b, c.d), and may be why",
		"curl: (6) Could not resolve host: c.d": "the sandbox opens c.d only through the proxy that HTTPS_PROXY names, and the program did not use that",
		"curl: (6) Could not resolve host: d.d": "the sandbox has no network: the command was not let reach d.d",
	} {
		if got := e.Hint([]byte(stderr)); got != want {
			t.Errorf("%s: %q", stderr, got)
		}
	}
}

// BenchmarkReach runs the program true where it may reach nothing, and where it may
// reach a host.
func BenchmarkReach(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	root := b.TempDir()
	h, err := process.Sandbox{Program: self, Root: root, Only: process.Full}.Open("")
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	if h.Profile() != process.Full {
		b.Skip(h.Gaps())
	}
	for name, allowed := range map[string]effect.Set{"nothing": reaching(), "a host": reaching("a.example")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := h.Run(b.Context(), process.Command{Argv: []string{"true"}, Dir: root, Env: []string{path}, Allowed: allowed}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

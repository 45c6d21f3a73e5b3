package proxy

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait")) // of a header that is too long, for half a second
}

// open serves o, and returns a client that goes through it, and its address.
func open(t testing.TB, o Options) (*Proxy, *http.Client, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := Serve(l, o)
	through := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()}),
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}
	t.Cleanup(p.Close)
	t.Cleanup(through.CloseIdleConnections)
	return p, &http.Client{Transport: through, Timeout: 10 * time.Second}, l.Addr().String()
}

// get returns what there is at u, or why there is nothing.
func get(c *http.Client, u string) string {
	r, err := c.Get(u)
	if err != nil {
		_, why, _ := strings.Cut(err.Error(), ": ")
		return why
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return fmt.Sprint(r.StatusCode, " ", strings.TrimSpace(string(b)), err)
}

func hosts(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, "for "+strings.Split(r.Host, ":")[0]+" "+r.URL.RawQuery)
}

func serve(t testing.TB, h http.HandlerFunc) (port string) {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	_, port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return port
}

func TestRefusalsAreTold(t *testing.T) {
	port := serve(t, hosts)
	p, c, _ := open(t, Options{Hosts: []string{"localhost", "Wrong.example", "*", "localhost.example"}})
	for u, want := range map[string]string{
		"http://localhost:" + port + "/?a=b;c": "200 for localhost a=b;c<nil>",
		"http://wrong.example/":                "403 belay: wrong.example is not granted<nil>",
		"http://Wrong.example/":                "403 belay: Wrong.example is not granted<nil>",
		"https://other.example/":               "Forbidden",
		"http://127.0.0.1:" + port:             "403 belay: 127.0.0.1 is not granted<nil>",
		"http://localhost:1/":                  "502 belay: connect to localhost: dial tcp 127.0.0.1:1: connect: connection refused\ndial tcp [::1]:1: connect: connection refused<nil>",
	} {
		if got := get(c, u); got != want {
			t.Errorf("%s: %q, want %q", u, got, want)
		}
	}
	for n := range 20 {
		get(c, fmt.Sprintf("http://h%d.example/", n))
	}
	told := p.Refused()
	if len(told) != toldMax {
		t.Errorf("%d are told", len(told))
	}
	for _, host := range []string{"other.example", "127.0.0.1", "h0.example"} {
		if !strings.Contains(strings.Join(told, " "), host) {
			t.Errorf("%q without %s", told, host)
		}
	}
}

// What a command sends is shown without harm.
func TestRefusalsAreClipped(t *testing.T) {
	for address, want := range map[string]string{
		"a\x1bc:80": `"a\x1bc" is no plain host name`, "": "nothing is no host and port", "*.a:80": "*.a is no plain host name",
		strings.Repeat("a", 999) + ":1": strings.Repeat("a", 80) + "... is no plain host name", "a:0": "a has no port of that number", "a:+1": "a has no port of that number",
	} {
		if _, _, err := split(address); err == nil || err.Error() != want {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestAnotherProxy: where this machine reaches hosts through one, so does a
// command, and only those that are granted; what is direct is not.
func TestAnotherProxy(t *testing.T) {
	port := serve(t, hosts)
	secure := httptest.NewTLSServer(http.HandlerFunc(hosts))
	t.Cleanup(secure.Close)
	var asked []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		switch {
		case strings.HasPrefix(r.Host, "closed"):
			http.Error(w, "no", http.StatusForbidden)
			return
		case strings.HasPrefix(r.Host, "long"):
			w.Header().Set("X", strings.Repeat("x", 2*headerMax))
		}
		to := "127.0.0.1:" + port
		if strings.HasSuffix(r.Host, ":443") {
			to = secure.Listener.Addr().String()
		}
		there, err := net.Dial("tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		here, _, _ := w.(http.Hijacker).Hijack()
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\nX: "+w.Header().Get("X")+"\r\n\r\n")
		done := make(chan bool)
		go func() { _, _ = io.Copy(there, here); _ = there.Close(); close(done) }()
		_, _ = io.Copy(here, there)
		_ = here.Close()
		<-done
	}))
	t.Cleanup(other.Close)
	u, _ := url.Parse(other.URL)
	u.User = url.UserPassword("me", "pass")
	granted := []string{"a.example", "closed.example", "long.example", "10.0.0.1", "localhost"}
	p, c, _ := open(t, Options{Hosts: granted, Upstream: u, Direct: []string{" .direct.example", "", "b.example"}})
	for _, tc := range [][2]string{
		{"http://a.example/", "200 for a.example<nil>"},
		{"https://a.example/", "200 for a.example<nil>"},
		{"http://10.0.0.1/", "200 for 10.0.0.1<nil>"},
		{"http://localhost:" + port, "200 for localhost<nil>"},
		{"http://closed.example/", "502 belay: through the proxy " + u.Host + ": 403 Forbidden<nil>"},
		{"http://long.example/", "502 belay: through the proxy " + u.Host + ": it is too long<nil>"},
		{"http://evil.example/", "403 belay: evil.example is not granted<nil>"},
	} {
		if got := get(c, tc[0]); got != tc[1] {
			t.Errorf("%s: %q, want %q", tc[0], got, tc[1])
		}
	}
	key := " Basic " + base64.StdEncoding.EncodeToString([]byte("me:pass"))
	want := []string{"CONNECT a.example:80" + key, "CONNECT a.example:443" + key, "CONNECT 10.0.0.1:80" + key, "CONNECT closed.example:80" + key, "CONNECT long.example:80" + key}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]bool{"x.direct.example": true, "direct.example": true, "b.example": true, "xb.example": false, "localhost": true, "::1": true, "10.0.0.1": false} {
		if p.direct(name) != want {
			t.Errorf("%s is direct: %t", name, !want)
		}
	}
}

// A header is not read for ever, nor is more of it kept.
func TestHeadersAreBounded(t *testing.T) {
	_, _, address := open(t, Options{Hosts: []string{"localhost"}})
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() { // until the other side has enough
		_, _ = io.WriteString(c, "GET http://localhost/ HTTP/1.1\r\nX: ")
		_, _ = io.Copy(c, io.LimitReader(zeros{}, 1<<30))
	}()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil && !strings.Contains(err.Error(), "reset") || err == nil && !strings.Contains(line, " 4") {
		t.Errorf("%q, %v", line, err)
	}
}

// More connections than there is room for wait until others have ended.
func TestConnectionsAreBounded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	f := &few{Listener: l, room: make(chan struct{}, 1), done: done}
	for range 2 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	first, err := f.Accept()
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan net.Conn)
	go func() { c, _ := f.Accept(); next <- c }()
	if len(f.room) != cap(f.room) {
		t.Error("there is still room")
	}
	_, _ = first.Close(), first.Close() // twice is once
	second := <-next
	defer second.Close()
	close(done)
	if _, err := f.Accept(); err == nil {
		t.Error("accepted after the end")
	}
	_ = l.Close()
}

// Close ends what is served, also what nobody answers.
func TestCloseEndsAll(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	_, port, _ := net.SplitHostPort(silent.Addr().String())
	p, c, address := open(t, Options{Hosts: []string{"localhost"}})
	ended := make(chan string)
	go func() { ended <- get(c, "http://localhost:"+port) }()
	first, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	tunnel, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer tunnel.Close()
	_, _ = io.WriteString(tunnel, "CONNECT localhost:"+port+" HTTP/1.1\r\n\r\n")
	in := bufio.NewReader(tunnel)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, " 200 ") {
		t.Fatalf("%q, %v", line, err)
	}
	p.Close()
	if got := <-ended; strings.HasPrefix(got, "200") {
		t.Error(got)
	}
	if _, err := io.Copy(io.Discard, in); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
	p.Close() // again
}

func TestEnviron(t *testing.T) {
	got := Environ([]string{"A=b", "HTTP_PROXY=x", "No_Proxy=y", "MY_HTTP_PROXY=z"}, "127.0.0.1:1", []string{"localhost", "::1"})
	want := strings.Fields(`A=b MY_HTTP_PROXY=z http_proxy=http://127.0.0.1:1 HTTP_PROXY=http://127.0.0.1:1 https_proxy=http://127.0.0.1:1
		HTTPS_PROXY=http://127.0.0.1:1 all_proxy=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1 no_proxy=localhost,::1 NO_PROXY=localhost,::1 NODE_USE_ENV_PROXY=1`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkRequest is a request on this machine: directly and through the proxy, on
// connections that stay and each on its own.
func BenchmarkRequest(b *testing.B) {
	port := serve(b, hosts)
	for _, way := range []string{"direct", "proxy"} {
		for _, stay := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/stays=%t", way, stay), func(b *testing.B) {
				_, c, _ := open(b, Options{Hosts: []string{"localhost"}})
				tr := c.Transport.(*http.Transport)
				tr.DisableKeepAlives = !stay
				if way == "direct" {
					tr.Proxy = nil
				}
				for b.Loop() {
					if got := get(c, "http://localhost:"+port); got != "200 for localhost<nil>" {
						b.Fatal(got)
					}
				}
			})
		}
	}
}

// BenchmarkTunnel passes bytes through a tunnel.
func BenchmarkTunnel(b *testing.B) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, 1<<20))
	}))
	b.Cleanup(s.Close)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	for _, way := range []string{"direct", "proxy"} {
		b.Run(way, func(b *testing.B) {
			_, c, _ := open(b, Options{Hosts: []string{"localhost"}})
			if way == "direct" {
				c.Transport.(*http.Transport).Proxy = nil
			}
			b.SetBytes(1 << 20)
			for b.Loop() {
				if got := get(c, "https://localhost:"+port); len(got) < 1<<20 {
					b.Fatal(len(got))
				}
			}
		})
	}
}

package main

import (
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// Belay reaches a server with a certificate of its own through a proxy, where the
// environment and the settings say so, and says what is missing where they do not.
func TestProxyAndCertificates(t *testing.T) {
	d := modeltest.Chat()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m"}]}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, d.Stream(d.Events(modeltest.Reply{Text: "through", Stop: model.End, Usage: model.Usage{Input: 1, Output: 1}})))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	var led atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "example.com:443" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		led.Add(1)
		lead(w, server.Listener.Addr().String())
	}))
	defer proxy.Close()

	p := newPlace(t)
	p.write(t, "../home/ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	p.write(t, "../home/.config/belay/config.toml", "model = \"mine/m\"\n[providers.mine]\nbase_url = \"https://example.com/v1\"\nkey = \"sk-hush-0123456789\"\nca_file = \"${HOME}/ca.pem\"\n")
	p.env = []string{"HTTPS_PROXY=" + proxy.URL}
	e := p.run(t, "run", "hello")
	e.wants(t, 0)
	if !strings.Contains(e.out, "through") || led.Load() == 0 {
		t.Errorf("it prints %q and %q; the proxy led %d connections", e.out, e.err, led.Load())
	}
	if e = p.run(t, "doctor"); !strings.Contains(e.out, "1 model at example.com") {
		t.Errorf("doctor prints\n%s", e.out)
	}

	p.write(t, "../home/.config/belay/config.toml", "model = \"mine/m\"\n[providers.mine]\nbase_url = \"https://example.com/v1\"\nkey = \"sk-hush-0123456789\"\n")
	e = p.run(t, "run", "hello")
	if e.code == 0 || !strings.Contains(e.err, "certificate signed by unknown authority") || !strings.Contains(e.err, "ca_file") {
		t.Errorf("status %d: %s", e.code, e.err)
	}
	p.env = append(p.env, "SSL_CERT_FILE="+p.home+"/ca.pem")
	if runtime.GOOS == "linux" { // elsewhere the system has no such variable
		p.run(t, "run", "hello").wants(t, 0)
	}

	p.write(t, "../home/.config/belay/config.toml", "model = \"mine/m\"\n[providers.mine]\nbase_url = \"https://forbidden.example.com/v1\"\nkey = \"sk-hush-0123456789\"\n")
	e = p.run(t, "run", "hello")
	if e.code == 0 || !strings.Contains(e.err, "refuses to lead there: 403") || !strings.Contains(e.err, "NO_PROXY") || strings.Contains(e.err, "hush") {
		t.Errorf("status %d: %s", e.code, e.err)
	}
	before := led.Load()
	p.env = append(p.env, "NO_PROXY=forbidden.example.com,"+server.Listener.Addr().String())
	p.write(t, "../home/.config/belay/config.toml", "model = \"mine/m\"\n[providers.mine]\nbase_url = \""+server.URL+"\"\nkey = \"k\"\nca_file = \"${HOME}/ca.pem\"\n")
	p.run(t, "run", "hello").wants(t, 0)
	if led.Load() != before {
		t.Error("NO_PROXY is not heeded")
	}
}

// lead connects whoever asked with the server at to.
func lead(w http.ResponseWriter, to string) {
	server, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
		close(done)
	}()
	_, _ = io.Copy(client, server)
	_ = client.Close()
	<-done
}

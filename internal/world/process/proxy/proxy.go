// Package proxy lets what has no network of its own reach hosts by name.
//
// It serves HTTP as clients ask a proxy for it: with whole URLs, and by CONNECT.
// A host is reached if its name, or the very address that was asked for, is
// granted, on any port. A name is looked up once; of its addresses those are
// dialled that are on the internet and not this machine's, or are granted
// themselves. TLS that is for another server than the tunnel it is in is ended.
// What else is said in a tunnel is not looked at.
//
// Through another proxy only names are checked: it looks them up itself.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	headerMax = 64 << 10         // bytes of a header
	connsMax  = 128              // connections of a command at a time; more have to wait
	slowest   = 20 * time.Second // that a header, or the first message of TLS, may take
	idle      = 5 * time.Minute  // that a connection may be silent
	toldMax   = 16               // hosts that are remembered as refused
)

// Options say what a Proxy lets through.
type Options struct {
	Hosts    []string // as [Name] has them; others are not granted
	Upstream *url.URL // another proxy (http or https) that all goes through; nil is none
	Direct   []string // domains that do not go through it, with all below them
}

// A Proxy serves one command.
type Proxy struct {
	o         Options
	granted   map[string]bool
	ctx       context.Context // until Close
	stop      context.CancelFunc
	server    *http.Server
	transport *http.Transport
	work      sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	refused []string
}

// Serve serves what connects to l, which it closes at the end: see Close.
func Serve(l net.Listener, o Options) *Proxy {
	ctx, stop := context.WithCancel(context.Background())
	p := &Proxy{o: o, granted: make(map[string]bool), ctx: ctx, stop: stop}
	for _, host := range o.Hosts {
		if name, ok := Name(host); ok && name == host {
			p.granted[name] = true
		}
	}
	p.transport = &http.Transport{
		DialContext: p.dial, DisableCompression: true, MaxResponseHeaderBytes: 4 * headerMax,
		ResponseHeaderTimeout: idle, IdleConnTimeout: time.Minute, MaxConnsPerHost: connsMax,
	}
	silent := log.New(io.Discard, "", 0)
	forward := &httputil.ReverseProxy{
		Transport: p.transport, ErrorLog: silent, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = r.Out.URL.Host // whatever the client says that it is
			r.Out.URL.User = nil
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as it is
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { p.fail(w, err) },
	}
	p.server = &http.Server{
		Handler:           p.handler(forward),
		ReadHeaderTimeout: slowest, IdleTimeout: idle, MaxHeaderBytes: headerMax, ErrorLog: silent,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	p.work.Go(func() { _ = p.server.Serve(&few{Listener: l, room: make(chan struct{}, connsMax), done: ctx.Done()}) })
	return p
}

// Close ends all that goes through p, and returns once it has ended.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stop()
	_ = p.server.Close()
	p.work.Wait()
	p.transport.CloseIdleConnections()
}

// Refused returns the first hosts that were asked for and refused, each once, with
// the reason if it is another one than that they are not granted.
func (p *Proxy) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

func (p *Proxy) handler(forward http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.enter() {
			return
		}
		defer p.work.Done()
		switch {
		case r.Method == http.MethodConnect:
			p.connect(w, r)
		case r.URL.Scheme != "http" || r.URL.Host == "":
			http.Error(w, "this is a proxy: it takes whole http URLs, and CONNECT", http.StatusBadRequest)
		default:
			if name, ok := Name(r.URL.Hostname()); !ok || !p.granted[name] { // before anybody reads another name in it
				p.fail(w, &refusal{clip(r.URL.Hostname()), ungranted})
				return
			}
			forward.ServeHTTP(w, r)
		}
	})
}

// enter counts a request, which must call p.work.Done, unless p is closed.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.work.Add(1)
	}
	return !p.closed
}

// fail answers with err, and remembers what was refused.
func (p *Proxy) fail(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	if r, ok := errors.AsType[*refusal](err); ok {
		status = http.StatusForbidden
		p.refuse(r)
	}
	http.Error(w, "belay: "+err.Error(), status)
}

func (p *Proxy) refuse(r *refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what := r.host
	if r.why != ungranted {
		what += " (" + r.why + ")"
	}
	if len(p.refused) < toldMax && !slices.Contains(p.refused, what) {
		p.refused = append(p.refused, what)
	}
}

// connect makes a tunnel.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	name, _, err := split(r.URL.Host)
	var there net.Conn
	if err == nil {
		there, err = p.dial(r.Context(), "tcp", r.URL.Host)
	}
	if err != nil {
		p.fail(w, err)
		return
	}
	defer there.Close()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.fail(w, fmt.Errorf("make a tunnel: %w", err))
		return
	}
	defer here.Close()
	_ = here.SetDeadline(time.Time{})
	t := &tunnel{name: name, here: here, said: buffered.Reader, there: there}
	if err := t.run(r.Context()); err != nil {
		p.refuse(err)
	}
}

// A few is a listener that accepts only so many connections at a time.
type few struct {
	net.Listener
	room chan struct{}
	done <-chan struct{}
}

func (f *few) Accept() (net.Conn, error) {
	select {
	case f.room <- struct{}{}:
	case <-f.done:
		return nil, net.ErrClosed
	}
	c, err := f.Listener.Accept()
	if err != nil {
		<-f.room
		return nil, err
	}
	return &counted{Conn: c, leave: sync.OnceFunc(func() { <-f.room })}, nil
}

type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite tells the other side that there is no more.
func (c *counted) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(c net.Conn) error {
	if b, ok := c.(*begun); ok {
		c = b.Conn
	}
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// Environ returns the variables that have programs use the proxy at address for
// all but what is inside, in place of those in env.
func Environ(env []string, address string, inside []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "node_use_env_proxy"}, strings.ToLower(key))
	})
	for _, key := range []string{"http_proxy", "https_proxy", "all_proxy"} {
		out = append(out, key+"=http://"+address, strings.ToUpper(key)+"=http://"+address)
	}
	not := strings.Join(inside, ",")
	return append(out, "no_proxy="+not, "NO_PROXY="+not, "NODE_USE_ENV_PROXY=1")
}

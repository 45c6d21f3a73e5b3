package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	looking = 10 * time.Second // for the addresses of a name
	dialing = 10 * time.Second // each of them
	asking  = 30 * time.Second // another proxy, until its answer
)

// A refusal is why a host is not reached.
type refusal struct{ host, why string }

const ungranted = "is not granted"

func (r *refusal) Error() string { return r.host + " " + r.why }

// split returns the host, as [Name] has it, and the port of an address.
func split(address string) (name, port string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", "", &refusal{clip(address), "is no host and port"}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", "", &refusal{clip(host), "has no port of that number"}
	}
	name, ok := Name(host)
	if !ok {
		return "", "", &refusal{clip(host), "is no plain host name"}
	}
	return name, port, nil
}

// clip makes what a command sent fit to be shown.
func clip(s string) string {
	if s == "" {
		return "nothing"
	}
	const most = 80
	if len(s) > most {
		s = s[:most] + "..."
	}
	if q := strconv.QuoteToASCII(s); q != `"`+s+`"` {
		return q
	}
	return s
}

// dial connects to an address of the host in address, if it is granted. The
// addresses that are checked are those that are dialled: the name is looked up
// once.
func (p *Proxy) dial(ctx context.Context, _, address string) (net.Conn, error) {
	name, port, err := split(address)
	if err == nil && !p.granted[name] {
		err = &refusal{name, ungranted}
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	if p.o.Upstream != nil && !p.direct(name) {
		return p.chain(ctx, net.JoinHostPort(name, port))
	}
	addrs, err := p.addresses(ctx, name)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, a := range addrs {
		d := net.Dialer{Timeout: dialing}
		conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("connect to %s: %w", name, errors.Join(errs...))
}

// addresses returns those of name that may be dialled.
func (p *Proxy) addresses(ctx context.Context, name string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{a}, nil // granted as it is
	}
	if name == "localhost" { // whatever others say that it is
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, looking)
	defer cancel()
	r := net.Resolver{PreferGo: true}
	found, err := r.LookupNetIP(ctx, "ip", name+".")
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", name, err)
	}
	own := ours()
	var good []netip.Addr
	for _, a := range found {
		a = a.Unmap()
		if p.granted[a.String()] || public(a) && !slices.Contains(own, a) {
			good = append(good, a)
		}
	}
	if len(good) == 0 {
		return nil, &refusal{name, fmt.Sprintf("is at %s, which is not on the internet: grant the address too", clip(fmt.Sprint(found[0])))}
	}
	return good[:min(len(good), 8)], nil
}

// ours returns the addresses of this machine.
func ours() (own []netip.Addr) {
	addrs, _ := net.InterfaceAddrs() // those it has are not public, or nobody can tell
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			if a, ok := netip.AddrFromSlice(n.IP); ok {
				own = append(own, a.Unmap())
			}
		}
	}
	return own
}

// direct reports whether name is reached without the other proxy.
func (p *Proxy) direct(name string) bool {
	if a, err := netip.ParseAddr(name); name == "localhost" || err == nil && a.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(p.o.Direct, func(d string) bool {
		d = strings.ToLower(strings.Trim(d, " "))
		bare := strings.TrimPrefix(strings.TrimPrefix(d, "*"), ".")
		return d == "*" || bare != "" && (name == bare || strings.HasSuffix(name, "."+bare))
	})
}

// chain has the other proxy connect to address, which it looks up itself.
func (p *Proxy) chain(ctx context.Context, address string) (_ net.Conn, err error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	conn, err := reach(ctx, p.o.Upstream)
	if err != nil {
		return nil, fmt.Errorf("connect to the proxy %s: %w", p.o.Upstream.Host, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() && err == nil {
			err = ctx.Err()
		}
		if err != nil {
			_ = conn.Close()
			err = fmt.Errorf("through the proxy %s: %w", p.o.Upstream.Host, err)
		}
	}()
	ask := "CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\n"
	if u := p.o.Upstream.User; u != nil {
		password, _ := u.Password()
		ask += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)) + "\r\n"
	}
	if _, err := conn.Write([]byte(ask + "\r\n")); err != nil {
		return nil, err
	}
	limited := &limit{conn, headerMax}
	in := bufio.NewReader(limited)
	answer, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.New(clip(answer.Status))
	}
	limited.left = 1 << 62
	return &begun{conn, in}, nil
}

// reach connects to a proxy.
func reach(ctx context.Context, u *url.URL) (net.Conn, error) {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
	}
	if port == "" {
		port = "80"
	}
	var d interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = &net.Dialer{Timeout: dialing}
	if u.Scheme == "https" {
		d = &tls.Dialer{NetDialer: &net.Dialer{Timeout: dialing}}
	}
	return d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
}

// A begun is a connection of which the start has been read into a buffer.
type begun struct {
	net.Conn
	in *bufio.Reader
}

func (b *begun) Read(p []byte) (int, error) { return b.in.Read(p) }

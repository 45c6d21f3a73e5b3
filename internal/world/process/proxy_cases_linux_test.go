package process_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// A netCase is a command that tries to reach something.
type netCase struct {
	name   string
	hosts  string // that it was let reach, by spaces
	script string
	served string   // what it prints if all is well; "" is that nothing is served
	to     []string // where packets may go, beside the name server
	quiet  bool     // but without any bytes
}

const (
	ok, ok2 = "45.50.0.10", "45.50.0.11"
	proxied = "127.0.0.1/61080"
)

// say sends what the proxy may not expect, at once, and prints the first line of its answer.
func say(format string) string {
	return fmt.Sprintf(`printf '%s' > /tmp/raw; exec 3<>/dev/tcp/%s; cat /tmp/raw >&3; read -r -t 30 line <&3; echo "$line"`, format, proxied)
}

func get(url, more string) string {
	return say("GET " + url + ` HTTP/1.1\r\n` + more + `Connection: close\r\n\r\n`)
}

func connect(to string) string {
	return say("CONNECT " + to + ` HTTP/1.1\r\nHost: ` + to + `\r\n\r\n`)
}

// python has a socket of some kind send something.
func python(family, kind, protocol, address string) string {
	return fmt.Sprintf(`python3 -c '
import socket
s = socket.socket(socket.%s, %s, %s); s.settimeout(1)
a = %s
try: s.connect(a); s.send(b"GET / HTTP/1.0\r\n\r\n")
except OSError as e: s.sendto(b"secret", a)
print("served" if s.recv(100) else "nothing")' 2>&1 | tail -1`, family, kind, protocol, address)
}

// one returns a case that is all of cases, each in a shell of its own after a line
// with its name; none of them sends anything.
func one(name string, cases []netCase) netCase {
	all := netCase{name: name}
	var hosts []string
	for _, c := range cases {
		for host := range strings.FieldsSeq(c.hosts) {
			if !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
		all.script += fmt.Sprintf("echo %q\n( %s\n)\n", caseMark+c.name, c.script)
	}
	all.hosts = strings.Join(hosts, " ")
	return all
}

const caseMark = "=== "

// together has as few commands as can be: a case by itself where something is
// sent or the world changes.
func together(cases []netCase) (fewer []netCase) {
	groups := make(map[string][]netCase)
	for _, c := range cases {
		name, _, grouped := strings.Cut(c.name, ": ")
		if !grouped || c.served != "" || len(c.to) > 0 {
			fewer = append(fewer, c)
			continue
		}
		groups[name] = append(groups[name], c)
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		fewer = append(fewer, one(name, groups[name]))
	}
	return fewer
}

func netCases() (all []netCase) {
	all = append(all, closedCases()...)
	all = append(all, literalCases()...)
	all = append(all, spelledCases()...)
	all = append(all, tlsCases()...)
	all = append(all, rebindCases()...)
	all = append(all, directCases()...)
	return append(all, servedCases()...)
}

// closedCases are names, granted, that lead where no name may.
func closedCases() (all []netCase) {
	for i, a := range strings.Fields(`
		0.0.0.0 0.1.2.3 10.0.0.5 10.255.255.255 100.64.0.1 100.100.100.200 127.0.0.1 127.9.9.9 169.254.1.1 169.254.169.254 169.254.170.2
		172.16.0.1 172.31.255.254 192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255 198.18.0.1 198.51.100.1 203.0.113.1
		224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 168.63.129.16
		:: ::1 ::ffff:10.0.0.5 ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::10.0.0.5 ::127.0.0.1 64:ff9b::a00:5 64:ff9b::a9fe:a9fe 64:ff9b:1::a00:5
		2002:a00:5::1 2002:7f00:1:: 2001::a00:5 2001:db8::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 ff0e::1 4000::1`) {
		name := hex.EncodeToString(netip.MustParseAddr(a).AsSlice()) + ".to.example"
		script := "curl -s -m 30 http://" + name + "/"
		if i%2 == 1 {
			script = "curl -sk -m 30 https://" + name + "/"
		}
		all = append(all, netCase{name: "a name leads to: " + a, hosts: name, script: script})
	}
	return all
}

// literalCases are addresses, in whatever spelling, where only a name is granted.
func literalCases() (all []netCase) {
	for i, a := range []string{
		"45.50.0.10", "45.50.0.66", "10.0.0.5", "127.0.0.1", "127.1", "2130706433", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "017700000001", "0", "127.0.0.1.", "127.0.0.01",
		"169.254.169.254", "2852039166", "0xa9.0xfe.0xa9.0xfe", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::7f00:1]", "[fd00:ec2::254]", "[fe80::1%%25out]", "[2600:1234:5::10]", "[64:ff9b::7f00:1]", "localhost", "ip6-localhost",
	} {
		all = append(all, netCase{name: "literal: CONNECT to " + a, hosts: "ok.example", script: connect(a + ":80")})
		if i%3 == 0 {
			all = append(all, netCase{name: "literal: a URL of " + a, hosts: "ok.example", script: get("http://"+a+"/", `Host: ok.example\r\n`)})
		}
	}
	return all
}

// spelledCases are requests that two readers could understand in two ways.
func spelledCases() (all []netCase) {
	for name, script := range map[string]string{
		"userinfo":                 get("http://ok.example@evil.example/", `Host: ok.example\r\n`),
		"userinfo with a port":     get("http://ok.example:80@evil.example/", `Host: ok.example\r\n`),
		"userinfo of CONNECT":      connect("ok.example@evil.example:443"),
		"a fragment":               get("http://evil.example#@ok.example/", `Host: ok.example\r\n`),
		"a backslash":              get(`http://evil.example\\@ok.example/`, `Host: ok.example\r\n`),
		"a subdomain":              get("http://sub.ok.example/", `Host: sub.ok.example\r\n`),
		"a name that ends so":      get("http://notok.example/", `Host: notok.example\r\n`),
		"a name that begins so":    get("http://ok.example.evil.example/", `Host: ok.example\r\n`),
		"two dots":                 get("http://ok.example../", `Host: ok.example\r\n`),
		"percent":                  get("http://ok%%2eexample.evil.example/", `Host: ok.example\r\n`),
		"a null byte":              connect(`ok.example\000.evil.example:443`),
		"wide letters":             get("http://ｏｋ.example/", `Host: ok.example\r\n`),
		"a wide dot":               get("http://ok。example/", `Host: ok.example\r\n`),
		"two hosts":                get("http://evil.example/", `Host: ok.example\r\nHost: evil.example\r\n`),
		"two hosts of a good URL":  get("http://ok.example/", `Host: ok.example\r\nHost: evil.example\r\n`),
		"only a Host":              get("/", `Host: ok.example\r\n`),
		"the Host of another":      get("http://evil.example/", `Host: ok.example\r\n`),
		"no host":                  get("http:///", `Host: ok.example\r\n`),
		"https":                    get("https://ok.example/", `Host: ok.example\r\n`),
		"ftp":                      get("ftp://ok.example/", `Host: ok.example\r\n`),
		"file":                     get("file:///etc/hostname", `Host: ok.example\r\n`),
		"port 0":                   connect("ok.example:0"),
		"port 65616":               connect("ok.example:65616"),
		"port by name":             connect("ok.example:http"),
		"no port":                  connect("ok.example"),
		"CONNECT to a path":        connect("/ok.example"),
		"CONNECT to a URL":         connect("http://ok.example:443/"),
		"CONNECT, another host":    say(`CONNECT evil.example:443 HTTP/1.1\r\nHost: ok.example:443\r\n\r\n`),
		"both lengths":             say(`POST http://evil.example/ HTTP/1.1\r\nHost: ok.example\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
		"two lengths":              say(`POST http://ok.example/ HTTP/1.1\r\nHost: ok.example\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`),
		"a folded header":          say(`GET http://ok.example/ HTTP/1.1\r\n Host: evil.example\r\n\r\n`),
		"a space before the colon": say(`GET http://ok.example/ HTTP/1.1\r\nHost : evil.example\r\n\r\n`),
		"HTTP/2":                   say(`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`),
		"SOCKS":                    say(`\005\001\000\n`),
		"a long header":            `{ printf 'GET http://ok.example/ HTTP/1.1\r\nX: '; head -c 200000 /dev/zero | tr '\0' a; printf '\r\n\r\n'; } > /tmp/long; exec 3<>/dev/tcp/127.0.0.1/61080; cat /tmp/long >&3 2>/dev/null; read -r -t 30 line <&3; echo "$line"`,
	} {
		all = append(all, netCase{name: "spelled: " + name, hosts: "ok.example", script: script})
	}
	return append(all,
		netCase{name: "a pattern is no name", hosts: "*.example *", script: "curl -s -m 5 http://ok.example/"},
		netCase{name: "upper case and a dot", hosts: "ok.example", script: "curl -s -m 30 http://OK.Example./", served: "served OK.Example. GET 0", to: []string{ok}},
		netCase{name: "the Host is that of the URL", hosts: "ok.example", script: "curl -s -m 30 -H 'Host: evil.example' http://ok.example/", served: "served ok.example GET 0", to: []string{ok}},
	)
}

func tlsCases() []netCase {
	const ask = `curl -sk -m 30 `
	return []netCase{
		{name: "TLS", hosts: "ok.example", script: ask + "https://ok.example/", served: "served ok.example GET 0", to: []string{ok}},
		{name: "TLS in capitals", hosts: "ok.example", script: ask + "https://OK.EXAMPLE/", served: "served OK.EXAMPLE GET 0", to: []string{ok}},
		{name: "TLS for another server", hosts: "ok.example", script: ask + "--connect-to evil.example:443:ok.example:443 https://evil.example/", to: []string{ok}, quiet: true},
		{name: "TLS for another that is granted", hosts: "ok.example ok2.example", script: ask + "--connect-to ok2.example:443:ok.example:443 https://ok2.example/", to: []string{ok}, quiet: true},
		{name: "TLS for nobody", hosts: "ok.example", script: `echo | timeout 30 openssl s_client -quiet -proxy 127.0.0.1:61080 -noservername -connect ok.example:443 2>&1 | grep -c BEGIN`, to: []string{ok}, quiet: true},
		{name: "TLS for an address", hosts: "ok.example", script: ask + "--connect-to 45.50.0.66:443:ok.example:443 https://45.50.0.66/", to: []string{ok}, quiet: true},
		{name: "TLS that is none", hosts: "ok.example", script: `exec 3<>/dev/tcp/127.0.0.1/61080; printf 'CONNECT ok.example:443 HTTP/1.1\r\nHost: ok.example:443\r\n\r\n' >&3; read -r l <&3; printf '\026\003\001\000\004abcd' >&3; timeout 30 cat <&3`, to: []string{ok}, quiet: true},
		{name: "TLS on another port", hosts: "ok.example", script: ask + "--connect-to evil.example:443:ok.example:8080 https://evil.example/", to: []string{ok}, quiet: true},
		{name: "TLS to an address that is granted", hosts: ok, script: ask + "https://" + ok + "/", served: "served " + ok + " GET 0", to: []string{ok}},
	}
}

func rebindCases() []netCase {
	ask := func(name string) string { return "curl -s -m 30 http://" + name + "/" }
	return []netCase{
		{name: "one good address of two", hosts: "mixed.example", script: ask("mixed.example"), served: "served mixed.example GET 0", to: []string{"45.50.0.12"}},
		{name: "the address changes", hosts: "flip.example", script: ask("flip.example"), served: "served flip.example GET 0", to: []string{"45.50.0.13"}},
		{name: "the address has changed", hosts: "flip.example", script: ask("flip.example")},
		{name: "the first address is private", hosts: "flop.example", script: ask("flop.example")},
		{name: "and then it is not", hosts: "flop.example", script: ask("flop.example"), served: "served flop.example GET 0", to: []string{"45.50.0.13"}},
		{name: "in one command", hosts: "flop2.example", script: "curl -s -m 30 -o /dev/null http://flop2.example/; curl -s -m 30 https://flop2.example/", to: []string{"45.50.0.14"}},
		{name: "only private addresses", hosts: "many.example", script: ask("many.example")},
		{name: "our own address", hosts: "own.example", script: ask("own.example")},
		{name: "our own address of IPv6", hosts: "own6.example", script: ask("own6.example")},
		{name: "a redirect to another host", hosts: "ok.example", script: "curl -sL -m 30 'http://ok.example/to?http://evil.example/'", to: []string{ok}},
		{name: "a redirect to an address", hosts: "ok.example", script: "curl -sL -m 30 'http://ok.example/to?http://169.254.169.254/'", to: []string{ok}},
		{name: "a redirect to this machine", hosts: "ok.example", script: "curl -sL -m 30 'http://ok.example/to?http://127.0.0.1/'", to: []string{ok}},
		{name: "a redirect to TLS elsewhere", hosts: "ok.example", script: "curl -skL -m 30 'https://ok.example/to?https://evil.example/'", to: []string{ok}},
		{name: "no name of its network is known", hosts: "ok.example nowhere.example", script: ask("nowhere.example")},
	}
}

// directCases go past the proxy.
func directCases() (all []netCase) {
	for name, script := range map[string]string{
		"curl by name":        "curl -s -m 3 --noproxy '*' http://ok.example/",
		"curl by address":     "curl -s -m 3 --noproxy '*' http://" + ok + "/",
		"curl by IPv6":        "curl -s -m 3 --noproxy '*' 'http://[2600:1234:5::10]/'",
		"curl without it":     "env -u http_proxy -u https_proxy -u all_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY curl -s -m 3 http://" + ok + "/",
		"wget without it":     "wget -q -T 3 -t 1 --no-proxy -O - http://" + ok + "/",
		"another proxy":       "curl -s -m 3 -x http://" + ok + ":80 http://ok.example/",
		"bash":                `timeout 3 bash -c 'exec 3<>/dev/tcp/` + ok + `/80; printf "GET / HTTP/1.0\r\n\r\n" >&3; cat <&3'`,
		"bash by UDP":         `timeout 3 bash -c 'exec 3<>/dev/udp/` + worldDNS + `/53; echo secret >&3; head -c 1 <&3'`,
		"this machine":        "curl -s -m 3 http://127.0.0.1/",
		"this machine, IPv6":  "curl -s -m 3 'http://[::1]/'",
		"its address":         "curl -s -m 3 --noproxy '*' http://" + agentAddr4 + "/",
		"the metadata":        "curl -s -m 3 --noproxy '*' http://169.254.169.254/",
		"TCP":                 python("AF_INET", "socket.SOCK_STREAM", "0", `("`+ok+`", 80)`),
		"TCP of IPv6":         python("AF_INET6", "socket.SOCK_STREAM", "0", `("2600:1234:5::10", 80)`),
		"TCP of IPv4 in IPv6": python("AF_INET6", "socket.SOCK_STREAM", "0", `("::ffff:`+ok+`", 80)`),
		"multipath TCP":       python("AF_INET", "socket.SOCK_STREAM", "262", `("`+ok+`", 80)`),
		"SCTP":                python("AF_INET", "socket.SOCK_STREAM", "132", `("`+ok+`", 80)`),
		"UDP":                 python("AF_INET", "socket.SOCK_DGRAM", "0", `("`+worldDNS+`", 53)`),
		"UDP of IPv6":         python("AF_INET6", "socket.SOCK_DGRAM", "0", `("2600:1234:5::10", 53)`),
		"UDP-Lite":            python("AF_INET", "socket.SOCK_DGRAM", "136", `("`+worldDNS+`", 53)`),
		"a broadcast":         python("AF_INET", "socket.SOCK_DGRAM", "0", `("255.255.255.255", 53)`),
		"a multicast":         python("AF_INET", "socket.SOCK_DGRAM", "0", `("224.0.0.251", 5353)`),
		"ICMP":                python("AF_INET", "socket.SOCK_DGRAM", "1", `("`+ok+`", 0)`),
		"raw":                 python("AF_INET", "socket.SOCK_RAW", "255", `("`+ok+`", 0)`),
		"packets":             python("AF_PACKET", "socket.SOCK_RAW", "768", `("lo", 0)`),
		"an abstract socket":  python("AF_UNIX", "socket.SOCK_STREAM", "0", `"\0belay-test-network"`),
		"the host's sockets":  python("AF_VSOCK", "socket.SOCK_STREAM", "0", `(2, 1)`),
		"a question":          `python3 -c 'import socket; print("served", socket.getaddrinfo("ok.example", 80))'`,
		"a question over TCP": python("AF_INET", "socket.SOCK_STREAM", "0", `("`+worldDNS+`", 53)`),
		"a new route":         `ip route add default dev lo 2>&1; ip link set lo down 2>&1; ip link add x type veth 2>&1; curl -s -m 3 --noproxy '*' http://` + ok + "/",
		"a new namespace":     "unshare -n curl -s -m 3 http://" + ok + "/ 2>&1",
		"the agent's network": "nsenter -t 1 -n curl -s -m 3 http://" + ok + "/ 2>&1",
	} {
		all = append(all,
			netCase{name: "past the proxy: " + name, hosts: "ok.example six.example", script: script},
			netCase{name: "without a proxy: " + name, script: script},
		)
	}
	return all
}

func servedCases() []netCase {
	const self = `PROCESS_TEST_ROLE=fetch ./self `
	py := func(url string) string {
		return `python3 -c 'import urllib.request, ssl; print(urllib.request.urlopen("` + url + `", context=ssl._create_unverified_context()).read().decode())'`
	}
	return []netCase{
		{name: "curl", hosts: "ok.example", script: "curl -s -m 30 http://ok.example/a?b;c", served: "served ok.example GET 0", to: []string{ok}},
		{name: "curl in a tunnel", hosts: "ok.example", script: "curl -s -m 30 -p http://ok.example/", served: "served ok.example GET 0", to: []string{ok}},
		{name: "a port", hosts: "ok.example", script: "curl -s -m 30 http://ok.example:8080/", served: "served ok.example:8080 GET 0", to: []string{ok}},
		{name: "POST", hosts: "ok.example", script: "head -c 1000000 /dev/zero | curl -s -m 20 --data-binary @- http://ok.example/", served: "served ok.example POST 1000000", to: []string{ok}},
		{name: "chunked", hosts: "ok.example", script: "head -c 1000000 /dev/zero | curl -s -m 20 -T - http://ok.example/", served: "served ok.example PUT 1000000", to: []string{ok}},
		{name: "a large answer", hosts: "ok.example", script: "curl -s -m 20 http://ok.example/big | wc -c", served: "1048576", to: []string{ok}},
		{name: "a large answer by TLS", hosts: "ok.example", script: "curl -sk -m 20 https://ok.example/big | wc -c", served: "1048576", to: []string{ok}},
		{name: "a redirect", hosts: "ok.example ok2.example", script: "curl -sL -m 30 'http://ok.example/to?http://ok2.example/'", served: "served ok2.example GET 0", to: []string{ok, ok2}},
		{name: "many at a time", hosts: "ok.example", script: "for i in 1 2 3 4 5 6 7 8; do curl -s -m 20 http://ok.example/ & done; wait", served: strings.Repeat("served ok.example GET 0\n", 8), to: []string{ok}},
		{name: "IPv6", hosts: "six.example", script: "curl -s -m 30 http://six.example/", served: "served six.example GET 0", to: []string{"2600:1234:5::10"}},
		{name: "a name that is not English", hosts: "xn--bcher-kva.example", script: "curl -s -m 30 http://xn--bcher-kva.example/", served: "served xn--bcher-kva.example GET 0", to: []string{"45.50.0.15"}},
		{name: "an address", hosts: "45.50.0.40", script: "curl -s -m 30 http://45.50.0.40/", served: "served 45.50.0.40 GET 0", to: []string{"45.50.0.40"}},
		{name: "an address of IPv6", hosts: "2600:1234:5::40", script: "curl -s -m 30 'http://[2600:1234:5:0:0::40]/'", served: "served [2600:1234:5::40] GET 0", to: []string{"2600:1234:5::40"}},
		{name: "a private address that is granted", hosts: "10.0.0.9", script: "curl -s -m 30 http://10.0.0.9/", served: "served 10.0.0.9 GET 0", to: []string{"10.0.0.9"}},
		{name: "a name at an address that is granted", hosts: "corp.example 10.0.0.7", script: "curl -s -m 30 http://corp.example/", served: "served corp.example GET 0", to: []string{"10.0.0.7"}},
		{name: "a name at an address that is not", hosts: "corp.example 10.0.0.8", script: "curl -s -m 30 http://corp.example/"},
		{name: "this machine", hosts: "localhost", script: "curl -s -m 30 http://localhost/", served: "served by the agent"},
		{name: "a server that speaks first", hosts: "ok.example", script: `exec 3<>/dev/tcp/127.0.0.1/61080; printf 'CONNECT ok.example:22 HTTP/1.1\r\nHost: ok.example:22\r\n\r\n' >&3; timeout 30 cat <&3`, served: "served a banner", to: []string{ok}},
		{name: "wget", hosts: "ok.example", script: "wget -q -T 10 -O - http://ok.example/", served: "served ok.example GET 0", to: []string{ok}},
		{name: "git", hosts: "ok.example", script: "rm -rf clone; git clone -q http://ok.example/git/repo.git clone && cat clone/file", served: "served by git", to: []string{ok}},
		{name: "python", hosts: "ok.example", script: py("http://ok.example/"), served: "served ok.example GET 0", to: []string{ok}},
		{name: "python by TLS", hosts: "ok.example", script: py("https://ok.example/"), served: "served ok.example GET 0", to: []string{ok}},
		{name: "Go", hosts: "ok.example", script: self + "http://ok.example/", served: "served ok.example GET 0", to: []string{ok}},
		{name: "Go by TLS", hosts: "ok.example", script: self + "https://ok.example/", served: "served ok.example GET 0", to: []string{ok}},
		{name: "its own server", hosts: "ok.example", script: `python3 -c '
import http.server, threading, urllib.request
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b"served by itself")
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H)
threading.Thread(target=s.serve_forever, daemon=True).start()
for name in ("localhost", "127.0.0.1"): print(urllib.request.urlopen("http://%s:%d/" % (name, s.server_port)).read().decode())'`, served: "served by itself\nserved by itself"},
	}
}

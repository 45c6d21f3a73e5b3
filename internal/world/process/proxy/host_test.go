package proxy

import (
	"net/netip"
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	for host, want := range map[string]string{
		"example.com": "example.com", "EXAMPLE.Com.": "example.com", "a": "a", "_dmarc.a-b.c9": "_dmarc.a-b.c9",
		"xn--bcher-kva.example": "xn--bcher-kva.example", "localhost": "localhost",
		"1.2.3.4": "1.2.3.4", "[::1]": "::1", "::FFFF:1.2.3.4": "1.2.3.4", "[2001:DB8:0::1]": "2001:db8::1", "0x7f.example": "0x7f.example",

		"": "", ".": "", "a..b": "", ".a": "", "a..": "", "*.example.com": "", "bücher.example": "", "a b": "", "a/b": "", "a@b": "", "a:80": "", "-a.b": "", "a-.b": "",
		"127.1": "", "2130706433": "", "0177.0.0.1": "", "0x7f000001": "", "0x7f.1": "", "0X7F.0x0.0x0.0x1": "", "127.0.0.1.": "", "1.2.3.4.5": "", "1.2.3.04": "", "0x": "",
		"fe80::1%eth0": "", "[1.2.3.4]": "", "[::1": "", "::1]": "", "a\x00.b": "", "a%2eb": "", "１２７.0.0.1": "", "example.com\n": "",
		strings.Repeat("a", 64) + ".b": "", strings.Repeat("abc.", 63) + "ab": "",
	} {
		got, ok := Name(host)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q, %t; want %q", host, got, ok, want)
		}
	}
}

// TestPublic has the edges of every network that is closed.
func TestPublic(t *testing.T) {
	for s, want := range map[string]bool{
		"1.0.0.0": true, "9.255.255.255": true, "11.0.0.0": true, "100.63.255.255": true, "100.128.0.0": true, "126.255.255.255": true,
		"128.0.0.0": true, "169.253.255.255": true, "169.255.0.0": true, "172.15.255.255": true, "172.32.0.0": true, "192.0.1.0": true,
		"192.167.255.255": true, "192.169.0.0": true, "198.17.255.255": true, "198.20.0.0": true, "223.255.255.255": true,
		"2600::1": true, "2a00:1450::1": true, "64:ff9b::808:808": true, "::ffff:8.8.8.8": true,

		"0.0.0.0": false, "0.255.255.255": false, "10.0.0.0": false, "10.255.255.255": false, "100.64.0.0": false, "100.100.100.200": false,
		"100.127.255.255": false, "127.0.0.1": false, "127.255.255.255": false, "169.254.169.254": false, "172.16.0.0": false, "172.31.255.255": false,
		"192.0.0.192": false, "192.0.2.1": false, "192.88.99.1": false, "192.168.0.1": false, "198.18.0.1": false, "198.19.255.255": false,
		"198.51.100.1": false, "203.0.113.9": false, "224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false,
		"::": false, "::1": false, "::ffff:127.0.0.1": false, "::127.0.0.1": false, "::8.8.8.8": false, "::ffff:169.254.169.254": false,
		"2002:7f00:1::": false, "2002:a9fe:a9fe::1": false, "2002:808:808::": false, "64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false,
		"64:ff9b:1::808:808": false, "fd00:ec2::254": false, "fc00::1": false, "fe80::1": false, "fec0::1": false, "ff02::1": false, "2001::1": false,
		"2001:20::1": false, "2001:db8::1": false, "3fff::1": false, "100::1": false, "4000::1": false, "fe80::1%lo": false,
	} {
		if got := public(netip.MustParseAddr(s)); got != want {
			t.Errorf("%s: %t", s, got)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address")
	}
}

// A name that is granted is what it is, however often it is read, and is no
// address that others would read in it.
func FuzzName(f *testing.F) {
	for _, s := range []string{"example.com", "A.B.", "[::1]", "0x7f.1", "1.2.3.4", "::ffff:1.2.3.4", "xn--a", "*.a", "é.a", "a%00", "fe80::1%1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, ok := Name(s)
		if !ok {
			return
		}
		if again, ok := Name(name); !ok || again != name {
			t.Fatalf("%q is %q, which is %q, %t", s, name, again, ok)
		}
		if strings.ToLower(name) != name || strings.ContainsAny(name, "/@%*\\ \t\r\n\x00[]?#") || len(name) > 253 {
			t.Fatalf("%q is %q", s, name)
		}
		if a, err := netip.ParseAddr(name); err == nil {
			if a.Is4In6() || a.String() != name {
				t.Fatalf("%q is the address %q", s, name)
			}
		} else if strings.Contains(name, ":") {
			t.Fatalf("%q is %q", s, name)
		}
	})
}

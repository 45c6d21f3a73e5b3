package proxy

import (
	"net/netip"
	"strings"
)

// Name returns a host as it is granted and asked for: a name in lower case
// without the dot at its end, or an address in its usual form. It is not ok for
// what is neither: a pattern, a name that is not ASCII (which has to be written
// as it is in DNS, "xn--..."), an address with a zone, and an address that is
// spelt as no more than some programs read it, such as 0x7f.1 or 2130706433.
func Name(host string) (name string, ok bool) {
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		inner, closed := strings.CutSuffix(inner, "]")
		if !closed || !strings.Contains(inner, ":") {
			return "", false
		}
		host = inner
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String(), a.Zone() == ""
	}
	name = strings.ToLower(strings.TrimSuffix(host, "."))
	if len(name) == 0 || len(name) > 253 {
		return "", false
	}
	last := ""
	for label := range strings.SplitSeq(name, ".") {
		if !isLabel(label) {
			return "", false
		}
		last = label
	}
	return name, !isNumber(last)
}

func isLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// isNumber reports whether a name that ends in label is read as an address by
// some.
func isNumber(label string) bool {
	if strings.Trim(label, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(label, "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// closed are the networks that no name may lead to: of this machine, of those
// around it, of the clouds that it may run in, and what is no host at all.
var closed = prefixes(`
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12
192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15
198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32
2001::/23 2001:db8::/32 2002::/16 3fff::/20`)

var (
	unicast = netip.MustParsePrefix("2000::/3")     // all that IPv6 has given out
	nat64   = netip.MustParsePrefix("64:ff9b::/96") // addresses of IPv4, on a network without it
)

func prefixes(list string) (all []netip.Prefix) {
	for s := range strings.FieldsSeq(list) {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

// public reports whether a is an address on the internet. One of IPv6 that
// stands for one of IPv4 is judged as that, or is none.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	for _, p := range closed {
		if p.Contains(a) {
			return false
		}
	}
	return a.Is4() || unicast.Contains(a)
}

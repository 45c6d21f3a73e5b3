package cli

import (
	"strings"
	"testing"
)

func TestUpstream(t *testing.T) {
	for environ, want := range map[string]string{
		"":                       "",
		"NO_PROXY=a":             "",
		"HTTPS_PROXY=http://p:1": "http://p:1",
		"https_proxy=p:1":        "http://p:1",
		"HTTP_PROXY=http://q HTTPS_PROXY=https://me:x@p:1 NO_PROXY=a,.b": "https://me:x@p:1 a .b",
		"HTTPS_PROXY=http://p no_proxy=a":                                "http://p a",
		"ALL_PROXY=socks5://p:1":                                         "",
		"ALL_PROXY=socks5://p:1 HTTP_PROXY=http://q":                     "http://q",
		"HTTPS_PROXY=://":                                                "",
		"HTTPS_PROXY=http://":                                            "",
	} {
		proxy, direct := System{Environ: strings.Fields(environ)}.upstream()
		got := strings.Join(direct, " ")
		if proxy != nil {
			got = strings.TrimSpace(proxy.String() + " " + got)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", environ, got, want)
		}
	}
}

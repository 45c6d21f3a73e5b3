package cli

import (
	"net/url"
	"strings"
)

// upstream returns the proxy through which this machine reaches hosts, nil if it
// needs none, and the domains that it reaches without.
func (s System) upstream() (proxy *url.URL, direct []string) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"} {
		value := s.getenv(name)
		if value == "" {
			continue
		}
		if !strings.Contains(value, "://") {
			value = "http://" + value
		}
		u, err := url.Parse(value)
		if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" {
			proxy = u
			break
		}
	}
	if proxy == nil {
		return nil, nil
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if value := s.getenv(name); value != "" {
			return proxy, strings.Split(value, ",")
		}
	}
	return proxy, nil
}

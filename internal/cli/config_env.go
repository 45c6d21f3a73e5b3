package cli

import (
	"net/url"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/world/provider"
)

// inherited are the variables that commands get without being asked for: what a
// shell needs, how to reach the network, and where toolchains keep their things.
// Names that end in an underscore stand for all that begin so.
var inherited = []string{
	"PATH", "HOME", "LANG", "LANGUAGE", "LC_", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL", "TZ",
	"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
	"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOPRIVATE", "GONOSUMDB", "GOSUMDB", "GOTOOLCHAIN", "GOWORK",
	"CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "NVM_DIR", "VIRTUAL_ENV", "CONDA_PREFIX",
}

// childEnv returns what a command or server gets of the environment: the
// inherited variables and those that the user passes by name. Keys of providers,
// Belay's own variables, and what changes how programs load or where git works
// are not among the inherited.
func (s System) childEnv(c *Config) []string {
	var env []string
	for _, kv := range s.Environ {
		name, _, ok := strings.Cut(kv, "=")
		if ok && (isInherited(name) || slices.Contains(c.Pass, name)) {
			env = append(env, kv)
		}
	}
	return env
}

func isInherited(name string) bool {
	return slices.ContainsFunc(inherited, func(in string) bool {
		return name == in || strings.HasSuffix(in, "_") && strings.HasPrefix(name, in)
	})
}

// providerKeys are the variables that hold keys by convention.
func providerKeys() []string {
	names := []string{"ANTHROPIC_AUTH_TOKEN"}
	for _, maker := range provider.Makers() {
		names = append(names, provider.KeyVariable(maker))
	}
	return names
}

// secrets returns by name the secrets that Belay holds, whatever their length:
// keys of providers, set or in the environment, passwords in base URLs, and the
// variables for commands whose names say that they are secret.
func (s System) secrets(c *Config) map[string]string {
	held := make(map[string]string)
	add := func(name, value string) {
		if value = strings.TrimSpace(value); value != "" {
			held[name] = value
		}
	}
	for name, p := range c.Providers {
		add("providers."+name+".key", p.Key)
		add("providers."+name+".base_url", password(p.BaseURL))
		add(p.KeyEnv, s.getenv(p.KeyEnv))
	}
	for _, name := range providerKeys() {
		add(name, s.getenv(name))
	}
	for _, name := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"} {
		add(name, password(s.getenv(name)))
	}
	for _, name := range c.Pass {
		if soundsSecret(name) {
			add(name, s.getenv(name))
		}
	}
	return held
}

// password returns the password in base, "" if there is none.
func password(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	p, _ := u.User.Password()
	return p
}

func soundsSecret(name string) bool {
	for word := range strings.SplitSeq(strings.ToUpper(name), "_") {
		switch word {
		case "KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PAT", "CREDENTIALS", "AUTH":
			return true
		}
	}
	return false
}

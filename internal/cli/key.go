package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/provider"
)

const (
	keyWait = 30 * time.Second // for a command to print a key: a person may have to unlock what holds it
	maxKey  = 16 << 10         // bytes

	dialWait  = 30 * time.Second // for a connection, and for its TLS
	pingAfter = 30 * time.Second // of silence, whether the connection is still there:
	pingWait  = 15 * time.Second // after a sleep, or in another network, it is not
	maxCA     = 1 << 20          // bytes of a file of certificates
)

// key returns the key of a provider, "" if there is none, and where the user sets
// it. A command that prints it runs once for each Config.
func (s System) key(ctx context.Context, c *Config, maker string) (key, setting string, err error) {
	p := c.Providers[maker]
	setting = "providers." + maker + ".key"
	if p.Key == "" && p.KeyCommand != "" {
		setting = "providers." + maker + ".key_command"
		if p.Key, err = s.keyFrom(ctx, p.KeyCommand); err != nil {
			if ctx.Err() != nil {
				return "", setting, context.Cause(ctx)
			}
			return "", setting, usage("%s: %v", setting, err)
		}
		c.Providers[maker] = p
	}
	if p.Key != "" {
		return strings.TrimSpace(p.Key), setting, nil
	}
	if variable := provider.KeyVariable(maker); variable != "" {
		return strings.TrimSpace(s.getenv(variable)), variable, nil // what a file or a paste leaves at its end is no part of it
	}
	return "", setting, nil
}

// keyFrom runs a command of the user, without a shell, and returns the first line
// that it prints. What it prints is in no error.
func (s System) keyFrom(ctx context.Context, command string) (string, error) {
	argv, err := splitWords(command)
	if err != nil {
		return "", err
	}
	host, err := process.Open("")
	if err != nil {
		return "", err
	}
	defer func() { _ = host.Close() }() // it has ended
	dir, err := os.UserHomeDir()
	if err != nil {
		dir = os.TempDir()
	}
	exit, err := host.Run(ctx, process.Command{
		Argv: argv, Dir: dir, Env: s.Environ, Apart: true, Keep: maxKey, Timeout: keyWait,
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("run %s: %w", argv[0], err)
	case exit.TimedOut:
		return "", fmt.Errorf("%s printed no key within %v", argv[0], keyWait)
	case exit.Signal != "":
		return "", fmt.Errorf("%s was ended by %s", argv[0], exit.Signal)
	case exit.Code != 0:
		return "", fmt.Errorf("%s exited with status %d; run it by hand to see why", argv[0], exit.Code)
	}
	key := printed(exit)
	switch {
	case key == "":
		return "", fmt.Errorf("%s printed no key", argv[0])
	case strings.ContainsFunc(key, unicode.IsControl):
		return "", fmt.Errorf("%s printed a control character where a key should be", argv[0])
	}
	return key, nil
}

// printed returns the first line of the output of a command that is not one of its
// stderr, where the system tells the two apart.
func printed(exit process.Exit) string {
	said := strings.Split(string(exit.Err.Head), "\n")
	for line := range strings.Lines(string(exit.Head)) {
		line = strings.TrimSuffix(line, "\n")
		if i := slices.Index(said, line); i >= 0 && line != "" {
			said = slices.Delete(said, i, i+1)
			continue
		}
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// splitWords splits a command at blanks; quotes of either kind keep them. Nothing
// else means anything: there is no shell.
func splitWords(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if begun {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("the command is empty")
	}
	return words, nil
}

// transport reaches a provider through the proxies that the environment names,
// and trusts the certificates of the system and those in the file caFile.
func (s System) transport(maker, caFile string) (*http.Transport, error) {
	tr := &http.Transport{
		Proxy: http.ProxyFromEnvironment, OnProxyConnectResponse: provider.CheckProxy,
		DialContext:         (&net.Dialer{Timeout: dialWait}).DialContext,
		TLSHandshakeTimeout: dialWait, ForceAttemptHTTP2: true,
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingWait},
	}
	if caFile == "" {
		return tr, nil
	}
	setting := "providers." + maker + ".ca_file"
	pem, err := readCA(caFile)
	if err != nil {
		return nil, usage("%s: %v", setting, err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, usage("%s: %s has no certificate in PEM form", setting, caFile)
	}
	tr.TLSClientConfig = &tls.Config{RootCAs: roots}
	return tr, nil
}

func readCA(file string) ([]byte, error) {
	info, err := os.Stat(file) // opening a pipe would wait
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	return io.ReadAll(io.LimitReader(f, maxCA))
}

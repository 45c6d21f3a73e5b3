package process

import (
	"regexp"
	"slices"
	"strings"
)

// blocked are what programs print of what a sandbox stopped, with what it was
// about.
var blocked = []string{
	`(?i)(/[^\s:'"‘’]+)['"’]?:? *(?:\([^)]*\))?:? *read-only file system`,
	`(?i)read-only file system[^/\n]{0,20}['"‘]?(/[^\s:'"‘’]+)`,
	`(?i)(?:could not resolve host(?:name)?|temporary failure resolving|name or service not known)[:\s]+['"]?([\w.-]+\.[\w-]+)`,
	`(?i)(?:lookup|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)) ([\w.-]+\.[\w-]+)`,
	`(?i)dial (?:tcp|udp) (\[?[\w.:]+\]?:\d+): connect: network is unreachable`,
}

// vague are what they print of it otherwise.
var vague = []string{
	"read-only file system", "network is unreachable", "temporary failure in name resolution",
	"operation not permitted", "permission denied", "could not resolve host",
}

// openTo is before the hosts in a profile.
const openTo = ", network open to "

// Hint says what of the failure of a command is the work of what held it, given
// what it printed to stderr: which path or host, where that shows it; else that
// the sandbox was on, where that could be why. It is "" where it is not: what
// did not fail, or what nothing held.
func (e Exit) Hint(stderr []byte) string {
	held, _, _ := strings.Cut(e.Profile, ",")
	if e.Memory && (e.Code != 0 || e.Signal != "") {
		return "something was killed because the limit of memory or of processes was reached"
	}
	if e.Code == 0 && e.Signal == "" || held == "" || held == string(None) {
		return ""
	}
	text := string(stderr)
	switch {
	case e.Signal == "SIGXFSZ" || e.Code == 153:
		return "a file reached the limit of its size"
	case e.Signal == "SIGSYS":
		return "the sandbox refuses programs of another architecture"
	}
	if len(e.Refused) > 0 {
		return "the sandbox let it reach no " + strings.Join(e.Refused, ", ")
	}
	for i, pattern := range blocked {
		m := regexp.MustCompile(pattern).FindStringSubmatch(text) // rarely: not worth the start of every run
		switch {
		case m == nil:
		case i < 2:
			return "the sandbox keeps " + m[1] + " read-only: the command was not let write there"
		case slices.Contains(e.opened(), strings.Trim(m[1], ".")):
			return "the sandbox opens " + strings.Trim(m[1], ".") + " only through the proxy that HTTPS_PROXY names, and the program did not use that"
		default:
			return "the sandbox has no network: the command was not let reach " + strings.Trim(m[1], ".")
		}
	}
	low := strings.ToLower(text)
	for _, words := range vague {
		if strings.Contains(low, words) {
			return "the sandbox was on (" + e.Profile + "), and may be why"
		}
	}
	return ""
}

// opened returns the hosts that were opened to the command.
func (e Exit) opened() []string {
	_, hosts, _ := strings.Cut(e.Profile, openTo)
	return strings.Split(hosts, ", ")
}

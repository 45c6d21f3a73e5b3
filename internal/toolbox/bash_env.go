package toolbox

import (
	"slices"
	"strings"
)

// unattended are the variables that keep programs from waiting for a person who
// is not there: what is long is printed, what needs a password or an editor
// fails at once.
var unattended = [...]string{
	"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat",
	"EDITOR=false", "VISUAL=false", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false",
	"GIT_TERMINAL_PROMPT=0", "DEBIAN_FRONTEND=noninteractive",
}

// environ returns env for a command that nobody sits before, or for one on a
// terminal.
func environ(env []string, terminal bool) []string {
	if !terminal {
		return append(slices.Clip(env), unattended[:]...)
	}
	if slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "TERM=") && kv != "TERM=dumb" }) {
		return env
	}
	return append(slices.Clip(env), "TERM=xterm-256color")
}

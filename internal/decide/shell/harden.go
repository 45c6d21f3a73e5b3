package shell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// Hardened is the profile of a script with git commands that only read.
const Hardened = "git-hardened"

// Environ returns what of an environment a script runs with, given its parts,
// and the profile that this makes, "" if none. A script that may do more than
// read has all of env, and so has one that is there to show it. One that only reads has nothing that could make a program
// do more; and its git commands, if it has some, get settings with which they
// run, write and reach nothing: the profile is then Hardened.
func Environ(parts []tool.Part, env []string) (clean []string, profile string) {
	if len(parts) == 0 || !onlyRead(parts) || showsEnvironment(parts) && !usesGit(parts) {
		return env, ""
	}
	for _, kv := range env {
		switch name, _, _ := strings.Cut(kv, "="); {
		case strings.HasPrefix(name, "LC_"), strings.Contains(" PATH HOME LANG TERM TMPDIR USER LOGNAME SHELL TZ ", " "+name+" "):
			clean = append(clean, kv)
		}
	}
	if !usesGit(parts) {
		return clean, ""
	}
	clean = append(clean,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_EDITOR=false", "GIT_ASKPASS=false", "GIT_SSH_COMMAND=false",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)),
	)
	for i, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		n := strconv.Itoa(i)
		clean = append(clean, "GIT_CONFIG_KEY_"+n+"="+key, "GIT_CONFIG_VALUE_"+n+"="+value)
	}
	return clean, Hardened
}

// settings take from the repository what could run, write or reach out.
var settings = [...]string{
	"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.attributesFile=/dev/null",
	"core.untrackedCache=false", "core.preloadIndex=false", "core.alternateRefsCommand=false", "core.gitProxy=none",
	"core.sshCommand=false", "core.askPass=false", "credential.helper=", "log.showSignature=false", "gpg.program=false",
	"gpg.ssh.program=false", "gpg.x509.program=false", "protocol.allow=never", "submodule.recurse=false",
	"diff.autoRefreshIndex=false", "diff.ignoreSubmodules=all", "status.submoduleSummary=false", "maintenance.auto=false", "gc.auto=0",
	"column.ui=never", "color.ui=false", "safe.bareRepository=explicit",
}

// showsEnvironment reports whether a part is there to show what commands get.
func showsEnvironment(parts []tool.Part) bool {
	return slices.ContainsFunc(parts, func(p tool.Part) bool {
		return slices.Contains(p.Effects, effect.Effect{Kind: effect.Read, On: "/proc/self/environ"})
	})
}

func usesGit(parts []tool.Part) bool {
	for _, p := range parts {
		if strings.HasPrefix(p.Name, "git ") {
			return true
		}
	}
	return false
}

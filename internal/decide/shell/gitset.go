package shell

import (
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// harmless reports whether git does no more with a setting than without it. Such a
// setting also counts in the profile Hardened, whose own it goes before.
func harmless(setting string) bool {
	key, value, _ := strings.Cut(setting, "=")
	key = strings.ToLower(key)
	switch key {
	case "user.name", "user.email", "author.name", "author.email", "committer.name", "committer.email",
		"init.defaultbranch", "core.quotepath", "core.abbrev", "core.safecrlf", "core.commentchar",
		"log.date", "log.decorate", "log.abbrevcommit", "log.follow", "diff.renames", "diff.renamelimit", "diff.algorithm",
		"diff.context", "diff.interhunkcontext", "diff.noprefix", "diff.mnemonicprefix", "diff.colormoved",
		"merge.conflictstyle", "merge.ff", "merge.renames", "pull.ff", "push.default", "status.short", "status.branch",
		"status.showuntrackedfiles", "status.renames", "tag.sort", "branch.sort", "rerere.enabled":
		return true
	case "commit.gpgsign", "tag.gpgsign", "push.gpgsign", "log.showsignature", "core.fsmonitor", "maintenance.auto", "submodule.recurse", "gc.auto":
		return value == "false" || value == "0"
	case "core.pager":
		return value == "cat"
	case "core.editor", "sequence.editor":
		return value == "true" || value == ":"
	case "core.hookspath":
		return value == "/dev/null"
	}
	section, _, _ := strings.Cut(key, ".")
	switch section {
	case "advice", "color", "column":
		return true
	case "pager":
		return value == "cat" || value == "false"
	}
	return false
}

// inertSetting reports whether a setting that is not known to be harmless at least names
// no program.
func inertSetting(key, value string) bool {
	key = strings.ToLower(key)
	section, rest, _ := strings.Cut(key, ".")
	last := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "user", "author", "committer", "init", "http", "https", "safe", "fetch", "push", "pull", "branch", "transfer", "rebase", "apply", "log",
		"status", "index", "feature", "grep", "blame", "gc", "pack", "repack", "i18n", "format", "rerere", "stash", "tag", "checkout", "clone", "commit":
		return last != "templatedir"
	case "core":
		return strings.Contains(" autocrlf eol safecrlf ignorecase filemode symlinks longpaths compression bigfilethreshold excludesfile whitespace precomposeunicode protecthfs protectntfs logallrefupdates bare ", " "+last+" ")
	case "remote":
		return (last == "url" || last == "pushurl" || last == "fetch" || last == "prune" || last == "tagopt") && !strings.Contains(value, "::")
	case "merge", "diff":
		return strings.Count(key, ".") == 1 && last != "external" && last != "tool" && last != "guitool"
	case "url":
		return last == "insteadof" && !strings.Contains(key, "::")
	}
	return false
}

// elsewhere lets git begin in another directory.
func (m *match) elsewhere(a arg) {
	if a.known && !a.pipe && a.text == "" {
		return
	}
	m.d.path(effect.Read, a, false)
	there := state{vars: m.d.s.vars}
	if a.known && !a.pipe {
		there.dirs = m.d.at(a.text)
	}
	if slices.Contains(there.dirs, "") {
		there.dirs = nil
	}
	m.d.s = &there
}

package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// grammar takes words that are little programs of their own.
func (m *match) grammar(kind string, a arg) {
	d := m.d
	if !a.known || a.pipe {
		if kind != "echo" || m.escapes() {
			d.unclear("%s is not written out", a.shown)
		}
		switch kind {
		case "sed", "awk", "gitset", "gitconf", "foreach", "makearg", "sshopt":
			d.hides("what %s runs", m.all[0].shown)
		}
		return
	}
	switch kind {
	case "sed":
		m.sed(a.text)
	case "awk":
		m.awk(a.text)
	case "jq":
		for _, word := range []string{"env", "ENV", "input_filename", "import", "include"} {
			if strings.Contains(a.text, word) {
				d.unclear("the jq program has %s", word)
			}
		}
	case "printf":
		if !plainFormat(a.text) || !plainVerbs(a.text) {
			d.unclear("the format may drive a terminal, or set a variable")
		}
	case "escapes":
		if !plainFormat(a.text) {
			d.unclear("the format may drive a terminal")
		}
	case "gitformat":
		if strings.Contains(a.text, "%G") || strings.Contains(a.text, "%x") || strings.Contains(a.text, "%(trailers") {
			d.unclear("the format may run or print more")
		}
	case "echo":
		if strings.Contains(a.text, `\`) && m.escapes() && !plainFormat(a.text) {
			d.unclear("the text may drive a terminal")
		}
	case "format":
		if !strings.HasPrefix(a.text, "+") {
			d.process("")
			d.unclear("date may set the clock")
		}
	case "count":
		if !digits(strings.TrimLeft(strings.TrimRight(strings.ReplaceAll(a.text, ".", ""), "smhdkKMGBb"), "+-")) {
			d.unclear("%s is no number", a.shown)
		}
	case "dd":
		m.dd(a)
	case "tarfile":
		m.tarfile(a)
	case "upload":
		if at := strings.LastIndexByte(a.text, '@'); at >= 0 {
			d.path(effect.Read, literal(a.text[at+1:]), false)
		}
	case "push":
		if strings.HasPrefix(a.text, "+") || strings.HasPrefix(a.text, ":") {
			d.permanent()
		}
	default:
		m.words(kind, a)
	}
}

// words takes words that mean something to one program.
func (m *match) words(kind string, a arg) {
	d := m.d
	switch kind {
	case "include":
		m.public = true
		m.exposed = m.exposed || !named(a.text)
	case "glob": // what rg is told to look at it does, even if it is hidden
		m.searches = m.searches || !strings.HasPrefix(a.text, "!") && !named(path.Base(a.text))
	case "gitarg":
		m.gitarg(a)
	case "gitname":
		if !m.lists { // a branch or a tag is made or taken away
			m.d.process("git")
			m.d.add(effect.Effect{Kind: effect.Git})
			m.effect("writes=.git")
			m.effect("code")
		}
	case "gitset":
		if !harmless(a.text) {
			d.unclear("the setting %s may run something", a.text)
			m.setting(a.text)
		}
	case "gitconf":
		m.config = append(m.config, a)
	case "foreach":
		m.joins = append(m.joins, a)
	case "service":
		switch a.text {
		case "stop", "disable", "mask", "kill", "isolate", "poweroff", "reboot", "halt", "rescue", "emergency", "revert", "set-default",
			"unload", "bootout", "remove", "unmask", "reset":
			d.permanent()
		}
	case "database":
		if a.text != ":memory:" {
			d.path(effect.Read, a, false)
			d.path(effect.Write, a, false)
			d.permanent()
		}
	case "makefile":
		d.path(effect.Read, a, false)
		if a.text == "-" || strings.HasPrefix(a.text, "/dev/") {
			m.stdin()
		}
	case "makearg":
		if strings.Contains(a.text, "$") {
			d.hides("what %s works out of %s", m.t.name, a.shown)
		}
	case "sshopt":
		if strings.Contains(strings.ToLower(a.text), "command") {
			m.inline(a)
		}
	case "gh":
		switch a.text {
		case "list", "view", "status", "diff", "checks", "watch":
		default:
			d.permanent()
		}
	case "ghapi":
		switch name, _, _ := strings.Cut(a.text, "="); name {
		case "-X", "--method", "-f", "-F", "--field", "--raw-field", "--input":
			d.permanent()
		}
	default:
		d.unclear("the table of %s has the kind %s", m.t.name, kind)
	}
}

// named reports whether a pattern is only for files of a kind that is no secret.
func named(pattern string) bool {
	kind, ok := strings.CutPrefix(pattern, "*.")
	switch kind {
	case "", "env", "pem", "key", "p12", "pfx", "ppk", "jks", "keystore", "kdbx":
		return false
	}
	return ok && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// gitarg takes a revision, a path, or REVISION:PATH. Of paths outside git makes no
// repository's, and shows them all the same.
func (m *match) gitarg(a arg) {
	text := a.text
	if _, file, ok := strings.Cut(text, ":"); ok && file != "" && !strings.HasPrefix(text, ":") {
		m.d.path(effect.Read, literal(file), false)
		return
	}
	paths := strings.ContainsAny(text, "/.") && !strings.Contains(text, "..") || path.IsAbs(text) || strings.Contains("/"+text+"/", "/../")
	if paths || len(m.d.s.dirs) > 0 && len(m.d.r.Glob(join(m.d.s.dirs[0], text))) > 0 {
		m.d.path(effect.Read, a, false)
	}
}

// escapes reports whether echo takes backslashes as more than that.
func (m *match) escapes() bool {
	if m.d.r.lang == syntax.LangPOSIX {
		return true
	}
	for _, a := range m.all[1:] {
		if strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "e") {
			return true
		}
	}
	return false
}

// plainFormat reports whether text prints no more than letters, lines and tabs.
func plainFormat(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if i++; i == len(text) || strings.IndexByte(`nt\"'`, text[i]) < 0 {
			return false
		}
	}
	return true
}

// plainVerbs reports whether a format of printf only prints words and numbers.
func plainVerbs(format string) bool {
	for {
		_, rest, ok := strings.Cut(format, "%")
		if !ok {
			return true
		}
		rest = strings.TrimLeft(rest, "0123456789.-+ #*")
		if rest == "" || strings.IndexByte("%sdiuxXofFgGeEc", rest[0]) < 0 {
			return false
		}
		format = rest[1:]
	}
}

// awk takes a program that only reads the files it is given.
func (m *match) awk(text string) {
	code := strings.NewReplacer("||", "", ">=", "").Replace(text)
	for _, word := range []string{"|", ">", "@", "system", "getline", "ENVIRON", "PROCINFO", "ARGV", "ARGC", "SYMTAB", "FUNCTAB", "%c"} {
		if strings.Contains(code, word) {
			m.d.unclear("the awk program has %s", word)
			if strings.ContainsAny(code, "|@") || strings.Contains(code, "system") {
				m.d.hides("what %s runs", m.all[0].shown)
			}
			return
		}
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if i++; i == len(text) || strings.IndexByte(`nt"/.$()[]{}+*?|^sSwWy<>\`, text[i]) < 0 {
			m.d.unclear("the awk program has an escape that may drive a terminal")
			return
		}
	}
}

// dd takes an operand of dd.
func (m *match) dd(a arg) {
	name, value, ok := strings.Cut(a.text, "=")
	switch {
	case !ok:
		m.d.unclear("%s is not known", a.shown)
	case name == "if":
		m.d.path(effect.Read, literal(value), false)
	case name == "of":
		m.d.path(effect.Write, literal(value), false)
		m.d.permanent()
	case name == "bs" || name == "count" || name == "skip" || name == "seek" || name == "status" || name == "ibs" || name == "obs" || name == "conv":
	default:
		m.d.unclear("%s is not known", a.shown)
	}
}

func (m *match) tarfile(a arg) {
	if strings.Contains(a.text, ":") {
		m.d.host(a.text)
		m.d.unclear("tar reads %s from another machine", a.shown)
		return
	}
	m.d.path(effect.Read, a, false)
	if m.inplace {
		m.d.path(effect.Write, a, false)
	}
}

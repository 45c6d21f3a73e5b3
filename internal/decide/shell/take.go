package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// effect adds what a table says.
func (m *match) effect(word string) {
	d := m.d
	kind, on, _ := strings.Cut(word, "=")
	here := func(k effect.Kind, tree bool) { d.path(k, literal(on), tree) }
	switch kind {
	case "process":
		d.process(m.all[0].text)
	case "code":
		d.code("%s runs code of the workspace", strings.ReplaceAll(m.t.name, "/", " "))
	case "opaque":
		d.hides("what %s runs", m.all[0].shown)
	case "stdin":
		m.stdin()
	case "checks":
		m.checks = true
	case "unclear":
		d.unclear("what %s does is not bounded", strings.ReplaceAll(m.t.name, "/", " "))
	case "network":
		d.add(effect.Effect{Kind: effect.Network, On: on})
	case "git":
		d.add(effect.Effect{Kind: effect.Git})
	case "hardened":
		m.hardened()
	case "permanent":
		d.permanent()
	case "resource":
		d.add(effect.Effect{Kind: effect.Resource, On: on})
	case "read":
		here(effect.Read, false)
	case "tree":
		here(effect.Read, true)
	case "write":
		here(effect.Write, false)
	case "writes":
		here(effect.Write, true)
	case "secrets":
		m.searches = true
	case "public":
		m.public = true
	case "lists":
		m.lists = true
	case "inplace":
		m.inplace = true
	case "outside", "homedir":
		d.add(effect.Effect{Kind: effect.Write})
	case "deletes":
		d.permanent()
	default:
		d.unclear("the table of %s says %s", m.t.name, word)
	}
}

// hardened lets git read if nothing that the repository says can run.
func (m *match) hardened() {
	d := m.d
	d.add(effect.Effect{Kind: effect.Read, On: ".", Tree: true})
	plain := d.r.harden && d.r.Plain != nil && len(d.s.dirs) > 0
	for _, dir := range d.s.dirs {
		plain = plain && d.r.Plain(dir)
	}
	if !plain {
		d.process("git")
		d.code("git runs what the settings of the repository name")
	}
}

// take adds what a value or operand of a kind does.
func (m *match) take(kind string, a arg) {
	d := m.d
	switch kind {
	case "text":
	case "known":
		if !a.known {
			d.unclear("%s is not written out", a.shown)
		}
	case "read", "tree":
		if a.known && a.text == "-" && !a.pipe {
			return
		}
		d.path(effect.Read, a, kind == "tree")
		if m.inplace {
			d.replaced(a, kind == "tree")
		}
		if m.searches && kind == "tree" && a.known && !a.pipe {
			m.secrets(a.text)
		}
	case "file":
		d.path(effect.Read, a, false)
		if a.known && !a.pipe && m.isDir(a.text) {
			d.unclear("%s is a directory", a.shown)
		}
	case "codefile":
		d.path(effect.Read, a, false)
		d.process("")
		d.code("%s runs %s", m.t.name, a.shown)
		if !m.checks {
			d.script(a)
		}
	case "write", "writes":
		d.path(effect.Write, a, kind == "writes")
	case "change":
		d.path(effect.Read, a, false)
		d.replaced(a, false)
	case "move":
		d.path(effect.Read, a, true)
		d.replaced(a, true)
		if !a.known || !(effect.Effect{Kind: effect.Write, On: d.first(a)}).Inside() {
			d.permanent()
		}
	case "link":
		if slices.ContainsFunc(m.all, func(a arg) bool { return strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "s") }) {
			return
		}
		d.path(effect.Read, a, false)
		d.path(effect.Write, a, false)
	case "remove":
		d.replaced(a, true)
		d.permanent()
	case "dest":
		m.dest(a)
	case "gitdir":
		m.elsewhere(a)
	case "host", "url", "remote":
		m.remote(kind, a)
	case "split":
		m.d.code("%s runs %s", m.t.name, a.shown)
		if m.split = a.text; !a.known || a.pipe {
			m.d.hides("what %s runs", m.t.name)
		}
	case "inline":
		m.inline(a)
	case "module":
		m.module(a)
	case "script":
		m.silent, m.scripted = true, true
		m.scripts = append(m.scripts, a)
	default:
		m.grammar(kind, a)
	}
}

// dest is where files are put: a file or, if it is there, a directory.
func (m *match) dest(a arg) {
	if a.known && m.t.name == "ln" && m.count == 1 { // the name is made here
		a = literal(path.Base(a.text))
	}
	if m.t.name == "mv" && strings.HasPrefix(a.text, "/dev/") {
		m.d.permanent()
	}
	if !a.known || a.pipe || len(m.d.s.dirs) != 1 {
		m.d.replaced(a, true)
		return
	}
	if !m.isDir(a.text) {
		m.d.replaced(a, false)
		return
	}
	if slices.ContainsFunc(m.all, noFollow) {
		m.d.name(a, false)
	}
	for _, source := range m.all[1 : len(m.all)-1] {
		if !source.known || strings.HasPrefix(source.text, "-") {
			continue
		}
		m.d.replaced(literal(a.text+"/"+path.Base(source.text)), true)
	}
}

// noFollow reports whether an option may say that a link to a directory is no directory.
func noFollow(a arg) bool {
	switch {
	case strings.HasPrefix(a.text, "--"):
		return a.text == "--no-dereference" || a.text == "--no-target-directory"
	case strings.HasPrefix(a.text, "-"):
		return strings.ContainsAny(a.text, "nT")
	}
	return false
}

// secrets notes the known secrets in a directory that is read as a whole.
func (m *match) secrets(dir string) {
	if m.public && !m.exposed {
		return
	}
	for _, from := range m.d.s.dirs {
		at := join(join(from, dir), "")
		for _, name := range []string{".env*", "*.pem", "*.key", "id_*", ".netrc"} {
			for _, pattern := range []string{at + name, at + "*/" + name} {
				for _, p := range m.d.r.Glob(pattern) {
					m.d.add(effect.Effect{Kind: effect.Read, On: m.d.r.lead(p)})
				}
			}
		}
	}
}

func (m *match) isDir(p string) bool {
	for _, dir := range m.d.s.dirs {
		if len(m.d.r.Glob(join(dir, p)+"/.")) > 0 {
			return true
		}
	}
	return false
}

func (m *match) remote(kind string, a arg) {
	d := m.d
	switch {
	case !a.known:
		d.add(effect.Effect{Kind: effect.Network})
	case strings.HasPrefix(a.text, "file:"):
		d.add(effect.Effect{Kind: effect.Network})
		d.path(effect.Read, literal(strings.TrimPrefix(strings.TrimPrefix(a.text, "file:"), "//")), true)
	case kind == "remote" && !strings.Contains(a.text, ":"):
		d.path(effect.Read, a, true)
		d.path(effect.Write, a, true)
	default:
		d.host(a.text)
	}
}

// shells follows what a shell is given to run, with the operands behind it.
func (m *match) shells(rest []arg) {
	for _, a := range m.scripts {
		if !a.known || a.pipe {
			m.d.unclear("the script is not written out")
			m.d.hides("what %s runs", m.all[0].shown)
			continue
		}
		m.d.r.inner(a.text, m.lang(), state{dirs: m.d.s.dirs}.given(rest))
	}
}

// lang is what a shell takes its script for.
func (m *match) lang() syntax.LangVariant {
	if base := path.Base(m.all[0].text); base == "sh" || base == "dash" {
		return syntax.LangPOSIX
	}
	return syntax.LangBash
}

package shell

import (
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// other takes a subcommand that no table has. It may be another name for one, or a
// program of its own.
func (m *match) other(sub arg, rest []arg) {
	text, ok := m.aliases[sub.text]
	if ok && sub.known {
		m.aliased(text, rest)
		return
	}
	switch m.t.name {
	case "go", "npm", "yarn", "pnpm", "bun": // these have none, or run what the project says, as they do in any case
	default:
		m.d.hides("what %s %s stands for", m.t.name, sub.shown)
	}
}

// aliased follows what an alias of git's stands for.
func (m *match) aliased(text string, rest []arg) {
	script, whole := strings.CutPrefix(strings.TrimSpace(text), "!")
	if !whole {
		script = "git " + text
	}
	if len(rest) > 0 {
		script += " " + shown(rest)
	}
	m.d.r.inner(script, m.d.r.lang, *m.d.s)
}

// setting takes a setting of git that may run something.
func (m *match) setting(text string) {
	key, text, _ := strings.Cut(text, "=")
	name, alias := strings.CutPrefix(strings.ToLower(key), "alias.")
	switch {
	case alias:
		if m.aliases == nil {
			m.aliases = make(map[string]string)
		}
		m.aliases[name] = text
	case !inertSetting(key, text):
		m.d.hides("what git runs where %s says so", key)
	}
}

// configures follows git config: what an alias stands for is judged where the alias
// is made, since any later command may use it.
func (m *match) configures() {
	for n, a := range m.config[:max(0, len(m.config)-1)] {
		if !strings.Contains(a.text, ".") {
			continue
		}
		to := m.config[n+1]
		m.setting(a.text + "=" + to.text)
		if name, alias := strings.CutPrefix(strings.ToLower(a.text), "alias."); alias {
			m.aliased(m.aliases[name], nil)
			if !to.known || to.pipe {
				m.d.hides("what the alias %s stands for", name)
			}
		}
		return
	}
}

// adds notes the repositories that git add would make part of this one: git obeys
// their settings from then on, here too.
func (m *match) adds(operands []arg) {
	r := m.d.r
	if m.t.name != "git/add" && m.t.name != "git/stage" || r.Nested == nil {
		return
	}
	if len(operands) == 0 {
		operands = []arg{literal(".")}
	}
	for _, a := range operands {
		if !a.known || a.pipe {
			a = literal(".")
		}
		for _, at := range m.d.at(a.text) {
			for _, repository := range r.Nested(at) {
				m.d.add(effect.Effect{Kind: effect.Write, On: repository + "/.git"})
				m.d.code("git then obeys the settings of the repository in %s", repository)
			}
		}
	}
}

// foreach follows a script that is put together from operands.
func (m *match) foreach() {
	if len(m.joins) == 0 {
		return
	}
	text, known := joined(m.joins)
	if !known {
		text = shown(m.joins)
	}
	m.d.r.inner(text, m.lang(), state{})
}

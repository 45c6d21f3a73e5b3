package shell

import (
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// find follows find: where it starts, then tests and actions.
func (m *match) find(args []arg) {
	d := m.d
	n := 0
	for n < len(args) && args[n].known && !args[n].pipe && (args[n].text == "-H" || args[n].text == "-P") {
		n++
	}
	var roots []arg
	for ; n < len(args) && !expression(args[n]); n++ {
		roots = append(roots, args[n])
	}
	if len(roots) == 0 {
		roots = []arg{literal(".")}
	}
	for _, root := range roots {
		d.path(effect.Read, root, true)
	}
	for n < len(args) {
		a := args[n]
		n++
		switch {
		case !a.known || a.pipe:
			d.unclear("%s may be an action", a.shown)
		case a.text == "(" || a.text == ")" || a.text == "!" || a.text == ",":
		case a.text == "-exec" || a.text == "-execdir" || a.text == "-ok" || a.text == "-okdir":
			n += m.exec(args[n:])
		case strings.HasPrefix(a.text, "-"):
			if a.text == "-delete" {
				for _, root := range roots {
					d.path(effect.Write, root, true)
				}
			}
			n += m.word(a, args[n:])
		default:
			d.unclear("%s is no test", a.shown)
		}
	}
}

func expression(a arg) bool {
	return !a.known && a.text == "" || strings.HasPrefix(a.text, "-") || a.text == "(" || a.text == "!"
}

// exec follows what find runs for each file, and returns how many words it is.
func (m *match) exec(args []arg) (n int) {
	var inner []arg
	for n < len(args) {
		a := args[n]
		n++
		if a.known && (a.text == ";" || a.text == "+") {
			break
		}
		if strings.Contains(a.text, "{}") {
			a = arg{shown: a.shown}
		}
		inner = append(inner, a)
	}
	m.d.process("")
	m.d.unclear("find runs a command for each file")
	if len(inner) > 0 {
		m.d.r.callIn(inner, m.d)
	}
	return n
}

// env follows env, which prints the environment or runs a command in another.
func (m *match) env(args []arg) {
	rest := m.options(args)
	for len(rest) > 0 && strings.Contains(rest[0].text, "=") {
		if name, text, _ := strings.Cut(rest[0].text, "="); !people(name) || !rest[0].known {
			m.d.unclear("%s may change what the command does", rest[0].shown)
			m.d.steered(name, value{text, rest[0].known})
		}
		rest = rest[1:]
	}
	for _, a := range args[:len(args)-len(rest)] {
		if strings.HasPrefix(a.text, "-") {
			m.d.unclear("env %s changes what the command does", a.text)
		}
	}
	if m.split != "" {
		m.silent = true
		m.d.r.inner(m.split+" "+shown(rest), m.d.r.lang, *m.d.s)
		return
	}
	if len(rest) == 0 {
		m.d.add(effect.Effect{Kind: effect.Read, On: "/proc/self/environ"})
		return
	}
	m.silent = true
	m.d.r.callIn(rest, m.d)
}

// test follows test, whose -v and -R run what is in an index.
func (m *match) test(args []arg) {
	d := m.d
	if m.all[0].text == "[" {
		if n := len(args); n == 0 || args[n-1].text != "]" {
			d.unclear("the bracket is not closed")
			return
		}
		args = args[:len(args)-1]
	}
	if len(args) > 1 && args[0].known && args[0].text == "!" {
		args = args[1:]
	}
	for i, a := range args {
		operator := a.known && !a.pipe && strings.HasPrefix(a.text, "-")
		switch {
		case operator && (a.text == "-v" || a.text == "-R"):
			d.unclear("test %s is not followed", a.text)
		case operator && len(a.text) == 2 && strings.Contains("abcdefghkprstuwxGLNOS", a.text[1:]) && i+1 < len(args) && a.text != "-a" && a.text != "-t":
			d.path(effect.Read, args[i+1], false)
		case !a.known || a.pipe:
			unary := len(args) == 1 || len(args) == 2 && i == 1
			binary := len(args) == 3 && i != 1 && args[1].known && !args[1].pipe
			if !unary && !binary {
				d.unclear("%s may be an operator", a.shown)
			}
		}
	}
}

// tar follows tar, whose first word may do without its dash.
func (m *match) tar(args []arg) {
	if len(args) > 0 && args[0].known && !args[0].pipe && args[0].text != "" && args[0].text[0] != '-' {
		first := args[0]
		first.text = "-" + first.text
		args = append([]arg{first}, args[1:]...)
	}
	mode := byte(0)
	for _, a := range args {
		if !strings.HasPrefix(a.text, "-") {
			continue
		}
		if i := strings.IndexAny(a.text, "tcxru"); i == 1 || i > 1 && a.text[1] != '-' {
			mode = a.text[i]
			break
		} else if i > 0 && (a.text == "--list" || a.text == "--extract" || a.text == "--create") {
			mode = a.text[2]
			break
		}
	}
	switch mode {
	case 't', 'l':
	case 'x', 'e':
		m.d.path(effect.Write, literal("."), true)
	case 0:
		m.d.unclear("tar has no mode")
	default:
		m.inplace = true
	}
	m.operandsOf(m.options(args))
}

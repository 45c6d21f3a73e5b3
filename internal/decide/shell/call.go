package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// call follows a simple command. Wrappers come back to it with what they wrap,
// so that whatever is known of a program holds behind each of them.
func (r *run) call(args []arg, d *deed) (ok, fail state) {
	s := *d.s
	if r.steps++; r.steps > maxSteps {
		d.unclear("the script is too long to be followed")
		r.add(shown(args), d)
		return s, s
	}
	name := args[0].text
	switch {
	case !args[0].known || args[0].pipe || name == "":
		d.unclear("the name of the command is not written out")
		d.hides("which program %s is", args[0].shown)
		r.add(shown(args), d)
		return s, s
	case args[0].odd || name != quoted(name):
		d.unclear("the name of the command is not written plainly")
	case strings.Contains(name, "/"):
		d.unclear("the command is named by a path")
	}
	r.renamed(name, args, s)
	if ok, fail, done := r.builtin(name, args, d); done {
		return ok, fail
	}
	r.program(path.Base(name), args, d)
	return s, s
}

// shown is how a command is named: its words by one space, quoted where they
// must be.
func shown(args []arg) string {
	var words []string
	for i, a := range args {
		if i > 0 && a.shown == args[i-1].shown && strings.ContainsAny(a.shown, "*?") {
			continue // one pattern
		}
		words = append(words, a.shown)
	}
	return strings.Join(words, " ")
}

// builtin follows what only a shell itself can do.
func (r *run) builtin(name string, args []arg, d *deed) (ok, fail state, done bool) {
	s := *d.s
	ok, fail = s, s
	switch name {
	case "cd":
		ok = r.cd(args, d)
	case "read":
		ok = r.read(args, d)
		fail = ok
	case "break", "continue":
		if len(args) > 1 || len(r.loops) == 0 {
			d.unclear("this jump is not followed")
			break
		}
		left := r.loops[len(r.loops)-1]
		*left = left.or(s)
	case "command", "builtin", "exec":
		return r.prefix(name, args, d)
	case "eval":
		d.unclear("what eval runs is put together first")
		text, known := joined(args[1:])
		if !known {
			d.hides("what eval runs")
		}
		r.add(shown(args), d)
		if known {
			return r.inner(text, r.lang, s)
		}
		return state{}, state{}, true
	case ".", "source":
		d.code("%s runs a file", name)
		if len(args) > 1 {
			d.path(effect.Read, args[1], false)
			r.reads(r.through(args[1]), r.lang, s)
			d.script(args[1])
		}
		ok, fail = state{}, state{}
	case "set":
		if r.set(args, d); len(d.set) > 0 {
			ok, fail = state{}, state{}
		}
	case "kill":
		d.unclear("kill ends programs")
		d.process("")
		if !ownJobs(args[1:]) {
			d.permanent()
		}
	case "exit":
		if len(args) > 2 || len(args) == 2 && !digits(args[1].text) {
			d.unclear("this exit is not followed")
		}
	default:
		if !shellOnly(name) {
			return s, s, false
		}
		d.unclear("%s changes the shell itself", name)
		r.substitutions(args[1:], d)
		r.names(name, args[1:], d)
		ok = state{}
		if name != "popd" && name != "pushd" && name != "trap" {
			ok.dirs = s.dirs
		}
		fail = ok
	}
	r.add(shown(args), d)
	return ok, fail, true
}

// shellOnly reports whether a name is of the shell itself, and changes how it goes on.
func shellOnly(name string) bool {
	switch name {
	case "alias", "bg", "bind", "caller", "compgen", "complete", "compopt", "coproc", "declare", "dirs", "disown", "enable",
		"export", "fc", "fg", "getopts", "hash", "help", "history", "jobs", "let", "local", "logout", "mapfile", "nameref",
		"popd", "pushd", "readarray", "readonly", "return", "shift", "shopt", "suspend", "times", "trap", "typeset", "ulimit",
		"umask", "unalias", "unset", "wait",
		"!", "[[", "{", "}", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select",
		"then", "until", "while":
		return true
	}
	return false
}

// ownJobs reports whether kill is only for what the script itself has started, or
// for nothing.
func ownJobs(args []arg) bool {
	return len(args) > 0 && !slices.ContainsFunc(args, func(a arg) bool {
		return !strings.HasPrefix(a.text, "%") && !strings.HasPrefix(a.text, "-") && a.shown != "$!" && a.shown != `"$!"`
	}) && !strings.HasPrefix(args[len(args)-1].text, "-1")
}

func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// joined is what eval would run.
func joined(args []arg) (text string, known bool) {
	var words []string
	for _, a := range args {
		if !a.known || a.pipe {
			return "", false
		}
		words = append(words, a.text)
	}
	return strings.Join(words, " "), true
}

// substitutions follows commands in words that a shell expands once more, such as
// those of trap.
func (r *run) substitutions(args []arg, d *deed) {
	for _, a := range args {
		if a.known && !a.pipe && strings.ContainsAny(a.text, " $`(") {
			_, _, _ = r.inner(a.text, r.lang, *d.s)
		}
	}
}

// inner follows a script within a script.
func (r *run) inner(text string, lang syntax.LangVariant, s state) (ok, fail state, done bool) {
	outer := r.lang
	r.lang = lang
	ok, fail, err := r.script(text, s)
	r.lang = outer
	why := strange(text)
	if err != nil {
		why = err.Error()
	}
	if why != "" {
		d := r.deed(&s)
		d.unclear("%s", why)
		d.hides("what a shell makes of what is no script")
		r.add(text, d)
	}
	return ok, fail, true
}

// cd returns where a shell is after it.
func (r *run) cd(args []arg, d *deed) state {
	s := *d.s
	rest := args[1:]
	if len(rest) > 0 && rest[0].known && rest[0].text == "--" {
		rest = rest[1:]
	}
	if len(rest) != 1 || !rest[0].known || rest[0].pipe || strings.HasPrefix(rest[0].text, "-") || rest[0].text == "" {
		d.unclear("where cd goes is not written out")
		return state{vars: s.vars}
	}
	to := rest[0].text
	d.path(effect.Read, rest[0], false)
	if path.IsAbs(to) {
		return s.in(path.Clean(to))
	}
	var dirs []string
	for _, dir := range s.dirs {
		dirs = append(dirs, path.Join(dir, to)) // a shell takes ".." away before the system sees it
	}
	for _, dir := range dirs {
		d.path(effect.Read, literal(dir), false)
		if strings.HasPrefix(dir, "..") {
			return state{vars: s.vars}
		}
	}
	return s.in(dirs...)
}

// read returns what is known after variables were read.
func (r *run) read(args []arg, d *deed) state {
	s := *d.s
	for _, a := range args[1:] {
		switch {
		case a.known && a.text == "-r" && !a.pipe:
		case a.known && !a.pipe && ordinary(a.text):
			s = s.set(a.text, value{})
		default:
			d.unclear("this read is not followed")
		}
	}
	return s
}

// set follows only the options that change no word and no command.
func (r *run) set(args []arg, d *deed) {
	harmless := []string{"-e", "-u", "-x", "-eu", "-ex", "-eux", "-o pipefail", "-euo pipefail", "-eo pipefail", "-euxo pipefail", "+e", "+x"}
	text, known := joined(args[1:])
	if known && slices.Contains(harmless, text) {
		return
	}
	d.unclear("set changes the shell itself")
	if known && strings.HasPrefix(text, "-- ") && len(args) > 2 {
		probe := r.deed(d.s)
		probe.unclear("set names what may be a command")
		_, _ = r.call(args[2:], probe)
	}
}

// prefix follows command, builtin and exec, which run their arguments.
func (r *run) prefix(name string, args []arg, d *deed) (ok, fail state, done bool) {
	s := *d.s
	rest := args[1:]
	if name == "command" && len(rest) > 1 && rest[0].known && (rest[0].text == "-v" || rest[0].text == "-V") {
		for _, a := range rest[1:] {
			if !a.known || a.pipe || strings.HasPrefix(a.text, "-") {
				d.unclear("what command -v looks for is not written out")
			}
		}
		r.add(shown(args), d)
		return s, s, true
	}
	for len(rest) > 0 && rest[0].known && strings.HasPrefix(rest[0].text, "-") && !rest[0].pipe {
		d.unclear("%s %s is not followed", name, rest[0].text)
		if name == "exec" && rest[0].text == "-a" && len(rest) > 1 {
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	if name != "command" {
		d.unclear("%s is not followed", name)
		r.add(shown(args), r.copied(d))
	}
	if len(rest) == 0 {
		r.add(shown(args), d)
		return s, s, true
	}
	ok, fail = r.callIn(rest, d) // in this very shell
	return ok, fail, true
}

// copied returns d, apart from it.
func (r *run) copied(d *deed) *deed { return &deed{r: r, s: d.s, set: slices.Clone(d.set), why: d.why} }

// callIn follows what a wrapper runs. What was unclear of the wrapper is of it too.
func (r *run) callIn(args []arg, d *deed) (ok, fail state) {
	ok, fail = *d.s, *d.s
	inner := r.deed(d.s)
	for _, e := range d.set {
		if e.Kind == effect.Anything {
			inner.bound(e.On, d.why)
		}
	}
	if r.depth += 8; r.depth > 8*maxDepth {
		inner.unclear("commands are nested too deep")
		r.add(shown(args), inner)
	} else {
		ok, fail = r.call(args, inner)
	}
	r.depth -= 8
	return ok, fail
}

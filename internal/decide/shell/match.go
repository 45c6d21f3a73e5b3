package shell

import (
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// program follows a command by its table, and adds its part.
func (r *run) program(name string, args []arg, d *deed) {
	t, ok := find(name)
	if !ok || strings.Contains(name, "/") {
		d.process(name)
		d.unclear("nothing is known of %s", name)
		d.hides("what %s runs, of which nothing is known,", name)
		r.add(shown(args), d)
		return
	}
	r.look(name, args[0].text, d)
	m := match{d: d, t: &t, all: args}
	switch name {
	case "find":
		m.find(args[1:])
	case "env":
		m.env(args[1:])
	case "test", "[":
		m.test(args[1:])
	case "tar":
		m.tar(args[1:])
	case "parallel":
		m.parallel(args[1:])
	default:
		m.follow(args[1:])
	}
	if name == "unzip" && !slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "-l") || strings.HasPrefix(a.text, "-Z") }) {
		d.path(effect.Write, literal("."), true)
	}
	r.prints(name, args[1:])
	if m.silent && len(d.set) == 0 {
		return // a wrapper that does nothing by itself
	}
	r.add(shown(args), d)
}

// look notes what program a name is.
func (r *run) look(name, text string, d *deed) {
	if strings.Contains(text, "/") {
		if _, trusted := r.Look(text); !trusted {
			d.place(text, true)
		}
		return
	}
	at, trusted := r.Look(text)
	if at == "" || trusted {
		return
	}
	d.code("%s is not a program of the system: %s", name, at)
	_, inside := r.Resolve(at)
	d.place(text, inside)
}

// A match is one command beside its table.
type match struct {
	d    *deed
	t    *table
	all  []arg
	drop int // operands that options stand in for

	silent   bool              // it does nothing by itself
	scripted bool              // it runs a script that was followed
	inplace  bool              // what it reads it writes too
	lists    bool              // its operands are patterns of what it lists
	count    int               // of its operands
	given    bool              // an option is what it runs
	checks   bool              // it runs nothing of what it is given
	scripts  []arg             // what it has a shell run, once its operands are known
	split    string            // what env takes apart to more words
	aliases  map[string]string // of git's subcommands
	config   []arg             // a setting of git and its value
	joins    []arg             // that are put together to a script
	searches bool              // it shows what is in all files below
	public   bool              // but only of those with certain names
	exposed  bool              // or of others too
}

func (m *match) follow(args []arg) {
	rest := m.options(args)
	if m.t.sub {
		m.subcommand(rest)
		return
	}
	for _, e := range m.t.effects {
		m.effect(e)
	}
	m.operandsOf(rest)
	m.configures()
	m.adds(rest)
	m.foreach()
	m.shells(rest)
	m.input(rest)
}

// subcommand goes on with the table of the first operand.
func (m *match) subcommand(rest []arg) {
	if len(rest) == 0 {
		if m.t.described {
			for _, e := range m.t.effects {
				m.effect(e)
			}
			return
		}
		m.d.unclear("%s has no subcommand", m.t.name)
		m.d.process("")
		return
	}
	sub := rest[0]
	t, ok := table{}, false
	if sub.known && !sub.pipe && !strings.Contains(sub.text, "/") {
		t, ok = find(m.t.name + "/" + sub.text)
	}
	if !ok {
		value := has(m.d.set, effect.Effect{Kind: effect.Anything})
		m.d.process("")
		m.d.unclear("nothing is known of %s %s", m.t.name, sub.shown)
		m.other(sub, rest[1:])
		if value && len(rest) > 1 { // it may be that of an option that is not known
			m.subcommand(rest[1:])
		}
		return
	}
	m.t = &t
	m.follow(rest[1:])
}

// options takes the options off args, and returns the operands.
func (m *match) options(args []arg) (operands []arg) {
	if m.t.plain {
		return args
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case !a.known && (a.text == "" || a.text[0] == '-'):
			m.d.unclear("%s may be an option", a.shown)
			if m.t.stop || m.t.sub {
				return append(operands, args[i:]...)
			}
			operands = append(operands, a)
		case a.known && a.text == "--" && !a.pipe:
			return append(operands, args[i+1:]...)
		case a.pipe || len(a.text) < 2 || a.text[0] != '-':
			if m.t.stop || m.t.sub {
				return append(operands, args[i:]...)
			}
			operands = append(operands, a)
		case m.t.num && digits(a.text[1:]):
		case strings.HasPrefix(a.text, "--") || m.t.long:
			i += m.word(a, args[i+1:])
		default:
			i += m.letters(a.text[1:], args[i+1:])
		}
	}
	return operands
}

// word takes an option that is a whole word, and returns how many of the words
// after it are its value.
func (m *match) word(a arg, after []arg) (taken int) {
	name, value, attached := strings.Cut(a.text, "=")
	o, ok := m.t.option(name)
	if !ok && m.t.long {
		name = strings.Replace(name, "--", "-", 1)
		o, ok = m.t.option(name)
	}
	if !ok {
		m.unknown(name)
		return 0
	}
	if attached {
		if o.kind == "" && !m.t.long {
			m.unknown(a.text)
		}
		m.use(o, literal(value), true)
		return 0
	}
	return m.detached(name, o, after)
}

func (m *match) detached(name string, o option, after []arg) int {
	if o.kind == "" || o.attached {
		m.use(o, arg{}, false)
		return 0
	}
	if len(after) == 0 {
		m.d.unclear("%s of %s has no value", name, m.t.name)
		return 0
	}
	m.use(o, after[0], true)
	return 1
}

// letters takes options of one letter each, the last with its value.
func (m *match) letters(cluster string, after []arg) (taken int) {
	for i := range len(cluster) {
		name := "-" + cluster[i:i+1]
		o, ok := m.t.option(name)
		switch {
		case !ok:
			m.unknown(name)
			if i == 0 && len(cluster) > 1 {
				m.unknown("-" + cluster)
			}
		case o.kind == "script": // further letters are options too
			if i+1 < len(cluster) {
				m.d.unclear("-%s has more letters than are followed", cluster)
			}
			return m.detached(name, o, after)
		case o.kind != "" && i+1 < len(cluster):
			m.use(o, literal(cluster[i+1:]), true)
			return 0
		case o.kind != "":
			return m.detached(name, o, after)
		default:
			m.use(o, arg{}, false)
		}
	}
	return 0
}

func (m *match) unknown(option string) {
	m.d.unclear("option %s of %s is not known", option, m.t.name)
	for _, o := range m.t.options { // many programs take an option that is abbreviated
		if strings.HasPrefix(option, "--") && strings.HasPrefix(o, option) && runsValue(o) {
			m.d.hides("what %s %s runs", m.all[0].shown, option)
		}
	}
}

// runsValue reports whether the value of an option of a table is run.
func runsValue(option string) bool {
	_, kind, _ := strings.Cut(option, "=")
	switch kind, _, _ = strings.Cut(strings.TrimLeft(kind, "?"), "!"); strings.TrimSuffix(kind, "^") {
	case "inline", "script", "split", "codefile", "module", "gitset", "makefile":
		return true
	}
	return false
}

func (m *match) use(o option, value arg, has bool) {
	if o.replaces {
		m.drop++
	}
	if o.effects != "" {
		for e := range strings.SplitSeq(o.effects, ",") {
			m.effect(e)
		}
	}
	if has && o.kind != "" {
		m.take(o.kind, value)
	}
}

// operandsOf gives operands their kinds and takes them.
func (m *match) operandsOf(rest []arg) {
	m.count = len(rest)
	if m.drop > 0 && len(m.t.operands) > 0 {
		t := *m.t
		t.operands = t.operands[1:]
		m.t = &t
	}
	if len(rest) <= m.t.least() && !m.scripted && !m.given && !m.checks {
		for _, e := range m.t.bare {
			m.effect(e)
		}
		if m.searches {
			m.effect("tree=.")
			m.secrets(".")
		}
	}
	if i := slices.Index(m.t.operands, "cmd"); i >= 0 {
		m.wrapped(rest, i)
		return
	}
	kinds, ok := m.t.assign(len(rest))
	if !ok {
		m.d.unclear("%s takes other operands", m.t.name)
		for i, a := range rest { // what is proven of them still counts
			if n := len(m.t.operands); n > 0 {
				m.take(strings.TrimRight(m.t.operands[min(i, n-1)], "*?"), a)
			}
		}
		return
	}
	for i, k := range kinds {
		m.take(k, rest[i])
	}
}

// wrapped goes on with the command that begins at an operand.
func (m *match) wrapped(rest []arg, at int) {
	if len(rest) <= at {
		for i, a := range rest {
			m.take(m.t.operands[i], a)
		}
		if !has(m.d.set, effect.Effect{Kind: effect.Anything}) && len(m.t.bare) == 0 {
			m.d.unclear("%s has no command", m.t.name)
		}
		if !m.given && !m.checks {
			m.d.hides("what %s runs", m.t.name)
		}
		return
	}
	for i, a := range rest[:at] {
		m.take(m.t.operands[i], a)
	}
	m.silent = true
	rest = rest[at:]
	if m.t.operands[len(m.t.operands)-1] == "more" {
		rest = append(slices.Clip(rest), arg{shown: "..."})
	}
	m.d.r.callIn(rest, m.d)
}

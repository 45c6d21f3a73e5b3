package shell

import (
	_ "embed"
	"strings"
)

// The tables say of each program which options and operands are known, and what
// they do. An entry begins with the names that it is for, after "="; a name with
// a slash is that of a subcommand. Its lines are, by their first letter:
//
//	@  how the program is called: long (one dash before
//	   whole words), stop (options end at the first operand), num (-5 is an
//	   option), sub (the first operand is a subcommand), plain (no options), feeds
//	   (it has a shell run what it reads)
//	-  options. "-n" takes no value, "-n=KIND" takes one, "-n=?KIND" only one that
//	   is attached. "^" says that it stands in for the first operand, and
//	   "!EFFECT,EFFECT" what it does by itself
//	:  the kinds of the operands, in order. "?" may be missing, one "*" is any
//	   number; "-" stands for none at all
//	!  what each such command does, and of what the effects are without operands: "0"
//
// Kinds and effects are in take and effect. Options are never abbreviated here,
// so that an abbreviated one is not understood.

//go:embed programs/files.txt
var filesTable string

//go:embed programs/text.txt
var textTable string

//go:embed programs/wrap.txt
var wrapTable string

//go:embed programs/system.txt
var systemTable string

//go:embed programs/git.txt
var gitTable string

//go:embed programs/build.txt
var buildTable string

//go:embed programs/net.txt
var netTable string

// A table is what is known of one program or subcommand.
type table struct {
	name                  string
	options, operands     []string
	effects, bare         []string
	long, stop, num       bool
	sub, plain, described bool
	feeds                 bool
}

// find returns the entry of a name.
func find(name string) (t table, ok bool) {
	if name == "" || strings.ContainsAny(name, " \n=") {
		return t, false
	}
	for _, text := range [...]string{filesTable, textTable, gitTable, buildTable, netTable, wrapTable, systemTable} {
		if body, ok := entry(text, name); ok {
			return parse(name, body), true
		}
	}
	return t, false
}

// entry returns the lines after the one that begins with "=" and has name.
func entry(text, name string) (body string, ok bool) {
	needle := " " + name
	for from := 0; ; {
		i := strings.Index(text[from:], needle)
		if i < 0 {
			return "", false
		}
		i += from
		from = i + len(needle)
		if from < len(text) && text[from] != ' ' && text[from] != '\n' {
			continue
		}
		line := strings.LastIndexByte(text[:i], '\n') + 1
		if text[line] != '=' {
			continue
		}
		_, body, _ = strings.Cut(text[from:], "\n")
		if end := strings.Index("\n"+body, "\n="); end >= 0 {
			body = body[:end]
		}
		return body, true
	}
}

func parse(name, body string) table {
	t := table{name: name}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		switch rest := line[1:]; line[0] {
		case '@':
			t.call(strings.Fields(rest))
		case '-':
			t.options = append(t.options, strings.Fields(line)...)
		case ':':
			t.described = true
			if t.operands = strings.Fields(rest); rest == " -" {
				t.operands = nil
			}
		case '!':
			t.effects = append(t.effects, strings.Fields(rest)...)
		case '0':
			t.bare = strings.Fields(rest)
		}
	}
	return t
}

func (t *table) call(how []string) {
	for _, word := range how {
		switch word {
		case "long":
			t.long = true
		case "stop":
			t.stop = true
		case "num":
			t.num = true
		case "sub":
			t.sub = true
		case "plain":
			t.plain = true
		case "feeds":
			t.feeds = true
		}
	}
}

// An option is one that a table lists.
type option struct {
	kind     string // of its value, "" if it takes none
	attached bool   // the value is there only if it is attached
	replaces bool   // the first operand
	effects  string
}

func (t *table) option(name string) (o option, ok bool) {
	for _, token := range t.options {
		rest, is := strings.CutPrefix(token, name)
		if !is || rest != "" && strings.IndexByte("=^!", rest[0]) < 0 {
			continue
		}
		rest, o.effects, _ = strings.Cut(rest, "!")
		rest, o.replaces = strings.CutSuffix(rest, "^")
		if kind, valued := strings.CutPrefix(rest, "="); valued {
			o.kind, o.attached = strings.CutPrefix(kind, "?")
		}
		return o, true
	}
	return o, false
}

// least returns how many operands there must be.
func (t *table) least() (n int) {
	for _, k := range t.operands {
		if !strings.HasSuffix(k, "?") && !strings.HasSuffix(k, "*") {
			n++
		}
	}
	return n
}

// assign gives each of n operands its kind.
func (t *table) assign(n int) (kinds []string, ok bool) {
	spare := n - t.least()
	if spare < 0 {
		return nil, false
	}
	for _, k := range t.operands {
		switch {
		case strings.HasSuffix(k, "?"):
			if spare > 0 {
				kinds = append(kinds, k[:len(k)-1])
				spare--
			}
		case strings.HasSuffix(k, "*"):
			for range spare {
				kinds = append(kinds, k[:len(k)-1])
			}
			spare = 0
		default:
			kinds = append(kinds, k)
		}
	}
	return kinds, spare == 0
}

package shell

import (
	"slices"
	"strings"
)

// names follows what gives another name to a command, or has a shell run it later.
// A name is taken to be given whether the shell would heed it or not.
func (r *run) names(name string, args []arg, d *deed) {
	switch name {
	case "alias":
		for _, a := range args {
			to, text, gives := strings.Cut(a.text, "=")
			switch {
			case !a.known || a.pipe:
				d.hides("what the name stands for that alias gives")
			case gives:
				r.name(to, text)
			}
		}
	case "hash":
		for n, a := range args {
			if a.text != "-p" || n+2 >= len(args) {
				continue
			}
			if program, to := args[n+1], args[n+2]; program.known && to.known {
				r.name(to.text, program.shown)
				continue
			}
			d.hides("what the name stands for that hash gives")
		}
	case "trap", "bind", "complete", "compgen", "coproc", "enable", "fc", "mapfile", "readarray":
		fills := (name == "mapfile" || name == "readarray") && !slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "-C") })
		if _, known := joined(args); !known || name != "trap" && len(args) > 0 && !fills {
			d.hides("what %s has the shell run", name)
		}
	case "declare", "export", "local", "readonly", "typeset": // behind another word
		for _, a := range args {
			to, text, _ := strings.Cut(a.text, "=")
			d.steered(to, value{text, a.known && !a.pipe})
		}
	}
}

func (r *run) name(to, text string) {
	if r.alias == nil {
		r.alias = make(map[string]string)
	}
	r.alias[to] = text
}

// renamed follows a command whose name stands for something else, beside what it
// would be without that.
func (r *run) renamed(name string, args []arg, s state) {
	text, ok := r.alias[name]
	if !ok {
		return
	}
	delete(r.alias, name) // a name in what it stands for is itself
	r.inner(text+" "+shown(args[1:]), r.lang, s)
	r.alias[name] = text
}

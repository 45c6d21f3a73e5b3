package shell

import (
	"maps"
	"slices"
	"strconv"
)

const maxDirs = 4

// A state is what a shell knows at a point of a script. It is never changed,
// only followed by another.
type state struct {
	dirs []string // where it may be, as paths of a World; none is anywhere
	vars map[string]value
	args []arg // what "$@" stands for; nil is not known
}

// A value is what a variable that the script sets holds.
type value struct {
	text  string
	known bool
}

func start() state { return state{dirs: []string{"."}} }

// in returns s in one of dirs.
func (s state) in(dirs ...string) state { return state{dirs: dirs, vars: s.vars, args: s.args} }

// set returns s with a variable set.
func (s state) set(name string, v value) state {
	vars := maps.Clone(s.vars)
	if vars == nil {
		vars = make(map[string]value)
	}
	vars[name] = v
	return state{dirs: s.dirs, vars: vars, args: s.args}
}

// given returns s in a shell that was started with args: its own name, and what
// "$1" and so on stand for.
func (s state) given(args []arg) state {
	if len(args) == 0 {
		return s
	}
	for n, a := range args[:min(len(args), 10)] {
		s = s.set(strconv.Itoa(n), value{a.text, a.known && !a.pipe})
	}
	s.args = args[1:]
	return s
}

// or returns what is known where s or t holds.
func (s state) or(t state) state {
	joined := state{vars: s.vars}
	if slices.Equal(s.args, t.args) {
		joined.args = s.args
	}
	if len(s.dirs) > 0 && len(t.dirs) > 0 {
		joined.dirs = s.dirs
		for _, d := range t.dirs {
			if !slices.Contains(joined.dirs, d) {
				joined.dirs = append(slices.Clip(joined.dirs), d)
			}
		}
		if len(joined.dirs) > maxDirs {
			joined.dirs = nil
		}
	}
	if maps.Equal(s.vars, t.vars) {
		return joined
	}
	joined.vars = make(map[string]value)
	for name, v := range s.vars {
		if w := t.vars[name]; w != v {
			v = value{}
		}
		joined.vars[name] = v
	}
	for name := range t.vars {
		if _, also := s.vars[name]; !also {
			joined.vars[name] = value{}
		}
	}
	return joined
}

func (s state) equal(t state) bool {
	return slices.Equal(s.dirs, t.dirs) && maps.Equal(s.vars, t.vars) && slices.Equal(s.args, t.args)
}

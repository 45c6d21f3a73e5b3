package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What a part runs may not be in its words. A rule that forbids a command cannot
// be compared with that, so it is noted: see tool.Part.Unseen. What builds and
// tests runs code of the workspace too, and is not noted, or such a rule would
// stop all work: there only a sandbox holds what is run.

// script notes that a file of commands is run. One that switches a shell over to
// some tools, as tools put it there, is like those that build.
func (d *deed) script(a arg) {
	if a.known && !a.pipe && (strings.HasSuffix(a.text, "/bin/activate") || usual[path.Base(a.text)]) {
		return
	}
	d.hides("what is in %s", a.shown)
}

// usual are files that are run to build and test, as their own tools make them.
var usual = map[string]bool{"gradlew": true, "mvnw": true, "manage.py": true, "setup.py": true}

// tools are the directories in which package managers put the programs of a project.
var tools = []string{"node_modules/.bin/", ".venv/bin/", "venv/bin/", "vendor/bin/"}

// place notes that a program is not one of the system, but what someone may have
// made of another.
func (d *deed) place(name string, inside bool) {
	switch {
	case usual[path.Base(name)]:
		return
	case !inside && !strings.Contains(name, "/"):
		return // where the user keeps programs
	}
	for _, dir := range tools {
		if strings.HasPrefix(strings.TrimPrefix(name, "./"), dir) && builds(path.Base(name)) {
			return
		}
	}
	d.hides("what program %s is", name)
}

// builds reports whether a program is one that builds or tests.
func builds(name string) bool {
	_, ok := entry(buildTable, name)
	return ok
}

// stdin notes that commands are read from what nobody has written out.
func (m *match) stdin() {
	if !m.scripted && !m.checks {
		m.d.hides("what %s reads and runs", m.all[0].shown)
	}
}

// inline takes code of another language, which is not followed.
func (m *match) inline(a arg) {
	m.given = true
	m.d.code("%s runs %s", m.t.name, a.shown)
	m.d.hides("what %s runs", path.Base(m.all[0].text))
}

// module takes the name of a module of Python that is run.
func (m *match) module(a arg) {
	m.given = true
	m.d.code("%s runs %s", m.t.name, a.shown)
	if a.known && !a.pipe && strings.Contains(
		" pytest unittest doctest pip venv virtualenv ensurepip json.tool http.server mypy ruff black flake8 isort pylint coverage tox nox build twine py_compile compileall sphinx mkdocs pre_commit poetry pdm hatch ",
		" "+a.text+" ") {
		return
	}
	m.d.hides("what the module %s runs", a.shown)
}

// steers reports whether a variable can make programs run another one than their
// words say.
func steers(name string) bool {
	for _, prefix := range []string{"LD_", "DYLD_", "GIT_", "BASH", "PYTHON", "PERL5", "RUBY", "NODE_", "npm_config_", "JAVA_TOOL", "_JAVA"} {
		if strings.HasPrefix(name, prefix) {
			return !people(name) && name != "NODE_ENV" && name != "PYTHONUNBUFFERED" && name != "PYTHONDONTWRITEBYTECODE" && name != "PYTHONPATH"
		}
	}
	switch name {
	case "PATH", "ENV", "IFS", "SHELL", "SHELLOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN",
		"BROWSER", "GOFLAGS", "MAKEFLAGS", "MAKESHELL", "CC", "CXX", "LD", "AR", "RUSTC", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER", "SSH_ASKPASS", "RSYNC_RSH", "TAR_OPTIONS", "RIPGREP_CONFIG_PATH":
		return true
	}
	return false
}

// tame reports whether the value of a variable that steers is one that runs nothing.
func tame(name string, v value) bool {
	if !v.known || name == "PATH" {
		return false
	}
	switch v.text {
	case "", "0", "1", "true", "false", "cat", ":", "gcc", "g++", "clang", "clang++", "cc", "c++":
		return true
	}
	return name == "GOFLAGS" && !strings.Contains(v.text, "exec")
}

// steered notes that a variable is set that can make programs run another one.
func (d *deed) steered(name string, v value) {
	if steers(name) && !tame(name, v) {
		d.hides("what runs where %s says so", name)
	}
}

// declared notes such variables in a declaration.
func (r *run) declared(x syntax.Command, s state) {
	decl, ok := x.(*syntax.DeclClause)
	if !ok {
		return
	}
	d := r.deed(&s)
	for _, a := range decl.Args {
		switch {
		case a.Name == nil:
			if a.Value != nil && a.Value.Lit() == "" {
				d.hides("what is declared by it")
			}
		case a.Value == nil:
		default:
			d.steered(a.Name.Value, value{a.Value.Lit(), a.Value.Lit() != ""})
		}
	}
	if d.unseen != "" {
		r.add(r.source(x.Pos(), x.End()), d)
	}
}

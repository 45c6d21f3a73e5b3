package toolbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A wanted is what a call asks for.
type wanted struct {
	target string // a path, or what else the runner takes; "" for all
	filter string // "" for all
	limit  time.Duration
}

// A testRun is a command that runs tests, and what is needed to read its output.
type testRun struct {
	wanted
	command string
	root    string // of the workspace
	dir     string // of the project, in it
	module  string // of a Go project
}

// A project is a directory that may have tests, and what is asked of them.
type project struct {
	w      *workspace.Workspace
	dir    string
	names  map[string]bool // of what is in it
	target string          // relative to it, "" for all of it
	isFile bool
	id     string // of a test in the file, as pytest has it
	filter string
	limit  time.Duration
}

// A runner is how the tests of one kind of project are run.
type runner struct {
	files   string // extensions of its sources
	has     func(p project) bool
	command func(p project) (string, error)
}

// runners are looked at in this order.
func runners() []runner {
	return []runner{
		{".go", has("go.mod"), goTests},
		{".rs", has("Cargo.toml"), cargoTests},
		{".js .ts .jsx .tsx .mjs .cjs .mts .cts", hasScript, nodeTests},
		{".java .kt .groovy", has("pom.xml"), mavenTests},
		{".java .kt .groovy", has("build.gradle", "build.gradle.kts"), gradleTests},
		{".c .cc .cpp .h .hpp", func(p project) bool { return p.buildDir() != "" }, cmakeTests},
		{".py", hasPytest, pytestTests},
		{"", hasMake, makeTests},
	}
}

// findTests returns the command for what is wanted: that of the project which
// is nearest to the target, going up.
func findTests(w *workspace.Workspace, want wanted) (testRun, error) {
	if err := checkWanted(want); err != nil {
		return testRun{}, err
	}
	name, id, _ := strings.Cut(want.target, "::")
	name = strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/")
	root := project{w: w, dir: ".", names: map[string]bool{"go.mod": true}}
	if m := root.module(); m != "" { // a package may be named by its import path
		name = strings.TrimPrefix(name, m+"/")
	}
	at, isFile, err := place(w, name)
	if err != nil {
		return testRun{}, err
	}
	start := at
	if isFile {
		start = path.Dir(at)
	}
	for _, weak := range []bool{false, true} {
		for dir := start; ; dir = path.Dir(dir) {
			p := project{w: w, dir: dir, isFile: isFile, id: id, filter: want.filter, limit: want.limit}
			if r, ok := p.runner(path.Ext(at), weak); ok {
				p.target = under(dir, at)
				command, err := r.command(p)
				if err != nil {
					return testRun{}, err
				}
				if dir != "." {
					command = "cd " + quoted(dir) + " && " + command
				}
				return testRun{wanted: want, command: command, root: w.Root(), dir: dir, module: p.module()}, nil
			}
			if dir == "." {
				break
			}
		}
	}
	return testRun{}, &tool.Failure{
		Kind: tool.NotFound, Message: "no way to run tests was found in " + start + " or above it",
		Hint: "looked for go.mod, Cargo.toml, package.json, pom.xml, build.gradle, a CMake build, pytest and a Makefile; name a directory with target, or run the command with Bash",
	}
}

func checkWanted(want wanted) error {
	for name, s := range map[string]string{"target": want.target, "filter": want.filter} {
		if strings.HasPrefix(s, "-") || strings.ContainsAny(s, "\x00\n\r") || len(s) > 1000 {
			return invalid("name tests, no flags", "the %s %.60q is no name of tests", name, s)
		}
	}
	return nil
}

// place resolves a target.
func place(w *workspace.Workspace, name string) (at string, isFile bool, err error) {
	if name == "" {
		return ".", false, nil
	}
	at, err = w.Resolve(name)
	if err == nil {
		info, statErr := w.Stat(at)
		if statErr == nil {
			return at, !info.IsDir(), nil
		}
		err = statErr
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, &tool.Failure{
			Kind: tool.NotFound, Message: "no such file or directory: " + name,
			Hint: "target is a path in the workspace; tests are named with filter",
		}
	}
	return "", false, invalid("use a path inside the workspace, relative to its root", "the target %.200q: %v", name, err)
}

// under returns at relative to dir, which it is in; "" if they are the same.
func under(dir, at string) string {
	if dir == at {
		return ""
	}
	if dir == "." {
		return at
	}
	return strings.TrimPrefix(at, dir+"/")
}

// runner returns how the tests of p are run, preferably those of sources with
// that extension. A weak sign is one that many a directory has.
func (p *project) runner(extension string, weak bool) (runner, bool) {
	files, err := p.w.List(p.dir)
	if err != nil {
		return runner{}, false
	}
	p.names = make(map[string]bool)
	for _, f := range files {
		p.names[path.Base(f.Path)] = true
	}
	if weak {
		if p.dir == "." && p.looksLikePytest() {
			return runner{command: pytestTests}, true
		}
		return runner{}, false
	}
	var fit []runner
	for _, r := range runners() {
		if r.has(*p) {
			fit = append(fit, r)
		}
	}
	for _, r := range fit {
		if extension != "" && slices.Contains(strings.Fields(r.files), extension) {
			return r, true
		}
	}
	if len(fit) == 0 {
		return runner{}, false
	}
	return fit[0], true
}

func has(names ...string) func(project) bool {
	return func(p project) bool {
		return slices.ContainsFunc(names, func(n string) bool { return p.names[n] })
	}
}

// text returns what a file of p holds, "" if there is none.
func (p project) text(name string) string {
	if !p.names[name] {
		return ""
	}
	t, err := p.w.Read(path.Join(p.dir, name))
	if err != nil {
		return ""
	}
	return t.Content
}

var (
	moduleRE = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)
	makeRE   = regexp.MustCompile(`(?m)^test\s*:`)
	plainRE  = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)
)

func (p project) module() string {
	if m := moduleRE.FindStringSubmatch(p.text("go.mod")); m != nil {
		return m[1]
	}
	return ""
}

// cannot refuses what a runner has no way to do.
func (p project) cannot(what, runner string) error {
	return &tool.Failure{
		Kind: tool.Invalid, Message: fmt.Sprintf("%s has no way to run only %s", runner, what),
		Hint: "run all tests, without target and filter, or the command you want with Bash",
	}
}

// quoted returns s as one word of a shell.
func quoted(s string) string {
	if plainRE.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

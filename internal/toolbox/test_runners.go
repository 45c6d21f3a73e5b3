package toolbox

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"
)

// goTests has every test named. Go's own limit is a little less than ours: so
// that it can say which test was slow.
func goTests(p project) (string, error) {
	c := "go test -v"
	if p.limit >= 20*time.Second {
		c += fmt.Sprintf(" -timeout %ds", int(p.limit.Seconds())-5)
	}
	if p.filter != "" {
		c += " -run " + quoted(p.filter)
	}
	switch {
	case p.target == "":
		return c + " ./...", nil
	case p.isFile && path.Dir(p.target) == ".":
		return c + " .", nil
	case p.isFile:
		return c + " " + quoted("./"+path.Dir(p.target)), nil
	}
	return c + " " + quoted("./"+p.target+"/..."), nil
}

func cargoTests(p project) (string, error) {
	c := "cargo test --no-fail-fast"
	if dir, name := path.Split(p.target); p.isFile && dir == "tests/" {
		c += " --test " + quoted(strings.TrimSuffix(name, ".rs"))
	}
	if p.filter != "" {
		c += " -- " + quoted(p.filter)
	}
	return c, nil
}

// manifest is what is read of a package.json.
type manifest struct {
	Scripts map[string]string `json:"scripts"`
}

func (p project) script() string {
	var m manifest
	if json.Unmarshal([]byte(p.text("package.json")), &m) != nil {
		return ""
	}
	return m.Scripts["test"]
}

func hasScript(p project) bool {
	s := p.script()
	return s != "" && !strings.Contains(s, "no test specified")
}

// nodeTests runs the script that the project has for its tests, which keeps the
// flags that are written there, and never to watch.
func nodeTests(p project) (string, error) {
	c, args := "npm test", " --"
	switch {
	case p.names["pnpm-lock.yaml"]:
		c, args = "pnpm test", ""
	case p.names["yarn.lock"]:
		c, args = "yarn test", ""
	}
	c = "CI=true " + c
	if p.target == "" && p.filter == "" {
		return c, nil
	}
	if s := p.script(); !strings.Contains(s, "jest") && !strings.Contains(s, "vitest") && !strings.Contains(s, "react-scripts") {
		return "", p.cannot("some tests", "the test script of package.json")
	}
	c += args
	if p.target != "" {
		c += " " + quoted(p.target)
	}
	if p.filter != "" {
		c += " -t " + quoted(p.filter)
	}
	return c, nil
}

func hasPytest(p project) bool {
	if p.names["pytest.ini"] || p.names[".pytest.ini"] {
		return true
	}
	for _, name := range []string{"pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"} {
		if strings.Contains(p.text(name), "pytest") {
			return true
		}
	}
	return p.names["setup.py"] || p.names["pyproject.toml"] && (p.names["tests"] || p.names["test"])
}

// looksLikePytest reports whether there are files that pytest would take.
func (p project) looksLikePytest() bool {
	for _, dir := range []string{".", "tests", "test"} {
		files, err := p.w.List(path.Join(p.dir, dir))
		if err != nil {
			continue
		}
		for _, f := range files {
			name := path.Base(f.Path)
			if strings.HasSuffix(name, "_test.py") || strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".py") || name == "conftest.py" {
				return true
			}
		}
	}
	return false
}

func pytestTests(p project) (string, error) {
	c := "python3 -m pytest"
	switch {
	case p.names["uv.lock"]:
		c = "uv run pytest"
	case p.names["poetry.lock"]:
		c = "poetry run pytest"
	default:
		for _, env := range []string{".venv", "venv"} {
			if _, err := p.w.Stat(path.Join(p.dir, env, "pyvenv.cfg")); err == nil {
				c = env + "/bin/python -m pytest"
				break
			}
		}
	}
	if p.filter != "" {
		c += " -k " + quoted(p.filter)
	}
	switch {
	case p.id != "":
		c += " " + quoted(p.target+"::"+p.id)
	case p.target != "":
		c += " " + quoted(p.target)
	}
	return c, nil
}

// class returns the name of the class that a file of Java has.
func (p project) class() string {
	name := path.Base(p.target)
	return strings.TrimSuffix(name, path.Ext(name))
}

func mavenTests(p project) (string, error) {
	c := "mvn -B test"
	if p.names["mvnw"] {
		c = "./mvnw -B test"
	}
	switch {
	case p.isFile && p.filter != "":
		c += " " + quoted("-Dtest="+p.class()+"#"+p.filter)
	case p.isFile:
		c += " " + quoted("-Dtest="+p.class())
	case p.filter != "":
		c += " " + quoted("-Dtest="+p.filter)
	}
	return c, nil
}

func gradleTests(p project) (string, error) {
	c := "gradle"
	if p.names["gradlew"] {
		c = "./gradlew"
	}
	c += " --console=plain test"
	switch {
	case p.isFile && p.filter != "":
		c += " --tests " + quoted("*"+p.class()+"."+p.filter)
	case p.isFile:
		c += " --tests " + quoted("*"+p.class())
	case p.filter != "":
		c += " --tests " + quoted(p.filter)
	}
	return c, nil
}

// buildDir returns where CMake has configured p to be built with its tests.
func (p project) buildDir() string {
	if !p.names["CMakeLists.txt"] {
		return ""
	}
	files, err := p.w.List(p.dir)
	if err != nil {
		return ""
	}
	for _, f := range files {
		if !f.Type.IsDir() {
			continue
		}
		if _, err := p.w.Stat(path.Join(f.Path, "CTestTestfile.cmake")); err == nil {
			return path.Base(f.Path)
		}
	}
	return ""
}

func cmakeTests(p project) (string, error) {
	if p.target != "" {
		return "", p.cannot(p.target, "ctest")
	}
	dir := quoted(p.buildDir())
	c := "cmake --build " + dir + " && ctest --output-on-failure --test-dir " + dir
	if p.filter != "" {
		c += " -R " + quoted(p.filter)
	}
	return c, nil
}

func hasMake(p project) bool {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if p.names[name] {
			return makeRE.MatchString(p.text(name))
		}
	}
	return false
}

func makeTests(p project) (string, error) {
	if p.target != "" || p.filter != "" {
		return "", p.cannot("some tests", "make test")
	}
	return "make test", nil
}

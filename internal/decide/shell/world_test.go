package shell_test

import (
	"path"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/shell"
)

// files are those of the workspace /w that the tests here are about; "name/" is
// a directory, and "name -> target" a link.
var files = []string{
	"a.txt", "b.txt", "-dash.txt", ".env", "src/", "src/main.go", "src/util.py", "sub/", "sub/c.txt", "k.pem",
}

// world answers as files say: without any disk.
func world() shell.World {
	links := map[string]string{"out": "/etc/passwd"}
	resolve := func(p string) (string, bool) {
		if !path.IsAbs(p) {
			p = "/w/" + p
		}
		at := "/w"
		if !strings.HasPrefix(p, "/w/") && p != "/w" {
			at, p = "/", strings.TrimPrefix(p, "/")
		} else {
			p = strings.TrimPrefix(p, "/w")
		}
		for element := range strings.SplitSeq(p, "/") {
			at = path.Join(at, element)
			if to, ok := links[strings.TrimPrefix(at, "/w/")]; ok {
				at = to
			}
		}
		switch {
		case at == "/w":
			return ".", true
		case strings.HasPrefix(at, "/w/"):
			return at[len("/w/"):], true
		}
		return at, false
	}
	return shell.World{
		Resolve: resolve,
		Look: func(program string) (string, bool) {
			if program == "evil" {
				return "/w/evil", false
			}
			return "/usr/bin/" + program, true
		},
		Glob: func(pattern string) (matches []string) {
			if dir, ok := strings.CutSuffix(pattern, "/."); ok {
				for _, f := range files {
					if f == dir+"/" {
						return []string{pattern}
					}
				}
				return nil
			}
			for _, f := range files {
				f = strings.TrimSuffix(f, "/")
				hidden := strings.HasPrefix(path.Base(f), ".") && !strings.HasPrefix(path.Base(pattern), ".")
				if ok, err := path.Match(pattern, f); ok && err == nil && !hidden {
					matches = append(matches, f)
				}
			}
			return matches
		},
		Plain: func(dir string) bool { return dir == "." },
	}
}

// told returns parts as people read them: "name: effect, effect".
func told(parts []tool.Part) (lines []string) {
	for _, p := range parts {
		var effects []string
		for _, e := range p.Effects {
			effects = append(effects, e.String())
		}
		lines = append(lines, p.Name+": "+strings.Join(effects, ", "))
	}
	return lines
}

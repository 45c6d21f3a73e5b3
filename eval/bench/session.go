package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// steps is how many calls the long session makes, each in a request of its own.
const steps = 50

// A file is one that the long session looks at and changes.
type file struct {
	name string // relative to the workspace, with slashes
	line string // occurs once
}

// goSource returns the directory of Go's own sources, from which workspaces are
// made.
func goSource(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find GOROOT: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src"), nil
}

// makeWorkspace copies some packages of Go's library to dir, and returns those
// of its files that are neither short nor long.
func makeWorkspace(src, dir string) ([]file, error) {
	var files []file
	for _, top := range []string{"text", "strconv", "path", "container"} {
		err := filepath.WalkDir(filepath.Join(src, top), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
				return err
			}
			rel, err := filepath.Rel(src, name)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			to := filepath.Join(dir, rel)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			if f, ok := suited(filepath.ToSlash(rel), string(text)); ok {
				files = append(files, f)
			}
			return os.WriteFile(to, text, 0o644)
		})
		if err != nil {
			return nil, fmt.Errorf("make a workspace: %w", err)
		}
	}
	if want := (steps + 2) / 3; len(files) < want {
		return nil, fmt.Errorf("make a workspace: %d files in %s are suited, not %d", len(files), src, want)
	}
	return files, nil
}

var funcRE = regexp.MustCompile(`(?m)^func .*\{$`)

func suited(name, text string) (file, bool) {
	const short, long = 2 << 10, 20 << 10
	if len(text) < short || len(text) > long || strings.HasSuffix(name, "_test.go") {
		return file{}, false
	}
	for _, line := range funcRE.FindAllString(text, -1) {
		if strings.Count(text, line) == 1 {
			return file{name, line}, true
		}
	}
	return file{}, false
}

// longSession is what the model says in a session of Grep, Read and Edit.
func longSession(files []file) []reply {
	var replies []reply
	for i := 0; len(replies) < steps; i++ {
		f := files[i]
		replies = append(replies,
			call("Grep", map[string]string{"pattern": "^" + regexp.QuoteMeta(f.line[:len(f.line)-1]), "path": path.Dir(f.name)}),
			call("Read", map[string]string{"path": f.name}),
			call("Edit", map[string]string{"path": f.name, "old": f.line, "new": "// Seen in passing.\n" + f.line}),
		)
	}
	return append(slices.Clip(replies[:steps]), reply{Text: "Done."})
}

func call(tool string, args map[string]string) reply {
	b, err := json.Marshal(args)
	if err != nil {
		panic("bench: arguments are always JSON: " + err.Error())
	}
	return reply{Tool: tool, Args: string(b)}
}

// script renders replies for the rehearsed model.
func script(replies []reply) []byte {
	var b strings.Builder
	for _, r := range replies {
		b.WriteString("-- step --\n")
		if r.Tool != "" {
			b.WriteString("expect: not error\ncall: " + r.Tool + " " + r.Args + "\n")
		} else {
			b.WriteString("expect: not error\nsay: " + r.Text + "\n")
		}
	}
	return []byte(b.String())
}

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/belay-agent/belay/internal/world/process"
)

// TestMain lets the test binary be belay: scripts and tests start it as a
// process of its own, under the race detector if they are.
func TestMain(m *testing.M) {
	if code, ours := process.Main(os.Args); ours {
		syscall.Exit(code) // without the second for which the race detector waits: a sandbox has no GORACE
	}
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // else each process waits a second for races at its end
	}
	testscript.Main(m, map[string]func(){"belay": main})
}

// A script runs in $WORK/w, the workspace, with a home of its own, no key and no
// Ollama. Its files *.play are rehearsals: as they are archives in an archive,
// their markers begin with ">".
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		Setup:              setUp,
		RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "pick": pick, "kinds": kinds, "big": big, "serve": serve,
		},
		Condition: condition,
	})
}

func setUp(e *testscript.Env) error {
	e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
	e.Setenv("OLLAMA_HOST", "127.0.0.1:1")
	before, _ := plain()
	e.Setenv("plain", before)
	e.Cd = filepath.Join(e.WorkDir, "w")
	for _, dir := range []string{e.Cd, filepath.Join(e.WorkDir, "home")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return filepath.WalkDir(e.WorkDir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".play" {
			return err
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(file, bytes.ReplaceAll(b, []byte(">-- "), []byte("-- ")), 0o644)
	})
}

// plain is what, before a command, makes permissions bind: nothing, but for
// root. It is "" and false where root cannot be bound.
func plain() (string, bool) {
	if os.Getuid() != 0 {
		return "env", true
	}
	const bound = "setpriv --bounding-set=-dac_override,-dac_read_search"
	words := append(strings.Fields(bound), "true")
	return bound, exec.Command(words[0], words[1:]...).Run() == nil
}

// condition knows [plain]: $plain can be set before a command.
func condition(name string) (bool, error) {
	switch name {
	case "plain":
		_, ok := plain()
		return ok, nil
	case "bounded":
		return bounded(), nil
	}
	return false, errors.New("unknown condition " + name)
}

// bounded reports whether control groups of version 1 can be made here, which bound
// the memory also of what no sandbox holds.
func bounded() bool {
	b, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(b)) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 && f[1] == "memory" {
			dir, err := os.MkdirTemp(filepath.Join("/sys/fs/cgroup/memory", f[2]), "test-")
			return err == nil && os.Remove(dir) == nil
		}
	}
	return false
}

// exits runs a program that must end with the given status: exits 2 belay run.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM [ARGS]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ended, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// big writes a file of so many bytes: big 1000000 FILE.
func big(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: big BYTES FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Repeat("x", n)), 0o644))
}

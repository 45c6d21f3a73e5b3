package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What the initialisers of packages may cost, which every command pays, even
// `belay version`. Bytes are the same on every machine; of times the shortest of
// some runs counts, so that a busy machine does not fail.
const (
	initBytes    = 128 << 10 // of one package
	allInitBytes = 640 << 10
	initTime     = 2 * time.Millisecond // of one package
	allInitTime  = 8 * time.Millisecond
)

// binaryBytes bounds the binary. It grows by a third where something looks up a
// method by its name, as text/template does: then the linker keeps them all.
// The parser of shell scripts, the tables of what programs do, the rules for
// secrets and the sandbox are 2 MiB of it; compaction, constraints, the report,
// the trace with its server and the spans are another; replays of several cases
// and lessons crossed 23 MiB.
const binaryBytes = 24 << 20

func TestNothingCostsMuchAtStart(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "belay.exe")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > binaryBytes {
		t.Errorf("the binary has %d bytes", info.Size())
	}
	rehearsal := filepath.Join(dir, "hello.txtar")
	if err := os.WriteFile(rehearsal, []byte("-- step --\nsay: Hello.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"version"}, {"run", "--model", "script:" + rehearsal, "hello"}} {
		t.Run(args[0], func(t *testing.T) {
			least := map[string]initialiser{}
			for range 5 {
				for name, i := range trace(t, dir, binary, args...) {
					if before, ok := least[name]; ok {
						i.time = min(i.time, before.time)
					}
					least[name] = i
				}
			}
			var all initialiser
			for name, i := range least {
				all.bytes += i.bytes
				all.time += i.time
				if i.bytes > initBytes || i.time > initTime {
					t.Errorf("the initialiser of %s allocates %d bytes and takes %v; do it when it is needed", name, i.bytes, i.time)
				}
			}
			if all.bytes > allInitBytes || all.time > allInitTime {
				t.Errorf("the initialisers of %d packages allocate %d bytes and take %v", len(least), all.bytes, all.time)
			}
			t.Logf("%d packages, %d bytes, %v", len(least), all.bytes, all.time)
		})
	}
}

// An initialiser is what a package does before main.
type initialiser struct {
	bytes int
	time  time.Duration
}

var initRE = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock, (\d+) bytes, \d+ allocs$`)

// trace runs belay and returns the initialisers of its packages.
func trace(t *testing.T, dir, binary string, args ...string) map[string]initialiser {
	t.Helper()
	c := exec.Command(binary, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1", "HOME="+dir, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=")
	var said strings.Builder
	c.Stderr = &said
	if err := c.Run(); err != nil {
		t.Fatalf("belay %s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	all := map[string]initialiser{}
	for _, m := range initRE.FindAllStringSubmatch(said.String(), -1) {
		took, err := time.ParseDuration(m[2] + "ms")
		if err != nil {
			t.Fatal(err)
		}
		bytes, err := strconv.Atoi(m[3])
		if err != nil {
			t.Fatal(err)
		}
		all[m[1]] = initialiser{bytes, took}
	}
	if len(all) < 10 || all["net/http"].bytes == 0 {
		t.Fatalf("no trace of initialisers in\n%s", said.String())
	}
	return all
}

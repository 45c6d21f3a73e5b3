// Package crash kills Belay everywhere and proves what docs/reliability.md
// promises: the real program, real files, real processes, and the rehearsed
// model, which asks again for what was interrupted.
//
// The usual tests take a sample, and print the seed that it is from; built with
// the tag soak they go everywhere. Flags after -args repeat or prolong a run.
package crash

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var (
	seedFlag = flag.Uint64("seed", 0, "of samples and of their order; 0 takes one from the clock")
	fromFlag = flag.Int("from", 0, "of the pairs of crashes, skip so many of this seed")
	forFlag  = flag.Duration("for", 40*time.Minute, "how long a soak may crash in pairs")
)

// seed returns the seed of this run, and prints it.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := *seedFlag
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", s)
	return s
}

// built is where the programs are, once they are built. A test that another
// process runs of its own finds it in its environment.
var built string

const builtEnv = "CRASH_BUILT"

// plain is Belay as it is, marked the same with marks that crash it.
var (
	plain  = sync.OnceValues(func() (string, error) { return build("belay") })
	marked = sync.OnceValues(func() (string, error) { return build("marked", "-tags", "failpoint") })
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if built = os.Getenv(builtEnv); built != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "crash-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built = dir
	return m.Run()
}

func build(name string, flags ...string) (string, error) {
	file := filepath.Join(built, name)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	args := append([]string{"build", "-trimpath", "-o", file}, flags...)
	c := exec.Command("go", append(args, "github.com/belay-agent/belay/cmd/belay")...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", errors.Join(err, errors.New(string(out)))
	}
	return file, nil
}

func binary(t *testing.T, of func() (string, error)) string {
	t.Helper()
	file, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

package failpoint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/belay-agent/belay/internal/world/failpoint"
)

// In a normal build a mark does nothing, whatever the environment says.
func TestOff(t *testing.T) {
	if failpoint.Enabled {
		t.Skip("built with the tag failpoint")
	}
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("FAILPOINT", "1")
	t.Setenv("FAILPOINT_LOG", log)
	failpoint.Hit("one")
	if _, err := os.Stat(log); err == nil {
		t.Error("it wrote a log")
	}
}

// Built with the tag, the process ends at the mark that was asked for, and at no
// other: the program passes three and then exits with 7.
func TestOn(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "marks")
	build := exec.Command("go", "build", "-tags", "failpoint", "-o", program, "./testdata/marks")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, tt := range []struct {
		at, log string
		code    int // -1 where a signal ended it
	}{
		{"", "one\ntwo\nthree\n", 7},
		{"1", "one\n", -1},
		{"3", "one\ntwo\nthree\n", -1},
		{"4", "one\ntwo\nthree\n", 7},
	} {
		log := filepath.Join(dir, "log"+tt.at)
		c := exec.Command(program)
		c.Env = []string{"FAILPOINT=" + tt.at, "FAILPOINT_LOG=" + log}
		err := c.Run()
		if c.ProcessState == nil {
			t.Fatal(err)
		}
		if got := c.ProcessState.ExitCode(); got != tt.code {
			t.Errorf("FAILPOINT=%s: exit status %d, want %d", tt.at, got, tt.code)
		}
		if b, err := os.ReadFile(log); string(b) != tt.log {
			t.Errorf("FAILPOINT=%s: passed %q, %v, want %q", tt.at, b, err, tt.log)
		}
	}
}

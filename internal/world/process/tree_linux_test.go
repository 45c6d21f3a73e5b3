package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const statLine = "4711 (a) b (c\n) S 12 34 56 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2\n"

func TestParseStat(t *testing.T) {
	got, state, ok := parseStat(statLine)
	want := proc{pid: 4711, parent: 12, group: 34, session: 56, start: 987654}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(proc{})); diff != "" || state != "S" || !ok {
		t.Errorf("%s, %t, %s", state, ok, diff)
	}
	self, _, ok := read(os.Getpid())
	if !ok || self.pid != os.Getpid() || self.parent != os.Getppid() || self.start != startOf(os.Getpid()) {
		t.Errorf("of ourselves: %+v", self)
	}
	if startOf(1<<30) != 0 {
		t.Error("no such process has a start")
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add(statLine)
	f.Add("1 (x) Z")
	f.Add(") (")
	f.Fuzz(func(t *testing.T, line string) {
		p, state, ok := parseStat(line)
		if ok && state == "" {
			t.Errorf("accepted %+v without a state", p)
		}
	})
}

// A process that does nothing but become another one is found at each look. While it
// does, the system shows no environment of it: of 1000 looks some 30 are such.
func TestAProcessIsFoundBetweenTwoPrograms(t *testing.T) {
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop")
	if err := os.WriteFile(loop, []byte("exec /bin/sh "+loop+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/bin/sh", loop)
	c.Env = []string{"BELAY_TEST_MARK=x"}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	hidden := 0
	for n := range 3000 {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", c.Process.Pid)); err == nil && len(b) == 0 {
			hidden++
		}
		if !marked(c.Process.Pid, "BELAY_TEST_MARK=") {
			t.Fatalf("look %d: it is not found", n)
		}
		if marked(c.Process.Pid, "OTHER=") {
			t.Fatal("it has another mark")
		}
	}
	t.Logf("%d of 3000 looks saw no environment", hidden)
}

package process

import (
	"os"
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

package crash

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// compactions is what a session records of them.
type compactions struct {
	Handoffs    int
	Notes       []string
	Constraints []string
	Usage       model.Usage
}

func compactionsOf(all []event.Event) (c compactions) {
	for _, b := range bodies[event.Compacted](all) {
		if b.Handoff != "" {
			c.Handoffs++
		}
		for _, n := range b.Notes {
			c.Notes = append(c.Notes, n.ID+" "+n.Text)
		}
		c.Usage = c.Usage.Plus(b.Usage)
	}
	for _, b := range bodies[event.Constrained](all) {
		c.Constraints = append(c.Constraints, b.ID+" "+b.Words)
	}
	return c
}

// killed tells the story up to its n-th mark, and returns what it has recorded.
func (st *stage) killed(t *testing.T, n int) (*story, []event.Event) {
	t.Helper()
	s, err := st.story()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.remove)
	if _, err := s.begin([]string{fmt.Sprintf("FAILPOINT=%d", n)}, nil); err != nil {
		t.Fatal(err)
	}
	all, err := s.events()
	if err != nil {
		t.Fatal(err)
	}
	return s, all
}

// R258, P01: killed between the answer to a request for notes and the record of the
// compaction, and between that and the next request, a session has the compaction
// once: the notes, the constraint that the model heard, and what they cost.
func TestR258_P01_KilledAroundACompaction(t *testing.T) {
	t.Parallel()
	st := open(t, binary(t, marked), "compact.play")
	whole, all := st.killed(t, len(st.marks)+1) // it never gets there
	want := compactionsOf(all)
	if !done(all) || len(whole.kills) > 0 || want.Handoffs != 1 || len(want.Notes) != 1 || len(want.Constraints) != 1 {
		t.Fatalf("the run that is not cut: %+v", want)
	}
	first := 1 + sort.Search(len(st.marks), func(i int) bool { // at which it is recorded
		_, all := st.killed(t, i+1)
		return compactionsOf(all).Handoffs > 0
	})
	before, after := 0, 0
	for n := first - 2; n <= first+2; n++ {
		s, all := st.killed(t, n)
		if len(s.kills) != 1 {
			t.Fatalf("mark %d: it was not killed", n)
		}
		at := fmt.Sprintf("mark %d (%s)", n, s.kills[0])
		sent := bodies[event.Sent](all)
		switch c := compactionsOf(all); {
		case c.Handoffs == 0 && strings.HasPrefix(s.kills[0], "journal"):
			before++
		case c.Handoffs == 1 && sent[len(sent)-1].For == string(model.Handoff):
			after++
		}
		if err := s.finish(); err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		v, err := s.judge(st)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range v.wrong() {
			t.Errorf("%s: %s", at, w)
		}
		if all, err = s.events(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, compactionsOf(all)); d != "" {
			t.Errorf("%s (-want +got):\n%s", at, d)
		}
		asked := slices.DeleteFunc(bodies[event.Sent](all), func(b event.Sent) bool { return b.For == "" })
		if len(asked) > 2 {
			t.Errorf("%s: notes are asked for %d times", at, len(asked))
		}
	}
	if before == 0 || after == 0 {
		t.Errorf("it was killed %d times before it was recorded, and %d times after", before, after)
	}
}

// R252, P01: a command that a kill cut off, and of which nobody can say whether it
// happened, is named as that in the handoff of a later process.
func TestR252_P01_ACallThatWasCutOffIsInTheHandoff(t *testing.T) {
	t.Parallel()
	st := open(t, binary(t, marked), "compact.play")
	named := 0
	for i, mark := range st.marks {
		if mark != "process started" || named > 0 {
			continue
		}
		s, _ := st.killed(t, i+1)
		if err := s.finish(); err != nil {
			t.Fatal(err)
		}
		v, err := s.judge(st)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range v.wrong() {
			t.Errorf("mark %d: %s", i+1, w)
		}
		all, err := s.events()
		if err != nil {
			t.Fatal(err)
		}
		var unknown string
		for _, e := range all {
			switch b := e.Body.(type) {
			case event.Finished:
				if b.Result.Status == tool.Unknown {
					unknown = b.Call
				}
			case event.Compacted:
				if b.Handoff == "" || unknown == "" {
					continue
				}
				if !strings.Contains(b.Handoff, "call "+unknown+" (") || !strings.Contains(b.Handoff, "was cut off: whether it happened is unknown") {
					t.Errorf("mark %d: %s is not in the handoff:\n%s", i+1, unknown, b.Handoff)
				}
				named++
			}
		}
	}
	if named == 0 {
		t.Error("no session was compacted after a call that was cut off")
	}
}

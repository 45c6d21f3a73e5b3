package report

import (
	"slices"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestAConstraintThatWasNotKept: a program does what no parse of its command shows.
func TestAConstraintThatWasNotKept(t *testing.T) {
	forbid := func(id string, b tool.Ban) event.Constrained {
		return event.Constrained{ID: id, Words: "words of " + id, Seq: 2, Bans: []tool.Ban{b}}
	}
	tests := []struct {
		name string
		ban  tool.Ban
		do   func(s *story)
		want []Breach
	}{
		{"a script changes it", tool.Ban{Rule: "Edit(**/a.txt)"}, func(s *story) { s.bash("sh x.sh", 0, "", s.edits("d/a.txt", "2")...) }, []Breach{{"k1", "words of k1", "d/a.txt", "c1"}}},
		{"another file", tool.Ban{Rule: "Edit(**/a.txt)"}, func(s *story) { s.bash("sh x.sh", 0, "", s.edits("b.txt", "2")...) }, nil},
		{"put back", tool.Ban{Rule: "Edit(**/a.txt)"}, func(s *story) {
			s.bash("sh x.sh", 0, "", s.edits("d/a.txt", "2")...)
			s.bash("sh y.sh", 0, "", s.edits("d/a.txt", "1")...)
		}, nil},
		{"asked about only", tool.Ban{Rule: "Edit(**/a.txt)", Ask: true}, func(s *story) { s.bash("sh x.sh", 0, "", s.edits("d/a.txt", "2")...) }, nil},
		{"removals only, a change", tool.Ban{Rule: "Edit(**)", Removes: true}, func(s *story) { s.bash("sh x.sh", 0, "", s.edits("d/a.txt", "2")...) }, nil},
		{"removals only, a removal", tool.Ban{Rule: "Edit(**)", Removes: true}, func(s *story) { s.bash("sh x.sh", 0, "", s.edits("d/a.txt", "-")...) }, []Breach{{"k1", "words of k1", "d/a.txt", "c1"}}},
		{"all but one, another", tool.Ban{Rule: "Edit(**)", Except: "b.txt"}, func(s *story) { s.bash("sh x.sh", 0, "", s.edits("d/a.txt", "2")...) }, []Breach{{"k1", "words of k1", "d/a.txt", "c1"}}},
		{"all but one, that one", tool.Ban{Rule: "Edit(**)", Except: "b.txt"}, func(s *story) { s.bash("sh x.sh", 0, "", s.edits("b.txt", "2")...) }, nil},
		{"all but one, what a build makes", tool.Ban{Rule: "Edit(**)", Except: "b.txt"}, func(s *story) { s.bash("go build", 0, "", s.edits("out", "2")...) }, nil},
		{"a command", tool.Ban{Rule: "Bash(git push **)"}, func(s *story) { s.bash("sh x.sh", 0, "", s.edits("d/a.txt", "2")...) }, nil},
	}
	for _, tt := range tests {
		s := begin(t, map[string]string{"d/a.txt": "1", "b.txt": "1"})
		s.ask("do it")
		s.add(forbid("k1", tt.ban))
		tt.do(s)
		s.stop()
		r := s.report()
		if !slices.Equal(r.Broken, tt.want) || len(r.Findings) != len(tt.want) {
			t.Errorf("%s: %+v, findings %q; want %+v", tt.name, r.Broken, r.Findings, tt.want)
		}
	}
	s := begin(t, map[string]string{"d/a.txt": "1"})
	s.ask("do it")
	s.bash("sh x.sh", 0, "", s.edits("d/a.txt", "2")...)
	s.add(forbid("k1", tool.Ban{Rule: "Edit(**/a.txt)"}))
	if r := s.report(); len(r.Broken) != 0 {
		t.Errorf("it was changed before it was forbidden: %+v", r.Broken)
	}
}

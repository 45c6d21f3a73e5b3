package prompt

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// A verdict is what a run of tests or of a build came to, as the data of a result
// say: of Test by its outcome, of Bash by its reports.
type verdict struct {
	Outcome  string   `json:"outcome"`
	Failing  []spot   `json:"failing"`
	Problems []spot   `json:"problems"`
	Reports  []report `json:"reports"`
}

type report struct {
	Failing  []spot `json:"failing"`
	Problems []spot `json:"problems"`
}

type spot struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// failed and passed are the outcomes that decide a phase; all others say nothing.
func (v verdict) failed() bool {
	return v.Outcome == "failed" || v.Outcome == "build_failed" || v.Outcome == "" && len(v.Reports) > 0
}
func (v verdict) passed() bool { return v.Outcome == "passed" }

// verdictOf returns what a result says of a run, false for one that is not of a
// run. Bash reports on what failed only, so a run of it never passes.
func verdictOf(r *tool.Result) (v verdict, ok bool) {
	if r == nil || !bytes.Contains(r.Data, []byte(`"outcome"`)) && !bytes.Contains(r.Data, []byte(`"reports"`)) {
		return verdict{}, false
	}
	if json.Unmarshal(r.Data, &v) != nil {
		return verdict{}, false
	}
	return v, v.failed() || v.passed()
}

// A now is where the work is: what the newest turn has come to.
type now struct {
	phase recall.Phase
	goal  string       // the user's newest words
	run   *tool.Result // the newest that failed or passed; nil if there is none
	said  verdict      // of run
	far   bool         // what the turn began with is far back, or compacted away
}

// distant is how many exchanges back the model is told again what it must hold
// to: less than it has before it at once.
const distant = 12

// look reads the newest turn backwards. Words that the program speaks in the
// user's place begin with a bracket and begin no turn.
func look(s *session.State) now {
	n := now{phase: recall.Exploring, far: s.Handoff() != ""}
	talk := s.Talk()
	changed, late := false, false // late: after the run
	for i := len(talk) - 1; i >= 0; i-- {
		x := talk[i]
		if x.Message.Role == model.User {
			if words := x.Message.Text(); !strings.HasPrefix(words, "[") {
				n.goal = words
				n.far = n.far || len(talk)-i > distant
				break
			}
		}
		for j := len(x.Results) - 1; j >= 0; j-- {
			r := x.Results[j]
			if v, ok := verdictOf(r); ok && n.run == nil {
				n.run, n.said, late = r, v, changed
			}
			changed = changed || r != nil && len(r.Edits) > 0
		}
	}
	switch {
	case n.run != nil && n.said.failed():
		n.phase = recall.Failing
	case n.run != nil && changed && !late:
		n.phase = recall.Verifying
	case changed:
		n.phase = recall.Changing
	}
	return n
}

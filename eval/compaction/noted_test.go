package compaction

import (
	"context"
	"encoding/json"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/prompt"
)

// A redactor answers as the summariser does, but for what change makes of its notes.
type redactor struct{ change func([]remark) []remark }

func (r redactor) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for delta, err := range (summariser{}).Stream(ctx, req) {
			reply, ok := delta.(model.Reply)
			var answer struct {
				Notes []remark `json:"notes"`
			}
			if err != nil || !ok || json.Unmarshal([]byte(reply.Message.Text()), &answer) != nil {
				panic("the summariser replies with notes, and with nothing else")
			}
			answer.Notes = r.change(answer.Notes)
			text, err := json.Marshal(answer)
			if err != nil {
				panic(err)
			}
			reply.Message.Parts = []model.Part{model.Text{Text: string(text)}}
			yield(reply, nil)
		}
	}
}

// noNotes drops all of them.
func noNotes([]remark) []remark { return []remark{} }

// noBans keeps the notes, and drops what code could match of them.
func noBans(notes []remark) []remark {
	for i := range notes {
		notes[i].Forbids = []forbid{}
	}
	return notes
}

// lifted is a compaction of a session of which a person lifted all that they ever
// forbade.
func lifted(ctx context.Context, r *running) error {
	for _, k := range r.state.Constraints() {
		if _, err := r.agent.Lift(k.ID); err != nil {
			return err
		}
	}
	return ordinary(ctx, r)
}

// TestR254_R271_R272_NotesAloneKeepPlanARejected: what only the log and a note of the
// model rule out is stopped as what the user forbids is, whatever else is lost; and it
// is the ban of the note that does it.
func TestR254_R271_R272_NotesAloneKeepPlanARejected(t *testing.T) {
	_, _, control, s := quickly(t)
	b := bench{wire: wired(t), dir: t.TempDir()}
	found, err := b.found(limited(t), control, s)
	if err != nil {
		t.Fatal(err)
	}
	if banning(t, found) != banning(t, control) {
		t.Error("what the user forbids takes part")
	}
	for _, tt := range []struct {
		name    string
		notes   model.Provider
		compact func(context.Context, *running) error
		missed  string // "" where the trap holds
	}{
		{"as it is", summariser{}, ordinary, ""},
		{"the constraints are dropped", summariser{}, lifted, ""},
		{"the notes are dropped", redactor{noNotes}, ordinary, "requests refused; ran [\"Bash"},
		{"the bans of the notes are dropped", redactor{noBans}, ordinary, "requests refused; ran [\"Bash"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := bench{wire: b.wire, notes: tt.notes, compact: tt.compact, dir: t.TempDir()}
			dir := filepath.Join(b.dir, "trap")
			sprung, err := b.spring(limited(t), found, s, dir)
			if err != nil {
				t.Fatal(err)
			}
			missed := slices.DeleteFunc(Report{Noted: sprung}.misses(), func(m string) bool { return !strings.Contains(m, "only notes know") })
			if tt.missed == "" && len(missed) > 0 || tt.missed != "" && !strings.Contains(strings.Join(missed, "\n"), tt.missed) {
				t.Errorf("missed: %q, of %+v", missed, sprung)
			}
			state, err := placeIn(dir).state()
			if err != nil {
				t.Fatal(err)
			}
			const rejected = "a change of `golangflag.go` is rejected"
			request := prompt.Request(state, nil, nil)
			_, warned, _ := strings.Cut(request.System, "Nothing enforces these")
			stops := slices.ContainsFunc(state.RuledOut(), func(n event.Note) bool { return strings.Contains(n.Text, rejected) && len(n.Bans) > 0 })
			switch {
			case tt.name == "the constraints are dropped" && len(state.Constraints()) > 0:
				t.Errorf("%+v still hold", state.Constraints())
			case stops != (tt.missed == ""):
				t.Errorf("of notes %+v hold", state.RuledOut())
			case (tt.name == "the bans of the notes are dropped") != strings.Contains(warned, rejected):
				t.Errorf("what nothing enforces is said to be\n%s", warned)
			}
		})
	}
}

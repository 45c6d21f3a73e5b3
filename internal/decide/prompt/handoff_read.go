package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// The limits of notes.
const (
	maxNotes    = 40    // of one answer
	maxNote     = 800   // bytes of the text of one
	maxEvidence = 12    // calls or files of one
	maxAnswered = 32000 // bytes of an answer: more is no summary
	shortestBan = 3     // bytes of a name that nothing may write
	copied      = 320   // bytes in a row that a note may share with what it is about
)

// A Reading is what one answer to a request of Handoff comes to.
type Reading struct {
	Notes       []event.Note        // without ids
	Constraints []event.Constrained // words of the person that forbid or require something, without ids
	Complaints  []string            // what was refused, and why; empty if all was taken
	Useless     bool                // it is no answer at all, and not worth showing to the model again
}

// noted is a note as the model writes it.
type noted struct {
	Kind     string
	Text     string
	Status   string
	Evidence []string
	Error    string
	Files    []struct{ Path, Is string }
	Forbids  []struct{ Rule, Text, Call string }
}

// ReadHandoff checks an answer against what the log has: a note that names a call,
// a file, a state of one or words that are not there is refused, and said to be. One
// that forbids what cannot be matched is taken without that, which is said, too: what
// was ruled out is not lost for the form of its ban. The rest is taken.
func ReadHandoff(s *session.State, through int64, reply model.Reply) Reading {
	text := strings.TrimSpace(reply.Message.Text())
	switch {
	case reply.Stop == model.Length:
		return useless("the answer was cut off by the output limit")
	case reply.Stop != model.End && reply.Stop != model.Calls:
		return useless("the model stopped: " + string(reply.Stop))
	case text == "":
		return useless("the answer was empty")
	case len(text) > maxAnswered:
		return useless(fmt.Sprintf("the answer has %d bytes, which is no summary", len(text)))
	}
	var answer struct{ Notes []noted }
	if err := json.Unmarshal([]byte(object(text)), &answer); err != nil {
		return Reading{Complaints: []string{"the answer is not the JSON object that was asked for: " + err.Error()}}
	}
	read := reader{state: s, talk: stretch(s, through), calls: make(map[string]judged)}
	for _, x := range read.talk {
		read.source += quote(s, x, 1)
	}
	read.source = oneLine(read.source + s.Handoff())
	for _, x := range read.talk {
		for i, c := range x.Message.Calls() {
			read.calls[c.ID] = judged{c, x.Results[i]}
		}
	}
	for i, n := range answer.Notes {
		if i == maxNotes {
			read.complain("there are %d notes, of which only %d are taken", len(answer.Notes), maxNotes)
			break
		}
		read.take(i, n)
	}
	return read.Reading
}

func useless(why string) Reading { return Reading{Complaints: []string{why}, Useless: true} }

// object returns the JSON object that is in text, which a model may have put into
// a fence or between words.
func object(text string) string {
	first, last := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if first < 0 || last < first {
		return text
	}
	return text[first : last+1]
}

type judged struct {
	call   tool.Call
	result *tool.Result
}

type reader struct {
	Reading
	state  *session.State
	talk   []session.Exchange
	source string // what the notes are about, as it was quoted, and the handoff before, on one line
	calls  map[string]judged
}

func (r *reader) complain(format string, a ...any) {
	r.Complaints = append(r.Complaints, fmt.Sprintf(format, a...))
}

// take takes the note, or says what is wrong with it.
func (r *reader) take(i int, n noted) {
	wrong := r.wrong(n)
	if wrong != "" {
		r.complain("note %d (%s): %s", i+1, clipped(n.Kind, 20), wrong)
		return
	}
	text := oneLine(n.Text)
	if n.Kind == "constraint" {
		seq := r.said(text)
		r.Constraints = append(r.Constraints, event.Constrained{Words: text, Seq: seq, By: "model"})
		return
	}
	note := event.Note{Kind: n.Kind, Text: text, Status: n.Status, Evidence: n.Evidence, Error: oneLine(n.Error)}
	for _, f := range n.Files {
		note.Files = append(note.Files, f.Path)
	}
	for _, f := range n.Forbids {
		if wrong := r.wrongBan(f.Rule, f.Text, f.Call); wrong != "" {
			r.complain("note %d (%s): forbids: %s", i+1, n.Kind, wrong)
		} else if ban, ok := r.ban(f.Rule, f.Text, f.Call); ok && !r.lifted(ban) {
			note.Bans = append(note.Bans, ban)
		}
	}
	if !Has(r.state.Notes(), note) && !Has(r.Notes, note) {
		r.Notes = append(r.Notes, note)
	}
}

// Has reports whether notes say what n says, and ban all that it bans.
func Has(notes []event.Note, n event.Note) bool {
	return slices.ContainsFunc(notes, func(o event.Note) bool {
		return o.Kind == n.Kind && o.Text == n.Text &&
			!slices.ContainsFunc(n.Bans, func(b tool.Ban) bool { return !slices.Contains(o.Bans, b) })
	})
}

var kinds = []string{"goal", "acceptance", "context", "milestone", "decision", "attempt", "learning", "question", "next", "constraint"}

// wrong says what keeps a note from being taken, "" if nothing does.
func (r *reader) wrong(n noted) string {
	switch {
	case !slices.Contains(kinds, n.Kind):
		return "there is no such kind"
	case strings.TrimSpace(n.Text) == "":
		return "it says nothing"
	case len(n.Text) > maxNote:
		return fmt.Sprintf("its text has %d bytes; at most %d are taken", len(n.Text), maxNote)
	case len(n.Error) > maxNote:
		return "its error is too long"
	case n.Kind == "decision" && !slices.Contains([]string{"accepted", "rejected", "tentative"}, n.Status):
		return "a decision is accepted, rejected or tentative"
	case n.Kind != "decision" && n.Status != "":
		return "only a decision has a status"
	case n.Kind == "attempt" && (strings.TrimSpace(n.Error) == "" || len(n.Evidence) == 0):
		return "an attempt needs the error and the call that shows it"
	case len(n.Evidence) > maxEvidence, len(n.Files) > maxEvidence, len(n.Forbids) > maxEvidence:
		return "it names too much"
	case n.Kind != "constraint" && r.copies(n.Text):
		return "it copies what it is about: say what follows from it in your own words"
	case n.Kind == "constraint" && r.said(n.Text) == 0:
		return "these are not the person's words in this stretch; copy them exactly"
	}
	for _, id := range n.Evidence {
		if _, ok := r.calls[id]; !ok {
			return fmt.Sprintf("there is no call %q in this stretch", clipped(id, 20))
		}
	}
	for _, f := range n.Files {
		if wrong := r.wrongFile(f.Path, f.Is); wrong != "" {
			return wrong
		}
	}
	return ""
}

// copies reports whether text has a long piece of what it is about: a record that
// is copied into the next grows with each.
func (r *reader) copies(text string) bool {
	text = oneLine(text)
	for i := 0; i+copied <= len(text); i += copied / 4 {
		if strings.Contains(r.source, text[i:i+copied]) {
			return true
		}
	}
	return false
}

// wrongFile compares what a note says of a file with what the log proves.
func (r *reader) wrongFile(path, is string) string {
	path = clipped(path, 200)
	file, changed := r.state.Facts().File(path)
	if !changed && !r.mentions(path) {
		return fmt.Sprintf("the stretch knows no file %q", path)
	}
	switch is {
	case "removed":
		if !file.Gone {
			return fmt.Sprintf("%s is not removed", path)
		}
	case "created", "changed":
		if !changed || file.Gone || (is == "created") != (file.Before == "") {
			return fmt.Sprintf("%s was not %s by any call", path, is)
		}
	case "unchanged":
		if changed && file.Before != file.Now {
			return fmt.Sprintf("%s was changed", path)
		}
	}
	return ""
}

// mentions reports whether anything in the stretch holds word.
func (r *reader) mentions(word string) bool {
	if strings.TrimSpace(word) == "" {
		return false
	}
	for _, x := range r.talk {
		if strings.Contains(x.Message.Text(), word) {
			return true
		}
		for i, c := range x.Message.Calls() {
			if strings.Contains(string(c.Args), word) || x.Results[i] != nil && strings.Contains(x.Results[i].Text, word) {
				return true
			}
		}
	}
	return false
}

// said returns the event with which a person said words, 0 if nobody did.
func (r *reader) said(words string) int64 {
	words = oneLine(words)
	for _, x := range r.talk {
		if x.Asked && strings.Contains(oneLine(x.Message.Text()), words) {
			return x.Message.Seq
		}
	}
	return 0
}

// ban returns what a note forbids. A test that failed may be run again.
func (r *reader) ban(rule, text, call string) (tool.Ban, bool) {
	switch {
	case rule != "":
		return tool.Ban{Rule: canonical(rule)}, true
	case text != "":
		return tool.Ban{Text: text}, true
	case call == "":
		return tool.Ban{}, false
	}
	c := r.calls[call]
	if _, tests := session.RunOf(c.call, *c.result); tests {
		return tool.Ban{}, false
	}
	return tool.Ban{Call: c.call.Signature()}, true
}

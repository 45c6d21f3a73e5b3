package prompt

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// The sections of a handoff, in their order.
const (
	ofTime = iota
	ofGoal
	ofRuledOut
	ofContext
	ofDone
	ofInsight
	ofFiles
	ofOpen
	ofWords
	ofArtifacts
)

var sections = [...]string{
	ofTime: "Time range", ofGoal: "Objectives and status", ofRuledOut: "Ruled out: do not do these again",
	ofContext: "Technical context", ofDone: "Completed milestones", ofInsight: "Key insights and decisions",
	ofFiles: "File system state", ofOpen: "Open questions and next steps", ofWords: "The person's own words",
	ofArtifacts: "Artifacts, readable with Read and Grep",
}

// An entry is one line of a handoff. The lower its rank, the sooner it gets a
// place; of one rank the newest does.
type entry struct {
	section int
	text    string
	rank    int
}

const (
	always   = iota // what the work is held to
	ruledOut        // left out, oldest first, only where there is no room for all of these
	first           // what the next step is likely to need
	second          // what it may need
	seldom          // what can be looked up
)

// HandoffText renders what the log proves and what was judged of it within so
// many tokens, and returns how many entries found no place. Nothing of an earlier
// handoff is in it: it is made anew each time, so it cannot grow.
func HandoffText(s *session.State, room int) (text string, left int) {
	entries := collect(s)
	chosen := choose(entries, room)
	return render(entries, chosen), len(entries) - count(chosen)
}

// HandoffWhole renders all of it.
func HandoffWhole(s *session.State) string {
	entries := collect(s)
	return render(entries, slices.Repeat([]bool{true}, len(entries)))
}

func count(chosen []bool) (n int) {
	for _, c := range chosen {
		if c {
			n++
		}
	}
	return n
}

// choose gives places to entries, rank by rank and the newest first.
func choose(entries []entry, room int) []bool {
	order := make([]int, len(entries))
	for i := range order {
		order[i] = len(entries) - 1 - i
	}
	slices.SortStableFunc(order, func(a, b int) int { return entries[a].rank - entries[b].rank })
	chosen := make([]bool, len(entries))
	headed := make([]bool, len(sections))
	for _, i := range order {
		e := entries[i]
		cost := tool.EstimateTokens(e.text) + 1
		if !headed[e.section] {
			cost += tool.EstimateTokens(sections[e.section]) + 2
		}
		if cost > room {
			continue
		}
		room -= cost
		headed[e.section], chosen[i] = true, true
	}
	return chosen
}

func render(entries []entry, chosen []bool) string {
	var b strings.Builder
	for section, title := range sections {
		headed := false
		for i, e := range entries {
			if e.section != section || !chosen[i] {
				continue
			}
			if !headed {
				b.WriteString("## " + title + "\n")
				headed = true
			}
			b.WriteString(e.text + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// collect lists all there is to say, within a section oldest first.
func collect(s *session.State) (entries []entry) {
	add := func(section, rank int, format string, a ...any) {
		entries = append(entries, entry{section, "- " + fmt.Sprintf(format, a...), rank})
	}
	f := s.Facts()
	add(ofTime, first, "from %s to %s: %d turns, %d steps, %d calls", stamp(f.Began), stamp(f.Ended), f.Turns, f.Steps, f.Calls)
	for _, t := range s.Todo() {
		add(ofGoal, first, "[%s] %s", t.State, oneLine(t.Text))
	}
	words(s, add)
	for _, n := range recorded(s) {
		section, rank := placeOf(n)
		add(section, rank, "%s", noteText(n))
	}
	for _, a := range f.Answers.All {
		add(ofInsight, second, "the model reported: %s", inset(said(a)))
	}
	failures := f.Failures.All
	for i, x := range failures {
		rank := seldom
		if i >= len(failures)-10 {
			rank = second
		}
		why := x.Message
		if x.Error != "" {
			why += ": " + x.Error
		}
		add(ofInsight, rank, "failed %s (%s): %s: %s", times(x.Times), x.Call, x.What, why)
	}
	for _, x := range f.Denials.All {
		add(ofRuledOut, first, "not allowed %s (%s): %s: %s", times(x.Times), x.Call, x.What, x.Message)
	}
	for _, c := range s.Unsettled() {
		add(ofOpen, always, "call %s (%s) was cut off: whether it happened is unknown", c.Plan.Call.ID, clipped(oneLine(c.Plan.Summary), 100))
	}
	for _, t := range f.Waiting.All {
		add(ofOpen, always, "%s went on in the background, and nothing says that it has ended (see Process): %s", t.Call, t.What)
	}
	files(s, add)
	for _, a := range f.Artifacts.All {
		add(ofArtifacts, seldom, "%s: %s (%d bytes, %s)", a.Handle, a.What, a.Bytes, a.Call)
	}
	return entries
}

// recorded returns the notes for a handoff: without those that stand in layer L2,
// and those that a person lifted.
func recorded(s *session.State) (notes []event.Note) {
	_, pinned := s.Pinned()
	elsewhere, _ := unenforced(pinned)
	is := func(n event.Note) func(event.Note) bool { return func(o event.Note) bool { return o.ID == n.ID } }
	holds := s.RuledOut()
	for _, n := range s.Notes() {
		switch {
		case slices.ContainsFunc(elsewhere, is(n)):
		case session.RulesOut(n) && !slices.ContainsFunc(holds, is(n)):
		default:
			notes = append(notes, n)
		}
	}
	return notes
}

// words adds what the person said and the talk does not show, as it was said: the
// first and the newest before the others.
func words(s *session.State, add func(section, rank int, format string, a ...any)) {
	shown := make(map[int64]bool)
	for _, x := range s.Talk() {
		shown[x.Message.Seq] = x.Asked
	}
	f := s.Facts()
	for i, w := range f.Said.All {
		if shown[w.Seq] {
			continue
		}
		rank := second
		switch i {
		case len(f.Said.All) - 1:
			rank = always
		case 0:
			rank = first
		}
		add(ofWords, rank, "%s", said(w))
		if i == 0 && f.Said.Out > 0 {
			add(ofWords, first, "[%d messages of the person are left out here]", f.Said.Out)
		}
	}
}

// files adds the state of the workspace: the newest changes first.
func files(s *session.State, add func(section, rank int, format string, a ...any)) {
	f := s.Facts()
	if f.Files.Out > 0 {
		add(ofFiles, second, "%d files were changed before these", f.Files.Out)
	}
	for _, x := range f.Files.All {
		add(ofFiles, first, "%s", fileText(x))
	}
	for _, c := range f.Commits.All {
		add(ofFiles, second, "commit %s %s (%s)", c.Hash, c.Subject, c.Call)
	}
	for _, r := range f.Runs.All {
		add(ofFiles, first, "%s", runText(r))
	}
	var paths []string
	for _, l := range f.Reread.All {
		paths = append(paths, l.Path)
	}
	for len(paths) > 0 { // in lines of a few, so that some have a place where not all have
		n := min(10, len(paths))
		add(ofFiles, second, "known before and to be read again: %s", strings.Join(paths[:n], ", "))
		paths = paths[n:]
	}
}

func fileText(x session.File) string {
	how := "changed"
	switch {
	case x.Gone && x.Before == "":
		how = "made, and removed again,"
	case x.Gone:
		how = "removed"
	case x.Before == "":
		how = "created"
	case x.Before == x.Now:
		how = "changed, and again as it was,"
	}
	text := fmt.Sprintf("%s: %s by %s (%s)", x.Path, how, x.Tool, strings.Join(x.By, ", last "))
	if x.Now != "" && !x.Gone {
		text += ", digest " + x.Now[:min(12, len(x.Now))]
	}
	return text
}

func runText(r session.Run) string {
	text := fmt.Sprintf("%s: %s", r.Command, r.Outcome)
	if r.Counts != "" {
		text += " (" + r.Counts + ")"
	}
	text += " in " + r.Call
	if r.Changed > 0 {
		text += ", before the newest changes to files"
	}
	for _, c := range r.Failing {
		text += "\n  " + c
	}
	if r.More > 0 {
		text += fmt.Sprintf("\n  and %d more", r.More)
	}
	return text
}

// placeOf returns where a note belongs.
func placeOf(n event.Note) (section, rank int) {
	switch n.Kind {
	case "goal":
		return ofGoal, first
	case "acceptance":
		return ofGoal, always
	case "attempt":
		return ofRuledOut, ruledOut
	case "decision":
		if n.Status == "rejected" {
			return ofRuledOut, ruledOut
		}
		return ofInsight, first
	case "milestone":
		return ofDone, second
	case "learning":
		return ofInsight, second
	case "question", "next":
		return ofOpen, first
	}
	return ofContext, second
}

func noteText(n event.Note) string {
	text := n.ID + " " + n.Kind
	if n.Status != "" {
		text += " " + n.Status
	}
	text += ": " + n.Text
	if n.Error != "" {
		text += " [" + n.Error + "]"
	}
	if len(n.Files) > 0 {
		text += " (" + strings.Join(n.Files, ", ") + ")"
	}
	if len(n.Evidence) > 0 {
		text += " (" + strings.Join(n.Evidence, ", ") + ")"
	}
	if stops := session.Enforced(n.Bans); len(stops) > 0 {
		text += " [stopped: " + strings.Join(stops, "; ") + "]"
	}
	return text
}

func said(w session.Said) string {
	text := w.Text
	if w.Cut > 0 {
		text += fmt.Sprintf(" [... %d bytes more]", w.Cut)
	}
	if len(w.Media) > 0 {
		text += " [with an image: " + strings.Join(w.Media, ", ") + "]"
	}
	return text
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

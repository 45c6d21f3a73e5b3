package toolbox

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed edit.md
var editDescription string

type editArgs struct {
	Path string `json:"path"`
	replacement
}

// A replacement is what one edit asks for.
type replacement struct {
	Old string `json:"old" jsonschema:"exact text, without line numbers; must occur once unless all is set"`
	New string `json:"new"`
	All bool   `json:"all,omitempty" jsonschema:"replace every occurrence"`
}

// Edit returns the tool that replaces a piece of text in a file. One that is made
// alone does not know what other tools have shown, so it merges nothing.
func Edit(w *workspace.Workspace) tool.Tool { return (&changer{w: w}).edit() }

func (f *changer) edit() tool.Tool {
	return settling{tool.New(changes("Edit", editDescription), func(ctx context.Context, args editArgs, in tool.Input) (*tool.Action, error) {
		return f.editing(ctx, args.Path, []replacement{args.replacement}, in)
	}), f.w}
}

// editing is the action of making several replacements in a file, each in the
// result of those before it: all or none.
func (f *changer) editing(ctx context.Context, path string, edits []replacement, in tool.Input) (*tool.Action, error) {
	return f.action(ctx, in, func(ctx context.Context, settle settler) (change, error) {
		t, err := f.target(ctx, path, in.Seen)
		if err != nil {
			return change{}, err
		}
		e := editor{overlay: over(t.base)}
		if f := e.all(edits); f != nil {
			return change{}, t.of(f)
		}
		v, err := t.revise(e.splices(), settle)
		if err != nil {
			return change{}, failed(ctx, f.w, path, err)
		}
		if len(v.Regions) == 0 {
			return change{}, unchanged(t, "the edits leave the file as it is")
		}
		v.Inexact = strings.Join(e.rungs, ", ")
		return change{
			verb: "Edit " + t.Path, done: "edited " + t.Path,
			replacements: e.count, notes: e.notes, revisions: []revision{v},
		}, nil
	})
}

// unchanged is the failure of a change that changes nothing.
func unchanged(t target, message string) *tool.Failure {
	f := &tool.Failure{Kind: tool.NoChange, Message: message, Hint: "send what is to be different"}
	if t.known != t.Digest {
		f.Message = "someone else has changed " + t.Path + " in just this way since it was read"
		f.Hint = "read it again and go on from there"
	}
	return f
}

// An editor makes replacements, one after the other.
type editor struct {
	overlay
	count int      // places replaced
	rungs []string // of the ladder, that were climbed to
	notes []string
}

// all makes all the edits, or says which cannot be made.
func (e *editor) all(edits []replacement) *tool.Failure {
	for n, r := range edits {
		which := ""
		if len(edits) > 1 {
			which = fmt.Sprintf("edit %d of %d: ", n+1, len(edits))
		}
		if f := e.apply(which, r); f != nil {
			f.Message = which + f.Message
			if which != "" {
				f.Message += "; none was made"
			}
			return f
		}
	}
	return nil
}

// apply makes one replacement. The text is matched exactly, but for line endings;
// where that fails, by the ladder.
func (e *editor) apply(which string, r replacement) *tool.Failure {
	if r.Old == "" {
		return invalid("name the text to replace; Write makes a new file", "old is empty")
	}
	if r.Old == r.New {
		return &tool.Failure{
			Kind: tool.NoChange, Message: "old and new are the same",
			Hint: "send what is to be different",
		}
	}
	if strings.Contains(r.New, "\x00") {
		return noText("new")
	}
	now := e.String()
	old, fresh := r.Old, strings.ReplaceAll(r.New, "\r\n", "\n")
	offsets := occurrences(now, old)
	if len(offsets) == 0 {
		old = strings.ReplaceAll(old, "\r\n", "\n")
		offsets = occurrences(now, old)
	}
	switch {
	case len(offsets) == 0:
		return e.climb(which, now, old, fresh)
	case len(offsets) == 1 && !r.All:
		offsets = overlapping(now, old, fresh, offsets[0])
	}
	if len(offsets) > 1 && !r.All {
		return ambiguous(now, offsets)
	}
	if f := e.room(len(now), len(offsets), len(fresh)-len(old)); f != nil {
		return f
	}
	e.replace(offsets, len(old), fresh)
	e.count += len(offsets)
	return nil
}

// maxReplaced is at how many places one call may replace text: each of them is a
// region in the record of the call.
const maxReplaced = 100_000

// room refuses replacements that no record has room for: of places in a text of
// size bytes, each of which adds grow bytes.
func (e *editor) room(size, places, grow int) *tool.Failure {
	f := &tool.Failure{Kind: tool.TooLarge, Hint: "change it with a command"}
	switch {
	case e.count+places > maxReplaced:
		f.Message = fmt.Sprintf("old occurs %d times; one call can replace %d", places, maxReplaced)
	case size+places*grow > workspace.MaxFile:
		f.Message = fmt.Sprintf("the file would have more than %d bytes", workspace.MaxFile)
	default:
		return nil
	}
	return f
}

// climb makes a replacement of text that is not there exactly, if the ladder
// leads to one place and no more.
func (e *editor) climb(which, now, old, fresh string) *tool.Failure {
	p := sheetOf(now)
	var found []landing
	if h, ok := hunkOf(old, fresh); ok {
		found = h.loosely(p, 0)
	}
	if len(found) == 0 {
		found = among(p, old, fresh)
	}
	if len(found) != 1 {
		f := noMatch(now, old)
		if len(found) > 1 {
			f.Hint = fmt.Sprintf("%s, and it is alike at lines %s; %s", found[0].rung, linesOf(found), copyExactly)
		}
		return f
	}
	at := found[0]
	for _, s := range slices.Backward(at.splices) {
		e.replace([]int{s.start}, s.end-s.start, s.text)
	}
	e.count++
	if !slices.Contains(e.rungs, at.rung) {
		e.rungs = append(e.rungs, at.rung)
	}
	e.notes = append(e.notes, fmt.Sprintf("%sinexact match at line %d: %s", which, at.line+1, at.rung))
	return nil
}

func linesOf(found []landing) string {
	var all []string
	for _, l := range found {
		all = append(all, fmt.Sprint(l.line+1))
	}
	return strings.Join(all, ", ")
}

// noText refuses what would make a file that no tool here can read again.
func noText(argument string) *tool.Failure {
	return &tool.Failure{
		Kind: tool.Binary, Message: argument + " holds a NUL character, which no text file does",
		Hint: "leave it out, or make the file with a command",
	}
}

// occurrences returns where s begins in text, from left to right, without
// overlaps.
func occurrences(text, s string) []int {
	var all []int
	for at := 0; ; at += len(s) {
		i := strings.Index(text[at:], s)
		if i < 0 {
			return all
		}
		at += i
		all = append(all, at)
	}
}

// overlapping returns where else s begins, beside at, in places that overlap with it
// and where to replace it by fresh would come to something else.
func overlapping(text, s, fresh string, at int) []int {
	all := []int{at}
	want := text[:at] + fresh + text[at+len(s):]
	for n := at + 1; n < at+len(s) && n+len(s) <= len(text); n++ {
		if text[n:n+len(s)] == s && text[:n]+fresh+text[n+len(s):] != want {
			all = append(all, n)
		}
	}
	return all
}

// maxPlaces is how many line numbers a failure names.
const maxPlaces = 10

func ambiguous(text string, offsets []int) *tool.Failure {
	var lines []string
	for _, at := range offsets[:min(len(offsets), maxPlaces)] {
		lines = append(lines, fmt.Sprint(lineAt(text, at)))
	}
	if len(offsets) > maxPlaces {
		lines = append(lines, "...")
	}
	return &tool.Failure{
		Kind:    tool.Ambiguous,
		Message: fmt.Sprintf("old occurs %d times, at lines %s", len(offsets), strings.Join(lines, ", ")),
		Hint:    "add lines around it until it occurs once, or set all",
		Detail: data(struct {
			Count int      `json:"count"`
			Lines []string `json:"lines"`
		}{len(offsets), lines}),
	}
}

func lineAt(text string, offset int) int { return strings.Count(text[:offset], "\n") + 1 }

const copyExactly = "read the lines again and copy them exactly, spaces and tabs too"

// noMatch says what in text is nearest to old.
func noMatch(text, old string) *tool.Failure {
	if f := markedOld(text, old); f != nil {
		return f
	}
	f := &tool.Failure{
		Kind: tool.NoMatch, Message: "old is not in the file",
		Hint: copyExactly,
	}
	number := regexp.MustCompile(`(?m)^\s*\d+\t`) // as Read shows the start of a line
	if stripped := number.ReplaceAllString(old, ""); stripped != old && strings.Contains(text, stripped) {
		f.Hint = "leave out the line numbers that Read shows"
		return f
	}
	p, wanted := sheetOf(text), lines(strings.Trim(old, "\n"))
	at, votes := nearest(p, wanted)
	if votes == 0 {
		return f
	}
	for n, l := range wanted {
		if at+n < p.len() && p.line(at+n) != l {
			have, _ := tool.Excerpt(p.line(at+n), 200, "")
			f.Hint = fmt.Sprintf("it is nearest to line %d, where line %d is %q; %s", at+1, at+n+1, have, f.Hint)
			return f
		}
	}
	f.Hint = fmt.Sprintf("it is nearest to line %d; %s", at+1, f.Hint)
	return f
}

// common is how often a line may occur to say where a place is.
const common = 50

// nearest returns the line of p where most of the wanted lines would be in their
// places, blanks aside, and how many that are. A first line that is only part of
// one of p is taken where no whole line is found.
func nearest(p sheet, wanted []string) (at, votes int) {
	places := make(map[string][]int)
	for _, l := range wanted {
		if l = strings.TrimSpace(l); l != "" {
			places[l] = nil
		}
	}
	for n := range p.len() {
		l := strings.TrimSpace(p.line(n))
		if have, ok := places[l]; ok && len(have) <= common {
			places[l] = append(have, n)
		}
	}
	count := make(map[int]int)
	for k, l := range wanted {
		if have := places[strings.TrimSpace(l)]; len(have) <= common {
			for _, n := range have {
				if n >= k {
					count[n-k]++
				}
			}
		}
	}
	for n, c := range count {
		if c > votes || c == votes && n < at {
			at, votes = n, c
		}
	}
	if votes > 0 {
		return at, votes
	}
	for _, l := range wanted {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		if n := strings.Index(p.text, l); n >= 0 {
			return p.lineOf(n), 1
		}
		return 0, 0
	}
	return 0, 0
}

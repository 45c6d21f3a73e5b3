package session

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/pattern"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// Facts are what the log proves, whoever compacts it: no model has a word in
// them. They are folded from every event and stay within the limits below; of
// what did not fit they hold the number.
type Facts struct {
	Began     time.Time  `json:"began,omitzero"` // the first event
	Ended     time.Time  `json:"ended,omitzero"` // the newest
	Turns     int        `json:"turns,omitempty"`
	Steps     int        `json:"steps,omitempty"` // replies
	Calls     int        `json:"calls,omitempty"` // that ended
	Said      List[Said] `json:"said"`            // by the person; the first words are always there
	Answers   List[Said] `json:"answers"`         // of the model, that asked for no more calls and are no echo of a handoff
	Files     List[File] `json:"files"`           // changed, the newest change last
	Commits   List[Made] `json:"commits"`
	Runs      List[Run]  `json:"runs"`     // of tests and builds, by command, the newest last
	Failures  List[Fail] `json:"failures"` // calls that failed, by signature, the newest last
	Waiting   List[Task] `json:"waiting"`  // commands in the background that nothing says have ended
	Denials   List[Fail] `json:"denials"`  // calls that were not let run, likewise
	Artifacts List[Kept] `json:"artifacts"`
	Reread    List[Lost] `json:"reread"` // files that the model knew before a compaction, and not now
}

// A List is the newest of something, and how many were left out.
type List[T any] struct {
	All []T `json:"all,omitempty"`
	Out int `json:"out,omitempty"`
}

// Said is what somebody said.
type Said struct {
	Seq  int64  `json:"seq"`
	Text string `json:"text"`          // the words themselves, at most maxSaid bytes of them
	Cut  int    `json:"cut,omitempty"` // bytes at their end that are not in Text

	Media []string `json:"media,omitempty"` // handles of what was shown with them
}

// A File is one that calls changed.
type File struct {
	Path   string   `json:"path"`
	Before string   `json:"before,omitempty"` // digest at the first change; "" where it was not there
	Now    string   `json:"now,omitempty"`    // digest after the newest; "" where it is gone
	Gone   bool     `json:"gone,omitempty"`
	By     []string `json:"by"` // the first call that changed it and, where that is another, the last
	Tool   string   `json:"tool"`
	Times  int      `json:"times"`
}

// Made is a commit that a call made.
type Made struct {
	Hash    string `json:"hash"` // as git wrote it
	Subject string `json:"subject"`
	Call    string `json:"call"`
}

// A Run is what a command that tests or builds last came to.
type Run struct {
	Command string   `json:"command"`
	Outcome string   `json:"outcome"` // "passed", "failed", "build_failed" ... or "succeeded"
	Counts  string   `json:"counts,omitempty"`
	Failing []string `json:"failing,omitempty"` // cases and problems, one line each
	More    int      `json:"more,omitempty"`    // that are not listed
	Call    string   `json:"call"`
	Times   int      `json:"times"`
	Changed int      `json:"changed,omitempty"` // changes to files since
}

// A Fail is a call that failed, or that was not let run.
type Fail struct {
	Tool      string    `json:"tool"`
	Signature string    `json:"signature"` // see tool.Call.Signature
	Kind      tool.Kind `json:"kind"`
	What      string    `json:"what"`
	Message   string    `json:"message"`
	Error     string    `json:"error,omitempty"` // of a command what its output says
	Rule      string    `json:"rule,omitempty"`  // that decided against it
	Times     int       `json:"times"`
	Call      string    `json:"call"` // the newest
}

// A Task is a command that went on in the background of the process which is
// recorded last: its successor ends what was left.
type Task struct {
	Call string `json:"call"` // that started it, which is its name
	What string `json:"what"`
}

// Kept is an artifact that a result names.
type Kept struct {
	Handle string `json:"handle"`
	What   string `json:"what"`
	Bytes  int64  `json:"bytes"`
	Lines  int64  `json:"lines,omitempty"`
	Call   string `json:"call"`
}

// Lost is a file that must be read again.
type Lost struct {
	Path string `json:"path"`
}

// The limits of Facts.
const (
	maxSaid      = 8 << 10  // bytes of one text of a person
	maxSaidAll   = 32 << 10 // bytes of all of them
	maxAnswer    = 1200     // bytes of one of the model
	maxAnswers   = 8
	maxFiles     = 500
	maxCommits   = 100
	maxRuns      = 40
	maxTasks     = 40
	maxFailing   = 10 // cases of a run
	maxFails     = 150
	maxArtifacts = 150
	maxReread    = 300
	maxLine      = 200 // bytes of a command, a message, a case
)

// learn adds what e proves. It comes before e changes s.
func (f *Facts) learn(s *State, e event.Event) {
	if f.Began.IsZero() {
		f.Began = e.Time
	}
	f.Ended = e.Time
	switch b := e.Body.(type) {
	case event.Opened:
		f.Waiting = List[Task]{}
	case event.Asked:
		if !s.turn.Open {
			f.Turns++
		}
		f.said(Said{Seq: e.Seq, Text: b.Text, Media: b.Media})
	case event.Replied:
		f.Steps++
		if text := b.Message.Text(); text != "" && len(b.Message.Calls()) == 0 && !s.echoes(text) {
			said := Said{Seq: e.Seq, Text: headOf(text, maxAnswer)}
			said.Cut = len(text) - len(said.Text)
			f.Answers.add(said, maxAnswers)
		}
	case event.Finished:
		f.finished(s.calls[b.Call], b)
	case event.Quarantined:
		if s.isText(b.Seq, b.Part) { // told in a handoff it would be refused again
			f.Answers.take(func(a Said) bool { return a.Seq == b.Seq })
		}
	}
}

// said keeps the words of a person. Where there are too many the oldest go, but
// never the first: they are the goal.
func (f *Facts) said(words Said) {
	whole := len(words.Text)
	words.Text = headOf(words.Text, maxSaid)
	words.Cut = whole - len(words.Text)
	f.Said.All = append(f.Said.All, words)
	size := 0
	for _, w := range f.Said.All {
		size += len(w.Text)
	}
	for size > maxSaidAll && len(f.Said.All) > 2 {
		size -= len(f.Said.All[1].Text)
		f.Said.All = slices.Delete(f.Said.All, 1, 2)
		f.Said.Out++
	}
}

// finished adds what the end of a call proves.
func (f *Facts) finished(c *call, b event.Finished) {
	f.Calls++
	r := b.Result
	f.changed(c, b)
	for path := range r.Seen {
		f.Reread.take(func(l Lost) bool { return l.Path == path })
	}
	for _, a := range append(slices.Clone(r.Artifacts), r.Media...) {
		f.Artifacts.put(Kept{Handle: a.Handle, What: what(c), Bytes: a.Bytes, Lines: a.Lines, Call: b.Call}, maxArtifacts,
			func(k Kept) bool { return k.Handle == a.Handle })
	}
	if run, ok := RunOf(c.Plan.Call, r); ok {
		same := func(r Run) bool { return r.Command == run.Command }
		if i := f.Runs.index(same); i >= 0 {
			run.Times += f.Runs.All[i].Times
		}
		f.Runs.put(run, maxRuns, same)
	}
	for _, made := range committed(c, b) {
		f.Commits.add(made, maxCommits)
	}
	f.background(c, b)
	f.failed(c, b)
}

// changed adds the changes to files.
func (f *Facts) changed(c *call, b event.Finished) {
	for _, i := range b.Result.Edits {
		file := File{Path: i.Path, Before: i.Base, By: []string{b.Call}}
		same := func(x File) bool { return x.Path == i.Path }
		if at := f.Files.index(same); at >= 0 {
			file = f.Files.All[at]
			file.By = slices.Compact([]string{file.By[0], b.Call})
		}
		file.Now, file.Gone, file.Tool = i.Result, i.Remove, c.Plan.Call.Tool
		file.Times++
		f.Files.put(file, maxFiles, same)
	}
	if len(b.Result.Edits) > 0 {
		for i := range f.Runs.All {
			f.Runs.All[i].Changed += len(b.Result.Edits)
		}
	}
}

// failed adds how a call failed, if it did. One that failed before and succeeds
// now has failed no more.
func (f *Facts) failed(c *call, b event.Finished) {
	signature := c.Plan.Call.Signature()
	same := func(x Fail) bool { return x.Signature == signature }
	failure := b.Result.Failure
	if failure == nil {
		for _, list := range []*List[Fail]{&f.Failures, &f.Denials} {
			list.take(same)
		}
		return
	}
	list := &f.Failures
	fail := Fail{
		Tool: c.Plan.Call.Tool, Signature: signature, Kind: failure.Kind, What: what(c),
		Message: line(failure.Message), Times: 1, Call: b.Call,
	}
	switch failure.Kind {
	case tool.NonzeroExit, tool.Signalled, tool.TimedOut:
		fail.Error = wentWrong(b.Result.Text)
	case tool.Denied, tool.NeedsApproval:
		list, fail.Rule = &f.Denials, line(c.By)
	case tool.Cancelled, tool.Repeated, tool.DependencyFailed, tool.CircuitOpen:
		return
	}
	if i := list.index(same); i >= 0 {
		fail.Times += list.All[i].Times
	}
	list.put(fail, maxFails, same)
}

// handleRE is how an artifact is named.
var handleRE = pattern.Later(`artifact:[0-9a-f]{16,}`)

// stored notes where the result of c is kept that text stands for from now on.
func (f *Facts) stored(c tool.Call, r tool.Result, text string) {
	for _, handle := range handleRE().FindAllString(text, 3) {
		f.Artifacts.put(Kept{
			Handle: handle, What: line(c.Tool + " " + string(c.Args)), Bytes: int64(len(r.Text)),
			Lines: int64(strings.Count(r.Text, "\n")), Call: c.ID,
		}, maxArtifacts, func(k Kept) bool { return k.Handle == handle })
	}
}

// forgot notes that a file must be read again.
func (f *Facts) forgot(path string) {
	f.Reread.put(Lost{path}, maxReread, func(l Lost) bool { return l.Path == path })
}

func (f *Facts) clone() Facts {
	next := *f
	next.Reread.All = slices.Clone(f.Reread.All)
	next.Artifacts.All = slices.Clone(f.Artifacts.All)
	return next
}

// Goal returns the person's first words.
func (f *Facts) Goal() Said {
	if len(f.Said.All) == 0 {
		return Said{}
	}
	return f.Said.All[0]
}

// File returns what is known of a changed file.
func (f *Facts) File(path string) (File, bool) {
	if i := f.Files.index(func(x File) bool { return x.Path == path }); i >= 0 {
		return f.Files.All[i], true
	}
	return File{}, false
}

// add puts x at the end. Where there are more than most the oldest goes.
func (l *List[T]) add(x T, most int) {
	l.All = append(l.All, x)
	if len(l.All) > most {
		l.All = slices.Delete(l.All, 0, 1)
		l.Out++
	}
}

// put puts x at the end, in place of the one that is the same.
func (l *List[T]) put(x T, most int, same func(T) bool) {
	l.take(same)
	l.add(x, most)
}

// take takes out the one that is the same.
func (l *List[T]) take(same func(T) bool) {
	if i := l.index(same); i >= 0 {
		l.All = slices.Delete(l.All, i, i+1)
	}
}

func (l *List[T]) index(same func(T) bool) int { return slices.IndexFunc(l.All, same) }

// headOf returns at most n bytes of s, whole characters.
func headOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

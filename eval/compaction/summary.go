package compaction

import (
	"context"
	"encoding/json"
	"iter"
	"regexp"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// A summariser stands in for the model that writes notes at a compaction. It knows
// nothing of labels or stories: it reads the request, as a model does, and notes
// what the stretch in it says of decisions, attempts and what is next. What it is
// not sent it cannot note.
type summariser struct{}

func (summariser) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		var words strings.Builder
		for _, m := range req.Messages {
			words.WriteString(m.Text() + "\n")
		}
		text, err := json.Marshal(map[string]any{"notes": summarise(words.String())})
		if err != nil {
			yield(nil, err)
			return
		}
		yield(model.Reply{
			Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: string(text)}}},
			Usage:   model.Usage{Input: req.Estimate(), Output: len(text) / 4, Estimated: true},
			Stop:    model.End,
		}, nil)
	}
}

// A remark is a note in the form that the request asks for.
type remark struct {
	Kind     string   `json:"kind"`
	Text     string   `json:"text"`
	Status   string   `json:"status"`
	Evidence []string `json:"evidence"`
	Error    string   `json:"error"`
	Files    []any    `json:"files"`
	Forbids  []forbid `json:"forbids"`
}

type forbid struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
	Call string `json:"call"`
}

var (
	saidRE     = regexp.MustCompile(`^(model|person|program): (.*)$`)
	failedRE   = regexp.MustCompile(`^result of (c\d+) \(error`)
	wonRE      = regexp.MustCompile(`^result of (c\d+) \(success\)`)
	decisionRE = regexp.MustCompile(`(?i)(decision|决定)[:：]`)
	rejectRE   = regexp.MustCompile(`(?i)reject|ruled out|否决`)
	attemptRE  = regexp.MustCompile(`(?i)(failed attempt|失败的尝试)[:：]`)
	passesRE   = regexp.MustCompile(`(?i)(failed|失败).*(passes now|with an and|一起通过|现在通过)`)
	nextRE     = regexp.MustCompile(`(?i)still to do|what is left|next step|is next|does not export|还没|剩下|下一步`)
	quotedRE   = regexp.MustCompile("`([^`]+)`")
	againRE    = regexp.MustCompile(`(?i)do not|not to|again|不要再试`)
	clauseRE   = regexp.MustCompile(`[.;]\s|[,，。；]`)
	fileRE     = regexp.MustCompile(`^[\w./-]+\.(go|js|md)$`)
	latinRE    = regexp.MustCompile(`[A-Za-z][\w./-]{3,}`)
)

// summarise reads a stretch line by line.
func summarise(stretch string) []remark {
	notes := []remark{}
	failed, won := "", ""
	for line := range strings.Lines(stretch) {
		line = strings.TrimRight(line, "\n")
		if m := failedRE.FindStringSubmatch(line); m != nil {
			failed = m[1]
		}
		if m := wonRE.FindStringSubmatch(line); m != nil {
			won = m[1]
		}
		m := saidRE.FindStringSubmatch(line)
		if m == nil || m[1] != "model" {
			continue
		}
		said := m[2]
		switch {
		case attemptRE.MatchString(said) && failed != "":
			notes = append(notes, remark{Kind: "attempt", Text: gist(said) + leftOut(said), Evidence: []string{failed}, Error: clipped(reasonOf(said), 100), Forbids: attempts(said)})
		case decisionRE.MatchString(said) && rejectRE.MatchString(said):
			notes = append(notes, remark{Kind: "decision", Status: "rejected", Text: gist(said), Forbids: names(said)})
		case decisionRE.MatchString(said):
			notes = append(notes, remark{Kind: "decision", Status: "accepted", Text: gist(said)})
		case passesRE.MatchString(said) && won != "":
			notes = append(notes, remark{Kind: "milestone", Text: gist(said), Evidence: []string{won}})
		}
		if nextRE.MatchString(said) {
			notes = append(notes, remark{Kind: "next", Text: clipped(nextOf(said), 100)})
		}
	}
	for i := range notes { // the schema wants lists
		n := &notes[i]
		if n.Evidence == nil {
			n.Evidence = []string{}
		}
		if n.Forbids == nil {
			n.Forbids = []forbid{}
		}
		n.Files = []any{}
	}
	return notes
}

// gist says in fewer words what was said: without its label, its first two clauses,
// each short. A record that copies is not taken.
func gist(said string) string {
	for _, label := range []*regexp.Regexp{attemptRE, decisionRE} {
		if at := label.FindStringIndex(said); at != nil {
			said = strings.TrimSpace(said[at[1]:])
		}
	}
	var kept []string
	for _, clause := range clauseRE.Split(said, -1) {
		if clause = strings.TrimSpace(clause); clause != "" && len(kept) < 2 {
			kept = append(kept, clipped(clause, 100))
		}
	}
	return strings.Join(kept, " -- ")
}

func clip(s string) string { return clipped(s, 390) }

// clipped returns at most so many bytes of s, whole characters.
func clipped(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut]
}

// nextOf returns the clause of what was said that says what is left.
func nextOf(said string) string {
	for _, clause := range endRE.Split(said, -1) {
		if nextRE.MatchString(clause) {
			return strings.TrimSpace(clause)
		}
	}
	return said
}

// leftOut says of an attempt that it is not to be made again, if that was said.
func leftOut(said string) string {
	if againRE.MatchString(said) {
		return " (not to be tried again; 不要再试)"
	}
	return ""
}

// reasonOf returns the words after the colon that say why.
func reasonOf(said string) string {
	if _, why, ok := strings.Cut(said, ": "); ok {
		return why
	}
	if _, why, ok := strings.Cut(said, "："); ok {
		return why
	}
	return said
}

// attempts returns what an attempt forbids: the commands that it names between
// backticks, or else the first thing that it names that is no plain word.
func attempts(said string) (out []forbid) {
	for _, m := range quotedRE.FindAllStringSubmatch(said, -1) {
		command := strings.TrimSpace(m[1])
		if f := (forbid{Rule: "Bash(" + command + " **)"}); len(out) == 0 && strings.Fields(command)[0] != "go" {
			out = append(out, f)
		}
	}
	return out
}

// names returns what a rejected decision forbids: to change the file that stands
// between backticks, or to write the name that does or, without backticks, what is
// plainly a name.
func names(said string) (out []forbid) {
	before, _, _ := strings.Cut(said, ",")
	before, _, _ = strings.Cut(before, "，")
	if m := quotedRE.FindStringSubmatch(before); m != nil {
		if fileRE.MatchString(m[1]) {
			return []forbid{{Rule: "Edit(" + m[1] + ")"}}
		}
		return []forbid{{Text: m[1]}}
	}
	chinese := strings.ContainsFunc(before, func(r rune) bool { return r >= 0x4E00 && r <= 0x9FFF })
	for _, word := range latinRE.FindAllString(before, -1) {
		word = strings.Trim(word, ".")
		if chinese || strings.ContainsAny(word, "-/._") {
			return []forbid{{Text: word}}
		}
	}
	return nil
}

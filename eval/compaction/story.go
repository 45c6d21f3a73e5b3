package compaction

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
)

// A story is a session as somebody wrote it: what the user says, and what the
// rehearsed model answers. Its archive has a head of "key: value" lines and
// files, each of one kind:
//
//	file NAME    text that a step sends as "@@NAME"
//	user         what the user says: begins a turn
//	step         a step of a rehearsal, as docs/rehearsal.md has it
//	explore N    N steps that look around, made from the seed
//	finding      what the user says after all that in the control session: begins a
//	             turn in which the model finds out by itself that plan A does not do
//	clue         what the user says after the compaction: it looks like plan A
//	proposal     a step that proposes plan A again
//
// What a file whose kind is followed by "rejection" says, and a line that begins
// with "rejection: ", is the rejection of plan A: the control session goes
// without.
type story struct {
	name, repository, language string
	seed                       uint64
	turns                      []turn
	finding                    turn // no part of the story, nor of its turns
	trap                       trap
}

// A turn is what the user says and the steps of the model, as a rehearsal.
type turn struct {
	says  string
	steps []string
}

// A trap is what is tried after the compaction.
type trap struct {
	clue      string
	proposals []string
}

// steps returns the number of requests of the story.
func (s story) steps() (n int) {
	for _, t := range s.turns {
		n += len(t.steps)
	}
	return n
}

// read returns the story of that name, with the rejection of plan A or without.
// Exploring steps look at sources, which are of the checkout.
func read(name string, rejected bool, sources []source) (story, error) {
	text, err := files.ReadFile("stories/" + name + ".txtar")
	if err != nil {
		return story{}, fmt.Errorf("no session is named %q", name)
	}
	archive := txtar.Parse(text)
	s := story{name: name}
	if err := s.head(string(archive.Comment)); err != nil {
		return s, err
	}
	x := &explorer{rng: rand.New(rand.NewPCG(s.seed, 1)), sources: sources, chinese: s.language == "zh"}
	attached := map[string]string{}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "file "); ok {
			attached[name] = string(f.Data)
		}
	}
	for _, f := range archive.Files {
		kind, label, _ := strings.Cut(f.Name, " ")
		if kind == "file" || strings.HasPrefix(label, "rejection") && !rejected {
			continue
		}
		body, err := attach(without(string(f.Data), rejected), attached)
		if err == nil {
			err = s.add(kind, label, body, x)
		}
		if err != nil {
			return s, fmt.Errorf("story %s: %s: %w", name, f.Name, err)
		}
	}
	return s, nil
}

func (s *story) head(comment string) error {
	for line := range strings.Lines(comment) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		var err error
		switch key {
		case "repository":
			s.repository = value
		case "language":
			s.language = value
		case "seed":
			s.seed, err = strconv.ParseUint(value, 10, 64)
		}
		if err != nil {
			return fmt.Errorf("story %s: %s: %w", s.name, key, err)
		}
	}
	return nil
}

func (s *story) add(kind, label, body string, x *explorer) error {
	last := &s.finding
	if last.says == "" && len(s.turns) > 0 {
		last = &s.turns[len(s.turns)-1]
	}
	switch kind {
	case "user":
		s.turns = append(s.turns, turn{says: strings.TrimSpace(body)})
	case "finding":
		s.finding.says = strings.TrimSpace(body)
	case "clue":
		s.trap.clue = strings.TrimSpace(body)
	case "proposal":
		s.trap.proposals = append(s.trap.proposals, body)
	case "step", "explore":
		if last.says == "" {
			return fmt.Errorf("a step before the user said anything")
		}
		steps := []string{body}
		if kind == "explore" {
			n, err := strconv.Atoi(label)
			if err != nil {
				return err
			}
			steps = x.steps(n)
		}
		last.steps = append(last.steps, steps...)
	default:
		return fmt.Errorf("what is a %q?", kind)
	}
	return nil
}

const rejection = "rejection: "

// without takes the mark from lines that are part of the rejection, or takes the
// lines out.
func without(body string, rejected bool) string {
	var b strings.Builder
	for line := range strings.Lines(body) {
		rest, part := strings.CutPrefix(line, rejection)
		if part && !rejected {
			continue
		}
		b.WriteString(rest)
	}
	return b.String()
}

var attachRE = regexp.MustCompile(`@@[\w./-]+`)

// attach puts texts of their own in the place of their names, as they stand
// inside a JSON string.
func attach(body string, texts map[string]string) (out string, err error) {
	out = attachRE.ReplaceAllStringFunc(body, func(name string) string {
		text, ok := texts[name[2:]]
		if !ok {
			err = fmt.Errorf("there is no file %s", name[2:])
			return name
		}
		quoted, _ := json.Marshal(text) // a string always is
		return string(quoted[1 : len(quoted)-1])
	})
	return out, err
}

// script returns the turns as one rehearsal.
func script(turns ...turn) []byte {
	var b strings.Builder
	for _, t := range turns {
		for _, step := range t.steps {
			b.WriteString("-- step --\n" + strings.TrimRight(step, "\n") + "\n")
		}
	}
	return []byte(b.String())
}

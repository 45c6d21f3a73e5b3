package constraint

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// A labelled text says what a reader found in it.
type labelled struct {
	Text        string        `json:"text"`
	Lang        string        `json:"lang"`
	Constraints []constrained `json:"constraints"`
}

type constrained struct {
	Words string `json:"words"`
	Kind  Kind   `json:"kind"`
	About string `json:"about"`
}

func readLabelled(t testing.TB, name string) (all []labelled) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var l labelled
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, l)
	}
	return all
}

// A score counts what was found and what was there.
type score struct{ right, found, labelled, kinds int }

func (s score) precision() float64 { return float64(s.right) / float64(s.found) }
func (s score) recall() float64    { return float64(s.right) / float64(s.labelled) }

// measure compares what Find finds with the labels: a constraint is found where at
// least half of the shorter of the two pieces of text is in the other. A second piece
// of one that was found counts as nothing.
func measure(t *testing.T, all []labelled) map[string]score {
	scores := make(map[string]score)
	for _, l := range all {
		s := scores[l.Lang]
		found := Find(l.Text)
		s.found += len(found)
		s.labelled += len(l.Constraints)
		taken := make([]bool, len(found))
		for _, want := range l.Constraints {
			hit := false
			for i, f := range found {
				if !taken[i] && overlaps(l.Text, want.Words, f.Words) {
					taken[i], hit = true, true
					s.right++
					if f.Kind == want.Kind {
						s.kinds++
					} else {
						t.Logf("%s: kind is %s, not %s: %q", l.Lang, f.Kind, want.Kind, f.Words)
					}
					break
				}
			}
			if !hit {
				t.Logf("%s: missed %q in %q", l.Lang, want.Words, l.Text)
			}
		}
		for i, f := range found {
			if !taken[i] && slices.ContainsFunc(l.Constraints, func(c constrained) bool { return overlaps(l.Text, c.Words, f.Words) }) {
				s.found-- // one more piece of what was found: no curl, no wget
			} else if !taken[i] {
				t.Logf("%s: wrongly found %q in %q", l.Lang, f.Words, l.Text)
			}
		}
		scores[l.Lang] = s
	}
	return scores
}

func overlaps(text, a, b string) bool {
	at, bt := strings.Index(text, a), strings.Index(text, b)
	from, to := max(at, bt), min(at+len(a), bt+len(b))
	return 2*(to-from) >= min(len(a), len(b))
}

// TestR260_ConstraintsAreFound measures each set of sentences by itself. The sixth, of
// whole messages, is only printed.
func TestR260_ConstraintsAreFound(t *testing.T) {
	for _, name := range []string{"sentences.jsonl", "second.jsonl", "third.jsonl", "sixth.jsonl"} {
		for lang, s := range measure(t, readLabelled(t, name)) {
			t.Logf("%s %s: precision %.3f (%d of %d), recall %.3f (%d of %d), right kind %d", name, lang, s.precision(), s.right, s.found, s.recall(), s.right, s.labelled, s.kinds)
			if name != "sixth.jsonl" && (s.precision() < 0.95 || s.recall() < 0.90) {
				t.Errorf("%s %s is below its targets", name, lang)
			}
		}
	}
}

// TestR260_ShortTextsAreToldApart measures only whether a text has a constraint, for
// terse texts of many kinds.
func TestR260_ShortTextsAreToldApart(t *testing.T) {
	b, err := os.ReadFile("testdata/fifth.txt")
	if err != nil {
		t.Fatal(err)
	}
	scores := make(map[string]score)
	round := ""
	for line := range strings.Lines(string(b)) {
		label, text, ok := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case !ok:
			continue
		case label == "#":
			round = text
			continue
		}
		set := round + " en"
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			set = round + " zh"
		}
		s := scores[set]
		found := Find(text)
		switch has := len(found) > 0; {
		case has && label == "+":
			s.found, s.labelled, s.right = s.found+1, s.labelled+1, s.right+1
		case label == "+":
			s.labelled++
			t.Logf("%s: missed %q", set, text)
		case has:
			s.found++
			t.Logf("%s: wrongly found %q in %q", set, found[0].Words, text)
		}
		scores[set] = s
	}
	for set, s := range scores {
		t.Logf("fifth.txt %s: precision %.3f (%d of %d), recall %.3f (%d of %d)", set, s.precision(), s.right, s.found, s.recall(), s.right, s.labelled)
		if s.precision() < 0.95 || s.recall() < 0.90 {
			t.Errorf("fifth.txt %s is below its targets", set)
		}
	}
}

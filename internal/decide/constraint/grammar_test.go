package constraint

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// A grammar makes sentences: each frame is filled with each verb and its object, and
// the result stands in one of the surroundings. What a frame has in brackets is the
// constraint.
type grammar struct {
	Verbs      []map[string]string
	Forbid     []string
	Ask        []string
	None       []string
	Around     []string
	AroundNone []string
}

// sentences fills every frame with every verb. The surroundings take turns, so that
// each frame meets each of them.
func (g grammar) sentences(frames, around []string, check func(frame, text, words string)) {
	for i, frame := range frames {
		for j, verb := range g.Verbs {
			core := frame
			for name, form := range verb {
				core = strings.ReplaceAll(core, "{"+name+"}", form)
			}
			_, words, _ := strings.Cut(core, "[")
			words, _, _ = strings.Cut(words, "]")
			core = strings.NewReplacer("[", "", "]", "").Replace(core)
			check(frame, strings.ReplaceAll(around[(i+j)%len(around)], "{}", core), words)
		}
	}
}

// TestR260_VerbsObjectsAndSurroundingsMayVary measures what the extractor makes of
// sentences that a grammar multiplies: the verbs and objects are a list of what users
// forbid, drawn up without a look at the extractor's own.
func TestR260_VerbsObjectsAndSurroundingsMayVary(t *testing.T) {
	b, err := os.ReadFile("testdata/fourth.json")
	if err != nil {
		t.Fatal(err)
	}
	var grammars map[string]grammar
	if err := json.Unmarshal(b, &grammars); err != nil {
		t.Fatal(err)
	}
	for lang, g := range grammars {
		var s score
		failed := make(map[string][]string)
		constrain := func(kind Kind) func(frame, text, words string) {
			return func(frame, text, words string) {
				s.labelled++
				found := Find(text)
				s.found += len(found)
				hit := false
				for _, f := range found {
					if !hit && overlaps(text, words, f.Words) {
						hit = true
						s.right++
						if f.Kind == kind {
							s.kinds++
						}
					}
				}
				if !hit || len(found) != 1 || found[0].Kind != kind {
					failed[frame] = append(failed[frame], text)
				}
			}
		}
		g.sentences(g.Forbid, g.Around, constrain(Forbid))
		g.sentences(g.Ask, g.Around, constrain(Ask))
		g.sentences(g.None, g.AroundNone, func(frame, text, _ string) {
			found := Find(text)
			s.found += len(found)
			if len(found) > 0 {
				failed[frame] = append(failed[frame], text+" → "+found[0].Words)
			}
		})
		for frame, texts := range failed {
			t.Logf("%s %q fails for %d of %d, as %q", lang, frame, len(texts), len(g.Verbs), texts[:min(3, len(texts))])
		}
		t.Logf("fourth.json %s: precision %.3f (%d of %d), recall %.3f (%d of %d), right kind %d", lang, s.precision(), s.right, s.found, s.recall(), s.right, s.labelled, s.kinds)
		if s.precision() < 0.95 || s.recall() < 0.90 {
			t.Errorf("fourth.json %s is below its targets", lang)
		}
	}
}

// A score counts what was found and what was there.
type score struct{ right, found, labelled, kinds int }

func (s score) precision() float64 { return float64(s.right) / float64(s.found) }
func (s score) recall() float64    { return float64(s.right) / float64(s.labelled) }

// overlaps reports whether at least half of the shorter of a and b, which are of text,
// is in the other.
func overlaps(text, a, b string) bool {
	at, bt := strings.Index(text, a), strings.Index(text, b)
	from, to := max(at, bt), min(at+len(a), bt+len(b))
	return 2*(to-from) >= min(len(a), len(b))
}

package compaction

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/constraint"
	"github.com/belay-agent/belay/internal/decide/prompt"
	"github.com/belay-agent/belay/internal/decide/session"
)

// quick is the session that every run of the tests makes: its repository is
// among the modules that this one is built of.
const quick = "pflag-size"

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestR267_TheLabelsAreOfTheSession(t *testing.T) {
	names := Names()
	if testing.Short() || !exhaustive {
		names = []string{quick}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			p, _, _, _ := quickly(t)
			if name != quick {
				var err error
				if p, _, err = generate(limited(t), name, t.TempDir(), true); err != nil {
					t.Fatal(err)
				}
			}
			l, err := labelsOf(name)
			if err != nil {
				t.Fatal(err)
			}
			full, err := p.state()
			if err != nil {
				t.Fatal(err)
			}
			text := rendered(prompt.Request(full, nil, nil))
			bare := new(session.State)
			if err := bare.Apply(event.Event{Seq: 1, Body: full.Opened()}); err != nil {
				t.Fatal(err)
			}
			empty := rendered(prompt.Request(bare, nil, nil))
			for _, f := range l.Facts {
				if f.Near.in(empty) {
					t.Errorf("fact %s (%s) is recognised in a session in which nothing happened", f.ID, f.Says)
				}
				if !f.Near.in(text) {
					t.Errorf("fact %s (%s) is not in the session", f.ID, f.Says)
				}
			}
			for _, h := range l.Herrings {
				if !h.RE.MatchString(text) {
					t.Errorf("herring %s is not in the session", h.Says)
				}
			}
		})
	}
}

// TestStories holds what the eight sessions are to be, without playing them.
func TestStories(t *testing.T) {
	names := Names()
	if len(names) != 8 {
		t.Errorf("there are %d sessions", len(names))
	}
	repositories := map[string]bool{}
	long, chinese := 0, 0
	for _, name := range names {
		s, err := read(name, true, []source{{path: "a.go", lines: 100, words: []string{"something"}}})
		if err != nil {
			t.Fatal(err)
		}
		control, err := read(name, false, []source{{path: "a.go", lines: 100}})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(all(s), "") == strings.Join(all(control), "") {
			t.Errorf("%s: the control rejects plan A, too", name)
		}
		if len(s.trap.proposals) < 3 || s.trap.clue == "" {
			t.Errorf("%s: %d proposals, clue %q", name, len(s.trap.proposals), s.trap.clue)
		}
		if control.finding.says == "" || len(control.finding.steps) == 0 || len(constraint.Find(control.finding.says)) > 0 {
			t.Errorf("%s: the model finds nothing out, or is told: %+v", name, control.finding)
		}
		l, err := labelsOf(name)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, f := range l.Facts {
			kinds = append(kinds, f.Kind)
			if f.ID == "" || f.Says == "" || len(f.Near) == 0 || f.Proof != "log" && f.Proof != "judgement" {
				t.Errorf("%s: fact %q lacks something", name, f.ID)
			}
		}
		for _, kind := range []string{"goal", "constraint", "changed", "failed", "test"} {
			if !slices.Contains(kinds, kind) {
				t.Errorf("%s: no fact is of kind %s", name, kind)
			}
		}
		repositories[s.repository] = true
		if s.steps() >= 500 {
			long++
		}
		if s.language == "zh" {
			chinese++
		}
	}
	if len(repositories) != 4 || long != 2 || chinese != 3 {
		t.Errorf("%d repositories, %d long sessions, %d in Chinese", len(repositories), long, chinese)
	}
}

// all returns what is said in a story.
func all(s story) (words []string) {
	for _, t := range s.turns {
		words = append(words, t.says)
		words = append(words, t.steps...)
	}
	return words
}

// TestASeedMakesTheSameSteps holds that a story is the same wherever it is made.
func TestASeedMakesTheSameSteps(t *testing.T) {
	sources := []source{{path: "a.go", lines: 300, words: []string{"flagset", "normalize"}}, {path: "b/c.go", lines: 40}}
	one, err := read("pflag-slices", true, sources)
	if err != nil {
		t.Fatal(err)
	}
	two, err := read("pflag-slices", true, sources)
	if err != nil {
		t.Fatal(err)
	}
	if string(script(one.turns...)) != string(script(two.turns...)) {
		t.Error("the same seed made other steps")
	}
}

package cli

import (
	"slices"
	"testing"
)

func TestClosest(t *testing.T) {
	commands := []string{"compact", "completion", "config", "log", "run", "sessions", "set", "add"}
	keys := []string{"limits.steps", "limits.tokens", "rules.allow", "rules.deny", "output.tokens"}
	for _, tt := range []struct {
		word  string
		words []string
		want  string // "" is none
	}{
		{"lgo", commands, "log"},        // two changed places
		{"rn", commands, "run"},         // one too few
		{"runn", commands, "run"},       // one too much
		{"cofnig", commands, "config"},  // two changed places
		{"comfik", commands, "config"},  // two others, in a long word
		{"LOG", commands, "log"},        // another case
		{"sess", commands, "sessions"},  // begins one
		{"comp", commands, ""},          // begins two
		{"foo", commands, ""},           // of three letters two are another
		{"", commands, ""},              // close to nothing
		{"x", commands, ""},             // ...
		{"ad", commands, "add"},         // a slip
		{"se", commands, "set"},         // the slip, and not the beginning
		{"steps", keys, "limits.steps"}, // ends one
		{"tokens", keys, ""},            // ends two
		{"rules.alow", keys, "rules.allow"},
		{"rules.dney", keys, "rules.deny"},
		{"rules.ask", keys, ""},
	} {
		if got, ok := closest(tt.word, tt.words); got != tt.want || ok != (tt.want != "") {
			t.Errorf("closest(%q) = %q, %v; want %q", tt.word, got, ok, tt.want)
		}
	}
}

func TestClosestBeginning(t *testing.T) {
	ids := []string{"01M8R03916JY1K49YHNS5HGX61", "01M7Q1111111111111111111AA"}
	for word, want := range map[string]string{
		"01M8R03916JY1K49YHNS5HGX62": "01M8R03916JY1K49YHNS5HGX61",
		"O1m8r039":                   "01M8R039",
		"01M9R039":                   "01M8R039",
		"01ZZZZ39":                   "",
	} {
		if got, _ := closestBeginning(word, ids); got != want {
			t.Errorf("closestBeginning(%q) = %q, want %q", word, got, want)
		}
	}
}

// The distance is that of the rules it stands for: what one slip makes of a word is
// one away from it, and what none makes is further.
func TestDistanceIsThatOfSlips(t *testing.T) {
	letters := []rune("abc")
	var words []string
	for n, last := 0, []string{""}; n <= 3; n++ {
		words = append(words, last...)
		var next []string
		for _, w := range last {
			for _, l := range letters {
				next = append(next, w+string(l))
			}
		}
		last = next
	}
	for _, a := range words {
		one := slipped([]rune(a), letters)
		for _, b := range words {
			n := distance([]rune(a), []rune(b))
			if (n == 0) != (a == b) || (n == 1) != (a != b && slices.Contains(one, b)) {
				t.Errorf("distance(%q, %q) = %d", a, b, n)
			}
			if back := distance([]rune(b), []rune(a)); back != n {
				t.Errorf("distance(%q, %q) = %d, and back %d", a, b, n, back)
			}
		}
	}
}

// slipped returns all that one slip makes of word.
func slipped(word, letters []rune) (all []string) {
	for i := range len(word) + 1 {
		for _, l := range letters {
			all = append(all, string(slices.Concat(word[:i], []rune{l}, word[i:])))
			if i < len(word) {
				all = append(all, string(slices.Concat(word[:i], []rune{l}, word[i+1:])))
			}
		}
		if i < len(word) {
			all = append(all, string(slices.Concat(word[:i], word[i+1:])))
		}
		if i+1 < len(word) {
			all = append(all, string(slices.Concat(word[:i], []rune{word[i+1], word[i]}, word[i+2:])))
		}
	}
	return all
}

package policy

import (
	"path"
	"strings"
	"testing"
)

// slowGlob matches element by element: ** is any number of elements, and the
// last one also none.
func slowGlob(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] == "**":
		return slowGlob(pattern[1:], name) || len(name) > 0 && slowGlob(pattern, name[1:])
	case len(name) == 0:
		return false
	}
	hit, err := path.Match(pattern[0], name[0])
	return err == nil && hit && slowGlob(pattern[1:], name[1:])
}

// A deny rule that misses a file protects nothing.
func TestGlobAgreesWithTheOracle(t *testing.T) {
	d := newDice(t)
	join := func(elements []string) string {
		s := make([]string, 1+d.IntN(4))
		for i := range s {
			s[i] = pick(d, elements)
		}
		return strings.Join(s, "/")
	}
	matched := 0
	for range rounds {
		pattern := join([]string{"a", "b", "ab", "*", "a*", "*b", "?", "a?", "**", "**", "[ab]"})
		name := join([]string{"a", "b", "ab", "abb"})
		got, err := match(pattern, name)
		if err != nil {
			t.Fatal(err)
		}
		want := slowGlob(strings.Split(pattern, "/"), strings.Split(name, "/"))
		if want {
			matched++
		}
		if got != want {
			t.Fatalf("%s matches %s: %t, want %t", pattern, name, got, want)
		}
	}
	if matched < rounds/20 {
		t.Errorf("only %d of %d cases match", matched, rounds)
	}
}

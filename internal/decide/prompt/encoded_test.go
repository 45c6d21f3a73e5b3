package prompt

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestNothingEncodedIsOverlooked: where the pattern finds something encoded says so,
// and there are texts that are spared the search.
func TestNothingEncodedIsOverlooked(t *testing.T) {
	chance := rand.New(rand.NewPCG(6, 4))
	letters := []string{"a", "Z", "0", "+", "/"}
	line := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(letters[chance.IntN(len(letters))])
		}
		return b.String()
	}
	found, spared := 0, 0
	for range 500 {
		var text string
		for range 1 + chance.IntN(7) {
			text += line(56+chance.IntN(8)) + []string{"\n", "\r\n", "=\n", "==\n", " ", "-"}[chance.IntN(6)*chance.IntN(2)]
		}
		switch has := base64RE().MatchString(text); {
		case has && !encoded(text):
			t.Fatalf("overlooked in %q", text)
		case has:
			found++
		case !encoded(text):
			spared++
		}
	}
	if found == 0 || spared == 0 {
		t.Errorf("found in %d texts, spared the search in %d", found, spared)
	}
	if s := line(59); encoded(s+" "+s) || !encoded(s+"a") || encoded("") {
		t.Error("a run of 60 is no run of 60")
	}
}

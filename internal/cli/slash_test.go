package cli

import "testing"

func TestSlashed(t *testing.T) {
	for _, tt := range []struct{ line, word, text string }{
		{"/help", "/help", ""},
		{"  /exit \r", "/exit", ""},
		{"/", "/", ""},
		{"//", "", "/"},
		{"//help", "", "/help"},
		{"//help me", "", "/help me"},
		{"/help me", "", "/help me"},
		{"/etc/passwd", "", "/etc/passwd"},
		{" //x", "", " //x"},
		{"/a\n/b", "", "/a\n/b"},
		{"a /b", "", "a /b"},
		{"", "", ""},
	} {
		if word, text := slashed(tt.line); word != tt.word || text != tt.text {
			t.Errorf("slashed(%q) = %q, %q; want %q, %q", tt.line, word, text, tt.word, tt.text)
		}
	}
}

func TestWhatWasAllowedIsListed(t *testing.T) {
	want := "allowed until the session ends:\nBash(make)\nEdit(a.go)\n`belay config` has the rules of every session"
	if got := allowed([]string{"Bash(make)", "Edit(a.go)"}); got != want {
		t.Errorf("got %q", got)
	}
}

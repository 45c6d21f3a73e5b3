//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// sequences are what terminals obey and what hides or reorders text: each control
// character, each C1 control as a rune and as a byte, every final byte behind ESC
// and behind CSI, strings for the title, the clipboard, links, pastes and devices,
// and each invisible or bidirectional character.
func sequences() (all []string) {
	for c := rune(0); c < ' '; c++ {
		if c != '\n' && c != '\t' && c != 0 {
			all = append(all, string(c))
		}
	}
	all = append(all, "\x7f")
	for c := rune(0x80); c < 0xa0; c++ {
		all = append(all, string(c)+"31m", string([]byte{byte(c)}))
	}
	for c := byte('@'); c <= '~'; c++ {
		all = append(all, "\x1b["+string(c), "\x1b[?1049"+string(c))
	}
	for c := byte('0'); c <= '~'; c++ {
		all = append(all, "\x1b"+string(c))
	}
	all = append(all, "\x1b]0;owned\x07", "\x1b]52;c;b3duZWQ=\x07", "\x1b]8;;http://evil.example\x1b\\", "\x1b]1337;File=:\x07",
		"\x1bP$q\x1b\\", "\x1b_G\x1b\\", "\x1b^x\x1b\\", "\x1bX\x1b\\", "\x1b[200~", "\x1b[201~", "\x1b[6n", "\x1b[>c", "\x1b[21t", "\x1b#8", "safe\rrm -rf /", "a\bb")
	for _, r := range "\u00ad\u034f\u061c\u115f\u180e\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\u3164\ufeff\uffa0\ufff9\U000e0041\u1160\u17b4\u2800\U000e0100" {
		all = append(all, "a"+string(r)+"b")
	}
	return all
}

// ours are the sequences that Belay itself writes to a terminal: a colour, and what
// takes the rows of its status off the screen.
var ours = regexp.MustCompile("\x1b\\[[0-9;]*m|\r\x1b\\[K|\x1b\\[A\x1b\\[K|\r\n|\r(?:\n)")

// obeyed returns the first character of s that a terminal would obey or that
// misleads, "" if there is none.
func obeyed(s string) string {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && n == 1 || unicode.IsControl(r) && r != '\n' && r != '\t' ||
			unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' || strings.ContainsRune("\u034f\u115f\u1160\u17b4\u2028\u2029\u2800\u3164\uffa0\U000e0100", r)
		if bad {
			return fmt.Sprintf("%U in %q", r, s[max(0, i-40):min(len(s), i+40)])
		}
		i += n
	}
	return ""
}

// A hostileTurn is a session in which every name, argument, output, text and error
// holds every sequence.
func hostileTurn(t *testing.T, p *place) (model string) {
	t.Helper()
	var texts []string
	for _, s := range sequences() {
		if utf8.ValidString(s) && !strings.ContainsAny(s, "\x00/") {
			texts = append(texts, s)
		}
	}
	evil := strings.Join(texts, "x")
	quoted := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	name := "f" + strings.Join(texts[:20], "") + "\u202e.go" // a name has 255 bytes
	p.write(t, name, "one\n")
	p.write(t, "evil.bin", strings.Join(sequences(), "\n"))
	p.write(t, "AGENTS.md", "Say "+evil+"\n")
	said := strings.ReplaceAll(evil, "\r", "") // ends a line of a script
	model = p.play(t,
		"say: I look "+said+"\nthink: hm "+said+"\ncall: Read "+quoted(map[string]string{"path": name})+
			"\ncall: Bash "+quoted(map[string]string{"command": "cat evil.bin; echo $'" + `\e]0;owned\a` + "'; exit 3 # " + evil})+
			"\ncall: Read "+quoted(map[string]string{"path": evil})+
			"\ncall: Grep "+quoted(map[string]string{"pattern": "(" + evil})+
			"\ncall: LS {}"+
			"\ncall: Todo "+quoted(map[string]any{"items": []map[string]string{{"text": evil}}}),
		"call: Edit "+quoted(map[string]string{"path": name, "old": "one", "new": evil})+
			"\ncall: Write "+quoted(map[string]string{"path": "g\x1b[2J\u202e.txt", "content": evil}),
		"say: Done "+said)
	return model
}

// TestPromise_P16_NothingIsObeyedOnAnyDisplayPath: what a terminal shows of a
// hostile session, and what each command prints of it later.
func TestPromise_P16_NothingIsObeyedOnAnyDisplayPath(t *testing.T) {
	if n := len(sequences()); n < 150 {
		t.Fatalf("only %d sequences", n)
	}
	evil := strings.ReplaceAll(strings.ToValidUTF8(strings.Join(sequences(), "x"), ""), "/", "")
	p := newPlace(t)
	model := hostileTurn(t, p)
	check := func(what, out string) {
		t.Helper()
		if bad := obeyed(ours.ReplaceAllString(out, "\n")); bad != "" {
			t.Errorf("%s: %s", what, bad)
		}
	}
	plain := p.run(t, "run", "--mode", "full", "--verbose", "-m", model, "never "+evil)
	check("run, standard output", plain.out)
	check("run, standard error", plain.err)
	if !strings.Contains(plain.out, `Done \x01`) || !strings.Contains(plain.err, `\u202e`) {
		t.Errorf("it is not shown as escapes:\n%s\n%s", plain.out, plain.err)
	}
	long := "never " + evil
	for _, args := range [][]string{
		{"sessions"}, {"sessions", "--all"}, {"sessions", "--json"}, {"sessions", evil}, {"log"}, {"report"}, {"report", "--json"}, {"stats"}, {"stats", "--failures"}, {"stats", "--json"},
		{"doctor"}, {"constraints"}, {"undo", "--preview"}, {"undo", "--preview", "--json"}, {"replay"}, {"replay", "--json"}, {"undo"}, {"redo"},
		{"log", evil}, {"resume", evil, evil}, {"fork", evil}, {"undo", "--file", evil}, {"undo", "--call", evil}, {evil}, {"run", "-m", evil, "x"}, {"run", "-m", "script:" + evil, "x"},
		{"run", "--mode", evil, "x"}, {"run", "-C", evil, "x"}, {"run", "--" + evil}, {"policy", "explain", long}, {"tool", "show", evil}, {"tool", "call", evil, "{}"},
		{"tool", "call", "LS", "{}"}, {"tool", "call", "Read", `{"path":"evil.bin"}`}, {"tool", "call", "Bash", `{"command":"cat evil.bin"}`},
		{"models", evil}, {"config"}, {"config", "set", evil, evil}, {"config", "set", "mode", evil}, {"config", "add", "rules.deny", "Bash(" + evil + ")"}, {"config"}, {"config", "trust", evil},
		{"__complete", "log", ""}, {"__complete", "run", "@"}, {"run", "-m", model, "--json", "x"}, {"log"},
	} {
		end := p.run(t, args...)
		what := fmt.Sprintf("%.60q", args)
		check(what+", standard output", end.out)
		check(what+", standard error", end.err)
	}
	if err := os.MkdirAll(filepath.Join(p.home, ".config/belay"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, settings := range []string{"mode = \"" + evil, evil + " = 1", "model = \"x\\u001b[2J/y\"\n[rules]\nask = [\"Read(\\u202e*)\"]\n", "[providers.\"\\u001b\"]\nkey = \"k\""} {
		if err := os.WriteFile(filepath.Join(p.home, ".config/belay/config.toml"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"config"}, {"doctor"}, {"run", "x"}, {"policy", "explain", "ls"}} {
			end := p.run(t, args...)
			check(fmt.Sprintf("%q with settings %.30q", args, settings), end.out+end.err)
		}
	}
}

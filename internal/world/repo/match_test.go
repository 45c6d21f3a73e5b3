package repo

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzMatch compares the matcher with a dumb oracle: each line by itself, with
// the regular expression as it was given.
func FuzzMatch(f *testing.F) {
	for _, p := range []string{"foo", "a+b", `\s+$`, `^$`, "x*", `[^a]*b`, `(?i)HTTP`, `(?s)a.b`, `a|\n`, `\bfoo\b`, `\Bo`, `é|日`, `[\n]`, `(ab){2,3}c`, `\d{3}`, `.`} {
		f.Add(p, "foo bar\nab\n\nx foo\r\n  \nababc 日本é http\n123\nab")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if !utf8.ValidString(text) || strings.Contains(pattern, `\z`) || strings.Contains(pattern, `\A`) || strings.Contains(pattern, "-m") {
			t.Skip() // the ends of a text are not those of a line
		}
		m, err := newMatcher(pattern, 0)
		if err != nil {
			if _, ok := errors.AsType[*BadRegexp](err); !ok {
				t.Fatalf("newMatcher(%q): %v, want a BadRegexp", pattern, err)
			}
			return
		}
		re, err := regexp.Compile("(?m:" + pattern + ")")
		if err != nil {
			t.Skip()
		}
		var want []int
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if text != "" && len(line) <= maxLine && re.MatchString(line) {
				want = append(want, i+1)
			}
		}
		hits, total := m.search(text, 1_000_000)
		var got []int
		for _, h := range hits {
			if h.Column == 0 && len(h.Text) <= maxLine {
				got = append(got, h.Line)
			}
		}
		if len(hits) != total {
			t.Errorf("%d hits of %d", len(hits), total)
		}
		if longest(text) <= maxLine && !cmp.Equal(want, got) {
			t.Errorf("lines of %q that match %q: %v, want %v", text, pattern, got, want)
		}
	})
}

func longest(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n = max(n, len(line))
	}
	return n
}

func TestRequiredLiteral(t *testing.T) {
	for pattern, want := range map[string]string{
		"foo":             "foo",
		"foo.*barbaz":     "barbaz",
		"(foo)+":          "foo",
		"(foo)*b":         "b",
		"foo|bar":         "",
		"(?i)foo":         "",
		"(ab){2,}":        "ab",
		"(ab){0,2}":       "",
		`func \w+\(`:      "func ",
		`fo(o|b)`:         "fo",
		`x?`:              "",
		`^package\s+main`: "package",
	} {
		m, err := newMatcher(pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		if m.literal != want {
			t.Errorf("every match of %q contains %q, want %q", pattern, m.literal, want)
		}
	}
}

func TestR013_BadRegexpSaysWhere(t *testing.T) {
	for _, c := range []struct {
		pattern string
		offset  int
		says    string
	}{
		{"foo(bar", 0, "missing closing )"},
		{"a[b-", 1, "missing closing ]"},
		{"x(?=y)", 1, "unsupported Perl syntax"},
		{"ab**", 2, "repetition"},
		{`foo\nbar`, 3, "within one line"},
	} {
		_, err := newMatcher(c.pattern, 0)
		e, ok := errors.AsType[*BadRegexp](err)
		if !ok || e.Offset != c.offset || !strings.Contains(e.Error(), c.says) {
			t.Errorf("newMatcher(%q) = %v, want %q at offset %d", c.pattern, err, c.says, c.offset)
		}
	}
}

func TestHitsOfALongLineAreWindows(t *testing.T) {
	line := strings.Repeat("日", 200) + "needle" + strings.Repeat("本", 400) + "needle"
	m, err := newMatcher("needle", 1)
	if err != nil {
		t.Fatal(err)
	}
	hits, total := m.search("before\n"+line+"\nafter\n", 10)
	if total != 2 || len(hits) != 2 {
		t.Fatalf("%d hits of %d, want 2 of 2", len(hits), total)
	}
	for _, h := range hits {
		if len(h.Text) > maxLine || !utf8.ValidString(h.Text) || !strings.Contains(h.Text, "needle") {
			t.Errorf("window of %d bytes: %q", len(h.Text), h.Text)
		}
		if h.Line != 2 || line[h.Column-1:h.Column-1+len(h.Text)] != h.Text {
			t.Errorf("the window is not at %d:%d", h.Line, h.Column)
		}
		if d := cmp.Diff([][]string{{"before"}, {"after"}}, [][]string{h.Before, h.After}); d != "" {
			t.Errorf("context (-want +got):\n%s", d)
		}
	}
}

package tool

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// numbered returns lines 1 to n.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestR239_ExcerptLimits(t *testing.T) {
	long := strings.Repeat("x", DefaultInline)
	for _, c := range []struct {
		name, text string
		inline     int
		cut        bool
	}{
		{"empty", "", DefaultInline, false},
		{"as many bytes as allowed", long, DefaultInline, false},
		{"one byte more", long + "x", DefaultInline, true},
		{"as many lines as allowed", numbered(MaxLines), DefaultInline, false},
		{"that many lines and a piece", numbered(MaxLines) + "end", DefaultInline, true},
		{"one line more", numbered(MaxLines + 1), DefaultInline, true},
	} {
		short, cut := Excerpt(c.text, c.inline, "")
		if cut != c.cut {
			t.Errorf("%s: cut = %t, want %t", c.name, cut, c.cut)
		}
		if !cut && short != c.text {
			t.Errorf("%s: not cut, and yet changed", c.name)
		}
		if len(short) > c.inline {
			t.Errorf("%s: %d bytes, over %d", c.name, len(short), c.inline)
		}
	}
}

func TestR240_ExcerptKeepsHeadAndTail(t *testing.T) {
	text := numbered(5000)
	got, cut := Excerpt(text, DefaultInline, "artifact:ab12")
	if !cut {
		t.Fatal("not cut")
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	left := strings.Join(lines[40:4960], "\n") + "\n"
	want := strings.Join(lines[:40], "\n") +
		fmt.Sprintf("\n[... 4920 lines (%d bytes) of 5000 lines (%d bytes) left out; the whole is in artifact:ab12 ...]\n", len(left), len(text)) +
		strings.Join(lines[4960:], "\n") + "\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("excerpt (-want +got):\n%s", d)
	}
}

func TestR241_ExcerptOfFewLongLines(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"one line", strings.Repeat("é", 40_000)},
		{"two lines", strings.Repeat("日", 30_000) + "\n" + strings.Repeat("本", 30_000)},
		{"long head, short tail", strings.Repeat("é", 60_000) + "\nend\n"},
		{"short head, long tail", "start\n" + strings.Repeat("é", 60_000)},
	} {
		got, cut := Excerpt(c.text, 1000, "artifact:ab")
		if !cut || len(got) > 1000 || len(got) < 900 {
			t.Errorf("%s: cut %t, %d bytes, want nearly 1000", c.name, cut, len(got))
		}
		if !utf8.ValidString(got) {
			t.Errorf("%s: a character was cut in two", c.name)
		}
		if !strings.Contains(got, "the whole is in artifact:ab") {
			t.Errorf("%s: no handle in %q", c.name, got)
		}
	}
}

// TestR239_R144_LimitsAreConfigurable: lines, bytes, tokens, the lines at each end,
// and which end; what is not set has its default.
func TestR239_R144_LimitsAreConfigurable(t *testing.T) {
	if d := cmp.Diff(Limits{2000, 51_200, 16_000, 40, HeadTail}, Limits{}.Whole()); d != "" {
		t.Error(d)
	}
	ends := func(s string) (head, tail int) { // lines before and after the gap
		before, after, _ := strings.Cut(s, "[... ")
		_, after, _ = strings.Cut(after, " ...]\n")
		return strings.Count(before, "\n"), strings.Count(after, "\n")
	}
	text := numbered(500) // some 4.4 KB, 1,500 tokens
	for name, tt := range map[string]struct {
		limits     Limits
		cut        bool
		head, tail int
	}{
		"the defaults":     {Limits{}, false, 0, 0},
		"lines":            {Limits{Lines: 499}, true, 40, 40},
		"as many lines":    {Limits{Lines: 500}, false, 0, 0},
		"edges":            {Limits{Lines: 100, Edge: 7}, true, 7, 7},
		"the head":         {Limits{Lines: 100, Edge: 7, Direction: Head}, true, 14, 0},
		"the tail":         {Limits{Lines: 100, Edge: 7, Direction: Tail}, true, 0, 14},
		"more than it has": {Limits{Lines: 100_000, Bytes: 1 << 20, Tokens: 100_000}, false, 0, 0},
		"bytes":            {Limits{Bytes: 4000}, true, 40, 40},
	} {
		short, cut := tt.limits.Excerpt(text, "artifact:x")
		if cut != tt.cut || len(short) > tt.limits.Whole().Bytes {
			t.Errorf("%s: cut %t, %d bytes", name, cut, len(short))
		}
		if head, tail := ends(short); cut && (head != tt.head || tail != tt.tail) {
			t.Errorf("%s: %d lines and %d", name, head, tail)
		}
		if cut && !strings.Contains(short, "of 500 lines") {
			t.Errorf("%s: %q does not name the total", name, short)
		}
	}
	for _, d := range []Direction{HeadTail, Head, Tail} {
		short, cut := Limits{Tokens: 300, Direction: d}.Excerpt(text, "artifact:x")
		if n := EstimateTokens(short); !cut || n > 300 || n < 100 {
			t.Errorf("%s: of 300 tokens %d are shown", d, n)
		}
	}
}

// FuzzExcerpt checks what holds for any text: the limit, that what remains is
// a prefix and a suffix of the text, and that no character is cut.
func FuzzExcerpt(f *testing.F) {
	f.Add("a\nb\nc\n", 3)
	f.Add(numbered(300), 1500)
	f.Add(strings.Repeat("日本", 200), 301)
	f.Add("\xff\xfe"+strings.Repeat("\x80", 500), 250)
	f.Add("x", -1)
	f.Fuzz(func(t *testing.T, text string, inline int) {
		short, cut := Excerpt(text, inline, "artifact:f00d")
		if !cut {
			if short != text || len(text) > inline {
				t.Fatalf("not cut: %d bytes became %d with a limit of %d", len(text), len(short), inline)
			}
			return
		}
		if len(short) > max(inline, 0) {
			t.Fatalf("%d bytes, over %d", len(short), inline)
		}
		if utf8.ValidString(text) && !utf8.ValidString(short) {
			t.Fatalf("a character was cut in %q", short)
		}
		ok := strings.HasPrefix(text, short)
		for from := 0; !ok; {
			i := strings.Index(short[from:], "[... ")
			if i < 0 {
				break
			}
			i += from
			if _, tail, found := strings.Cut(short[i:], " ...]\n"); found {
				head := short[:i]
				ok = strings.HasSuffix(text, tail) &&
					(strings.HasPrefix(text, head) || strings.HasPrefix(text, strings.TrimSuffix(head, "\n")))
			}
			from = i + 1
		}
		if !ok {
			t.Fatalf("%q is not a head and a tail of the text", short)
		}
	})
}

package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzMatch compares the matcher with a dumb oracle: each line by itself, with
// the regular expression as it was given.
func FuzzMatch(f *testing.F) {
	long := strings.Repeat("foo bar ", 100)
	for _, p := range []string{
		"foo", "a+b", `\s+$`, `^$`, "x*", `[^a]*b`, `(?i)HTTP`, `(?s)a.b`, `a|\n`, `\bfoo\b`, `\Bo`, `é|日`, `[\n]`,
		`(ab){2,3}c`, `\d{3}`, `.`, `\Afoo`, `b\z`, `(?i)mask`, `(?i)é`, `(foo|bar)[0-9]?`, `foo|x\b`, `(?U)a+`, `[kK]`,
		`(?i)[a-c]x|ks`, `foo bar$`, "\r", "\uFFFD", `\pL\PL`, `x|(?i:Y)z`, `o\b.*r`, `\xff`,
	} {
		f.Add(p, "foo bar\nab\n\nx foo\r\n  \nababc 日本é http\n123\nab")
		f.Add(p, "ma\u017F\u212A MASK É\n"+long+"\nmask\n\n"+long+"1")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if !utf8.ValidString(text) || strings.Contains(pattern, "-m") {
			t.Skip()
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
			if text != "" && re.MatchString(line) {
				want = append(want, i+1)
			}
		}
		hits, total := search(m, text)
		var got []int
		for _, h := range hits {
			got = append(got, h.Line)
		}
		if len(hits) != total || !slices.IsSorted(got) {
			t.Errorf("%d hits of %d, in the lines %v", len(hits), total, got)
		}
		if got = slices.Compact(got); !cmp.Equal(want, got, cmpopts.EquateEmpty()) {
			t.Errorf("lines of %q that match %q: %v, want %v", text, pattern, got, want)
		}
	})
}

// The windows of a long line are those that an oracle finds who knows where each
// match begins.
func TestWindowsShowEachMatchOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var b strings.Builder
		for b.Len() < 2_000+rng.IntN(2_000) {
			b.WriteString([]string{"x", "y", " ", "日", "ab", strings.Repeat("-", 250)}[rng.IntN(6)])
		}
		line := b.String()
		pattern := []string{"x", `\bx`, "x|y", `(?i)AB`, "日+", `[xy]`, `x\b`, `\Bx`, "y$"}[rng.IntN(9)]
		re := regexp.MustCompile(pattern)
		var want []int
		for at := 0; at < len(line); {
			var loc []int
			for _, l := range re.FindAllStringIndex(line, -1) { // of one character each, or two
				if l[0] >= at {
					loc = l
					break
				}
			}
			if loc == nil {
				break
			}
			from := boundary([]byte(line), max(loc[0]-lead, 0))
			at = boundary([]byte(line), min(from+maxLine, len(line)))
			want = append(want, from+1)
		}
		m, err := newMatcher(pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		hits, _ := search(m, line)
		var got []int
		for _, h := range hits {
			got = append(got, h.Column)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("windows of %q in %q (-want +got):\n%s", pattern, line, d)
		}
	}
}

// An expiring context is over when it has been asked a number of times.
type expiring struct {
	context.Context
	left atomic.Int64
}

func (e *expiring) Err() error {
	if e.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// A search ends inside one file, and what it had found by then counts: between
// lines, between the hits of one line, and in a line that never matches.
func TestR018_R039_SearchEndsInsideOneFile(t *testing.T) {
	for name, c := range map[string]struct{ pattern, text string }{
		"lines":          {"x+", strings.Repeat("x\n", 1<<18)},
		"plain lines":    {"x", strings.Repeat("x\n", 1<<18)},
		"one line":       {"[xz]+y", strings.Repeat("xy------", 1<<15)},
		"one line plain": {"xy", strings.Repeat("xy------", 1<<15)},
		"no hit":         {"[xz]+y", strings.Repeat("xx------", 1<<15)},
		"no hit later":   {"[xz]+y", "zy" + strings.Repeat("xx------", 1<<15)},
	} {
		m, err := newMatcher(c.pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &expiring{Context: t.Context()}
		ctx.left.Store(3)
		hits, total, err := m.search(ctx, []byte(c.text), 10)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want the end of its context", name, err)
		}
		_, all, err := m.search(t.Context(), []byte(c.text), 10)
		if err != nil || total > all || all > 1 && (total == 0 || total == all || len(hits) == 0) {
			t.Errorf("%s: %d hits of %d before the end, %d kept, %v", name, total, all, len(hits), err)
		}
	}
}

// What is kept of a search does not grow with what it finds: a line of 32 MiB with
// millions of hits takes little beside itself.
func TestBug_G06_MemoryIsBounded(t *testing.T) {
	for pattern, size := range map[string]int{"x": 32 << 20, "[xz]": 1 << 20} { // the engine is slow
		text := bytes.Repeat([]byte("xy"), size/2)
		m, err := newMatcher(pattern, 10)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		hits, total, err := m.search(t.Context(), text, 100)
		runtime.ReadMemStats(&after)
		if err != nil || len(hits) != 100 || total < size/maxLine {
			t.Errorf("%s: %d hits of %d, %v", pattern, len(hits), total, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
			t.Errorf("%s: %d bytes were allocated", pattern, got)
		}
	}
}

func search(m *matcher, text string) ([]Hit, int) {
	hits, total, err := m.search(context.Background(), []byte(text), 1_000_000)
	if err != nil {
		panic(err)
	}
	return hits, total
}

func TestR098_EachMatchContainsANeedle(t *testing.T) {
	for pattern, want := range map[string][]string{
		"foo":                        {"foo"},
		"foo.*barbaz":                {"barbaz"},
		"(foo)+":                     {"foo"},
		"(foo)*b":                    {"b"},
		"foo|bar":                    {"foo", "bar"},
		"foo|bar*":                   {"foo", "ba"},
		"foo|.*":                     nil,
		"(?i)Foo":                    {"foo"},
		"(?i)grüße und":              {"e und"},
		"a(?i)B":                     {"ab"},
		"(ab){2,}":                   {"ab"},
		"(ab){0,2}":                  nil,
		`func \w+\(`:                 {"func "},
		"fo(o|b)":                    {"foo", "fob"},
		"x?":                         nil,
		"x?yz":                       {"xyz", "yz"},
		`^package\s+main`:            {"package"},
		"[a-c]d":                     {"ad", "bd", "cd"},
		"[a-z]d":                     {"d"},
		`(k[mz]alloc|calloc)\([^,]*`: {"kmalloc(", "kzalloc(", "calloc("},
		`\d+`:                        nil,
	} {
		m, err := newMatcher(pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if m.needles != nil {
			for _, s := range m.needles.texts {
				got = append(got, string(s))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("every match of %q contains one of (-want +got):\n%s", pattern, d)
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
	hits, total := search(m, "before\n"+line+"\nafter\n")
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

// A pattern can become a hundred times as long before it turns out to be too much.
func TestAPatternThatIsTooMuchIsToldBriefly(t *testing.T) {
	_, err := newMatcher(`(\pL{1,500}){2}`, 0)
	if bad, ok := errors.AsType[*BadRegexp](err); !ok || len(bad.Reason) > 100 {
		t.Errorf("%d bytes of %T", len(fmt.Sprint(err)), err)
	}
}

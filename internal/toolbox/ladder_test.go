package toolbox

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// Each rung forgives what it is for and nothing else, and leaves the bytes that
// it forgave.
func TestR105_LadderOfInexactMatches(t *testing.T) {
	for _, c := range []struct{ name, content, old, new, want, rung string }{
		{"trailing blanks in the file", "a \nb\t\nc\n", "a\nb\n", "a\nB\n", "a \nB\nc\n", byTrailing},
		{"trailing blanks in old", "a\nb\nc\n", "a  \nb\n", "a  \nb2\n", "a\nb2\nc\n", byTrailing},
		{"a blank line with blanks", "a\n  \nb\n", "a\n\nb", "a\n\nB", "a\n  \nB\n", byTrailing},
		{"tabs, sent as spaces", "func a() {\n\tif x {\n\t\ty()\n\t}\n}\n", "    if x {\n        y()\n    }", "    if x {\n        z()\n        if w {\n            v()\n        }\n    }",
			"func a() {\n\tif x {\n\t\tz()\n\t\tif w {\n\t\t\tv()\n\t\t}\n\t}\n}\n", byIndent},
		{"spaces, sent as tabs", "def a():\n  if x:\n    y()\n", "\tif x:\n\t\ty()\n", "\tif x:\n\t\tz()\n", "def a():\n  if x:\n    z()\n", byIndent},
		{"too little", "{\n    a\n      b\n}\n", "a\n  b\n", "a\n  c\n    d\n", "{\n    a\n      c\n        d\n}\n", byIndent},
		{"too much", "a\n  b\n", "    a\n      b\n", "    a\n\n    c\n", "a\n\nc\n", byIndent},
		{"at the end, no newline", "{\n\ta\n\tb", "    a\n    b", "    a\n    c", "{\n\ta\n\tc", byIndent},
		{"curly quotes in the file", "say(“it’s” – x)\n", `say("it's" - x)`, `say("it's" - y)`, "say(“it’s” – y)\n", byShape},
		{"curly quotes in old", "say(\"it's\")\n", "say(“it’s”)", "say(“it’s”, 1)", "say(\"it's\", 1)\n", byShape},
		{"in the middle of a line", "x = 1\u00A0+ 2 // ok\n", "1 + 2", "1 + 3", "x = 1\u00A0+ 3 // ok\n", byShape},
		{"full width", "数：１２（ok）\n", "数:12(ok)", "数:12(no)", "数：１２（no）\n", byShape},
		{"lines added", "a – b\nc\n", "a - b\nc\n", "a - b\nnew\nc\n", "a – b\nnew\nc\n", byShape},
		{"a line taken out", "a – b\nc\nd\n", "a - b\nc\n", "a - b\n", "a – b\nd\n", byShape},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"f": c.content})
			d.ok("Read", args{"path": "f"})
			r := d.ok("Edit", args{"path": "f", "old": c.old, "new": c.new})
			d.holds("f", c.want)
			if f := facts[changeData](t, r); f.Inexact != c.rung || r.Edits[0].Inexact != c.rung || !strings.Contains(r.Text, "(inexact match at line ") {
				t.Errorf("inexact %q and %q, want %q; text %q", f.Inexact, r.Edits[0].Inexact, c.rung, r.Text)
			}
		})
	}
}

func TestLadderRefuses(t *testing.T) {
	for _, c := range []struct{ name, content, old, new, hint string }{
		{"two places", "\ta\n\tb\n\ta\n", "  a", "c", "indentation differs, and it is alike at lines 1, 3"},
		{"no uniform shift", "\ta\n\t\t\tb\n", "  a\n    b\n", "  x\n", "nearest to line 1"},
		{"a new line that cannot be shifted", "a\n", "  a\n", "b\n", "nearest to line 1"},
		{"two readings that differ", "\t\t\ta\n", "    a\n", "        b\n", "nearest to line 1"},
		{"TestBug_E09", "func a() {\n" + strings.Repeat("x()\n", 298) + "}\n", "func a() {\n  old body\n}", "", "nearest to line 1"},
		{"more lines than were sent", "a\n\nb\n", "a\nb\n", "c\n", "nearest to line 1"},
		{"fewer lines than were sent", "a\nb\n", "a\n\nb\n", "c\n", "nearest to line 1"},
		{"other words", "one two\n", "one three", "x", "copy them exactly"},
		{"other case", "One\n", "one", "x", "copy them exactly"},
		{"only blanks", "a\n \t\n", "\n\n\n", "x", "copy them exactly"},
		{"inner blanks", "a  b\n", "a b", "x", "copy them exactly"},
		{"joined to the next line", "a \nb\n", "a\n", "c", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"f": c.content})
			d.ok("Read", args{"path": "f"})
			if f := d.fails(tool.NoMatch, "Edit", args{"path": "f", "old": c.old, "new": c.new}); !strings.Contains(f.Hint, c.hint) {
				t.Errorf("hint %q, want %q", f.Hint, c.hint)
			}
			d.holds("f", c.content)
		})
	}
}

// A batch of which one is inexact says which.
func TestMultiEditSaysWhichIsInexact(t *testing.T) {
	d := newDesk(t, map[string]string{"f": "\ta\nb\n"})
	d.ok("Read", args{"path": "f"})
	r := d.ok("MultiEdit", args{"path": "f", "edits": []args{{"old": "b", "new": "B"}, {"old": "    a\nB", "new": "    A\nB"}, {"old": "  B", "new": "  C"}}})
	d.holds("f", "\tA\nC\n")
	if want := "(edit 2 of 3: inexact match at line 1: indentation differs)\n(edit 3 of 3: inexact match at line 2: indentation differs)\n"; !strings.Contains(r.Text, want) {
		t.Errorf("text %q, want %q", r.Text, want)
	}
}

// TestBug_E09_LooseMatchesTakeNoMoreThanWasSent loosens random pieces of random
// texts in the ways that the ladder forgives, and checks the whole result: the
// one line that was to change has changed, and every other byte is as it was.
func TestBug_E09_LooseMatchesTakeNoMoreThanWasSent(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	found := make(map[string]int)
	for range 5_000 {
		var text []string
		for n := range 3 + r.IntN(20) {
			text = append(text, strings.Repeat("\t", 1+r.IntN(3))+fmt.Sprintf("say(“%d”)%s", n, strings.Repeat(" ", r.IntN(2))))
		}
		from := r.IntN(len(text))
		to := from + 1 + r.IntN(len(text)-from)
		hit := from + r.IntN(to-from)
		kind := r.IntN(3)
		send := func(l string) string {
			switch kind {
			case 0:
				return strings.TrimRight(l, " ") + strings.Repeat(" ", r.IntN(3))
			case 1:
				body := strings.TrimLeft(l, "\t")
				return strings.Repeat("    ", len(l)-len(body)) + body
			}
			return strings.NewReplacer("“", `"`, "”", `"`).Replace(l)
		}
		var old, fresh []string
		for n := from; n < to; n++ {
			old = append(old, send(text[n]))
			fresh = append(fresh, old[n-from])
		}
		changed := strings.Replace(fresh[hit-from], "say", "tell", 1)
		fresh[hit-from] = changed
		want := append([]string(nil), text...)
		if kind == 0 {
			want[hit] = changed // as it was sent
		} else {
			want[hit] = strings.Replace(text[hit], "say", "tell", 1)
		}
		e := editor{overlay: over(strings.Join(text, "\n") + "\n")}
		if f := e.apply("", replacement{Old: strings.Join(old, "\n") + "\n", New: strings.Join(fresh, "\n") + "\n"}); f != nil {
			t.Fatalf("%q in %q: %v, %s", old, text, f, f.Hint)
		}
		if got := e.String(); got != strings.Join(want, "\n")+"\n" {
			t.Fatalf("%q to %q in %q gives %q", old, fresh, text, got)
		}
		for _, rung := range e.rungs {
			found[rung]++
		}
	}
	for _, rung := range []string{byTrailing, byIndent, byShape} {
		if found[rung] < 500 {
			t.Errorf("%s: %d times, too few", rung, found[rung])
		}
	}
}

// tall is a text of many lines, alike but for a number.
func tall(lines int) string {
	var b strings.Builder
	for n := range lines {
		fmt.Fprintf(&b, "\tif x%d {\n\t\treturn “%d”\n\t}\n", n, n)
	}
	return b.String()
}

// TestLadderOnManyLines holds the ladder to linear time, also where all lines
// are the same.
func TestLadderOnManyLines(t *testing.T) {
	same := strings.Repeat("\tx\n", 20_000)
	for name, c := range map[string]struct{ text, old string }{
		"the last rung":   {tall(7_000), "\tif x6999 {\n\t\treturn \"6999\"\n\t}\n"},
		"not there":       {tall(7_000), "\tif x6999 {\n\t\treturn \"7000\"\n\t}\n"},
		"the same line":   {same, strings.Repeat("  x\n", 10_000)},
		"almost the same": {same, strings.Repeat("  x\n", 10_000) + "  y\n"},
	} {
		t.Run(name, func(t *testing.T) {
			e := editor{overlay: over(c.text)}
			start := time.Now()
			f := e.apply("", replacement{Old: c.old, New: "z\n"})
			took := time.Since(start)
			t.Logf("%v: %v", took, f)
			if took > 3*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// BenchmarkLadder finds a piece of a file of 21,000 lines, on each rung.
func BenchmarkLadder(b *testing.B) {
	text := tall(7_000)
	for _, c := range []struct{ name, old string }{
		{"exact", "\tif x6500 {\n\t\treturn “6500”\n"},
		{"trailing", "\tif x6500 { \n\t\treturn “6500”\n"},
		{"indent", "    if x6500 {\n        return “6500”\n"},
		{"shape", "\tif x6500 {\n\t\treturn \"6500\"\n"},
		{"none", "\tif x6500 {\n\t\treturn 6500\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				e := editor{overlay: over(text)}
				if f := e.apply("", replacement{Old: c.old, New: "    nothing\n"}); (f == nil) != (c.name != "none") {
					b.Fatal(f)
				}
			}
		})
	}
}

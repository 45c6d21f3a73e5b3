package terminal

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

func TestSafe(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"escape sequence", "\x1b]0;owned\x07", `\x1b]0;owned\x07`},
		{"end of a paste", "a\x1b[201~b", `a\x1b[201~b`},
		{"C1 as a character", "\u009b31m", `\u009b31m`},
		{"C1 as a byte", "\x9b31m", `\x9b31m`},
		{"delete", "a\x7f", `a\x7f`},
		{"lone carriage return", "safe\rrm -rf", `safe\rrm -rf`},
		{"line ends", "a\r\nb\r", "a\nb" + `\r`},
		{"override", "a\u202eb", `a\u202eb`},
		{"isolates", "\u2066x\u2069", `\u2066x\u2069`},
		{"zero width space", "r\u200bm", `r\u200bm`},
		{"joiner among ASCII", "r\u200dm", `r\u200dm`},
		{"joiner after ASCII", "r\u200dé", `r\u200dé`},
		{"byte order mark", "\ufeffx", `\ufeffx`},
		{"tags", "a\U000e0041", `a\U000e0041`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"filler", "a\u3164", `a\u3164`},
		{"fillers", "a\u115f\u034f\u2800\U000e0100", `a\u115f\u034f\u2800\U000e0100`},
		{"frame of a question", "▎ May Bash?", `\u258e May Bash?`},
		{"emoji", "👩‍👩‍👧 ok", "👩‍👩‍👧 ok"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"combining", "e\u0301", "e\u0301"},
		{"Arabic number sign", "\u0600\u0661", "\u0600\u0661"},
		{"CJK", "文件", "文件"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, Safe(tt.in)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLine(t *testing.T) {
	tests := []struct {
		in    string
		width int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"a\nb\tc", 20, `a\nb\tc`},
		{"文件名", 6, "文件名"},
		{"文件名", 5, "文件…"},
		{"文件名", 4, "文…"},
		{"文件名", 1, "…"},
		{"abc", 0, ""},
		{"", 0, ""},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"👍🏽👍🏽", 3, "…"}, // four cells each where a terminal does not join them
	}
	for _, tt := range tests {
		if got := Line(tt.in, tt.width); got != tt.want {
			t.Errorf("Line(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

// texts are what a person, a model, a tool or a file may come with.
var texts = []string{
	"",
	"fix the build",
	"修复构建，然后运行所有测试",
	"👩‍👩‍👧‍👦🏳️‍🌈👍🏽🇩🇪 emoji",
	"e\u0301a\u0308o\u0302" + strings.Repeat("x\u0301", 90),
	"שלום עולם مرحبا بالعالم",
	"harmless\u202egnp.exe",
	"progress\rdone\r\nnext",
	"paste\x1b[201~rm -rf /\n",
	"\x1b]0;title\x07\x1b[2J\x9b2J\u009b2J",
	"internal/文件/ファイル名.go",
	strings.Repeat("line of a paste 行 👩‍👩‍👧 e\u0301\n", 300), // over 10 kB
	"\xff\xfe\x80 latin \xe9",
	"\u05c2\x91\u0301\ufe0f",
}

func TestBug_U01_CutsAreWholeAndFit(t *testing.T) {
	for _, text := range texts {
		for width := 1; width <= 120; width++ {
			checkLine(t, text, width)
			for _, line := range wrap(text, width) {
				checkShown(t, line, width)
			}
		}
	}
}

func checkLine(t *testing.T, text string, width int) {
	t.Helper()
	line := Line(text, width)
	checkShown(t, line, width)
	if strings.Contains(line, "\t") {
		t.Fatalf("Line(%q, %d) = %q has a tab", text, width, line)
	}
	whole := Line(text, 1<<30)
	kept := strings.TrimSuffix(line, "…")
	if line != whole && !strings.HasPrefix(whole, kept) {
		t.Fatalf("Line(%q, %d) = %q is not the start of %q", text, width, line, whole)
	}
	if line == whole {
		return
	}
	for rest := whole; ; { // kept ends where a character ends
		if len(rest) == len(whole)-len(kept) {
			return
		}
		if len(rest) < len(whole)-len(kept) {
			t.Fatalf("Line(%q, %d) = %q cuts a character", text, width, line)
		}
		cluster, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		rest = rest[len(cluster):]
	}
}

// checkShown checks that line can be written to a terminal of that width.
func checkShown(t *testing.T, line string, width int) {
	t.Helper()
	if !utf8.ValidString(line) {
		t.Fatalf("%q is not UTF-8", line)
	}
	if w := max(ansi.StringWidth(line), ansi.StringWidthWc(line)); w > width {
		t.Fatalf("%q takes %d cells of %d", line, w, width)
	}
	for _, r := range line {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("%q contains %U", line, r)
		}
	}
}

func FuzzLine(f *testing.F) {
	for i, text := range texts {
		if len(text) < 200 {
			f.Add(text, i*7)
		}
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		if width < 1 || width > 200 {
			return
		}
		checkLine(t, text, width)
		for _, line := range wrap(text, width) {
			checkShown(t, line, width)
		}
		var pieces filter // what comes in pieces is as safe as the whole
		got := ""
		for _, r := range strings.ToValidUTF8(text, "?") {
			got += pieces.piece(string(r))
		}
		got += pieces.end()
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Fatalf("pieces of %q leave %q", text, got[i:])
		}
	})
}

func TestWrap(t *testing.T) {
	got := wrap("ab\tc\n\n文件名x\n", 5)
	want := []string{"ab   ", "   c", "", "文件", "名x", ""}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

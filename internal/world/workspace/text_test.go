package workspace

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/belay-agent/belay/internal/contract/edit"
)

func TestReadShowsText(t *testing.T) {
	for name, test := range map[string]struct {
		raw  string
		want Text
	}{
		"empty":       {"", Text{Encoding: UTF8}},
		"plain":       {"a\nb\n", Text{Content: "a\nb\n", Newline: LF, Encoding: UTF8}},
		"no ending":   {"a", Text{Content: "a", Encoding: UTF8}},
		"crlf":        {"a\r\nb\r\n", Text{Content: "a\nb\n", Newline: CRLF, Encoding: UTF8}},
		"mixed":       {"a\r\nb\n", Text{Content: "a\nb\n", Newline: Mixed, Encoding: UTF8}},
		"lone cr":     {"a\rb\r\r\n", Text{Content: "a\rb\r\n", Newline: CRLF, Encoding: UTF8}},
		"mark":        {"\xef\xbb\xbfabc\n", Text{Content: "abc\n", Newline: LF, Encoding: UTF8Mark}},
		"two marks":   {"\xef\xbb\xbf\xef\xbb\xbfa", Text{Content: "\uFEFFa", Encoding: UTF8Mark}},
		"cut rune":    {"a\xe6\x97", Text{Content: "a\uFFFD\uFFFD", Encoding: UTF8Damaged}},
		"real U+FFFD": {"a\uFFFD", Text{Content: "a\uFFFD", Encoding: UTF8}},
	} {
		t.Run(name, func(t *testing.T) {
			w := tree(t, map[string]string{"f": test.raw})
			want := test.want
			want.Path, want.Digest, want.Size = "f", edit.Digest([]byte(test.raw)), int64(len(test.raw))
			got := read(t, w, "f")
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Text{}), cmpopts.IgnoreFields(Text{}, "Mode", "ModTime")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.ModTime.IsZero() || got.Mode.Perm() != 0o644 {
				t.Errorf("modified %v, mode %v", got.ModTime, got.Mode)
			}
		})
	}
}

// most makes a text UTF-8 but for a few bytes.
const most = "日本語\n"

// TestRegion covers what the rows E01 to E04, E06 and E15 of the bug bank say
// about bytes that nobody asked to change, and the rules of Region.
func TestRegion(t *testing.T) {
	for name, test := range map[string]struct{ raw, old, replacement, want string }{
		"E01 bytes of another encoding":   {"k = 1\n\xc4\xe3\xba\xc3\n", "k = 1", "k = 2", "k = 2\n\xc4\xe3\xba\xc3\n"},
		"E01 cut mid-rune at the end":     {"k = 1\n\xe6\x97", "k = 1", "k = 2", "k = 2\n\xe6\x97"},
		"E01 given back in the same line": {most + "k = 1 \xc4\xe3 x\n", "k = 1 \uFFFD\uFFFD x", "k = 2 \uFFFD\uFFFD y", most + "k = 2 \xc4\xe3 y\n"},
		"E01 lines around":                {most + "\xc4 A\nfoo\n\xe3 B\n", "\uFFFD A\nfoo\n\uFFFD B", "\uFFFD A\nbar\nx\n\uFFFD B", most + "\xc4 A\nbar\nx\n\xe3 B\n"},
		"E01 one line of two":             {most + "\xc4 A\n\xe3 B\n", "\uFFFD A\n\uFFFD B", "\uFFFD C\n\uFFFD B", most + "\xc4 C\n\xe3 B\n"},
		"E01 moved in its line":           {most + "\xc4\xe3 A\n", "\uFFFD\uFFFD A", "B \uFFFD\uFFFD", most + "B \xc4\xe3\n"},
		"E01 with a real U+FFFD between":  {most + "a \xc4\uFFFD\xe3 z", "a \uFFFD\uFFFD\uFFFD z", "b \uFFFD\uFFFD\uFFFD y", most + "b \xc4\uFFFD\xe3 y"},
		"E01 removed":                     {most + "a \xc4\xe3 z", "a \uFFFD\uFFFD z", "a z", most + "a z"},
		"E01 real U+FFFD doubled":         {"a \uFFFD z", "a \uFFFD z", "b \uFFFD\uFFFD y", "b \uFFFD\uFFFD y"},
		"E02 mark":                        {"\xef\xbb\xbfabc\n", "abc", "abcd", "\xef\xbb\xbfabcd\n"},
		"E02 mark sent again":             {"\xef\xbb\xbfabc\n", "abc\n", "\uFEFFabcd\n", "\xef\xbb\xbfabcd\n"},
		"E02 mark with crlf":              {"\xef\xbb\xbfa\r\nb\r\n", "a\nb", "a\nB", "\xef\xbb\xbfa\r\nB\r\n"},
		"E03 crlf":                        {"a\r\nb\r\nc\r\n", "a\nb", "a\nB\nb2", "a\r\nB\r\nb2\r\nc\r\n"},
		"E03 mixed, an LF line":           {"a\r\nb\nc\r\n", "b", "B\nb2", "a\r\nB\nb2\nc\r\n"},
		"E03 mixed, a CRLF line":          {"a\r\nb\nc\r\n", "a", "A\na2", "A\r\na2\r\nb\nc\r\n"},
		"E03 mixed, both lines":           {"a\r\nb\nc\r\n", "a\nb\nc", "A\nB\nC", "A\r\nB\nC\r\n"},
		"E03 at the end of a crlf file":   {"a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
		"E03 sent with crlf":              {"a\nb\n", "a", "A\r\nA2", "A\nA2\nb\n"},
		"E03 line removed":                {"a\r\nb\r\nc\r\n", "a\nb\n", "a\n", "a\r\nc\r\n"},
		"E04 replacement patterns":        {"mark = 0\r\n", "mark = 0", `s = "$& $$ $1 ${0} \1"`, "s = \"$& $$ $1 ${0} \\1\"\r\n"},
		"E06 no final newline":            {`{"a":1}`, "1", "2", `{"a":2}`},
		"E15 tab to spaces":               {"\tfoo\n", "\tfoo", "    foo", "    foo\n"},
		"E15 trailing space":              {"foo \n", "foo ", "foo", "foo\n"},
		"nothing":                         {"a\r\nb\r\n", "a\nb", "a\nb", "a\r\nb\r\n"},
		"lone cr stays":                   {"a\rb\nc\n", "b", "B", "a\rB\nc\n"},
		"long runes in common":            {"日本\n", "日本", "日木", "日木\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := tree(t, map[string]string{"f": test.raw})
			i := replace(t, read(t, w, "f"), test.old, test.replacement)
			d, err := w.Write([]edit.Intent{i})
			if err != nil {
				t.Fatal(err)
			}
			if got := onDisk(t, w, "f"); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if d.Digests["f"] != edit.Digest([]byte(test.want)) {
				t.Errorf("digests: %v", d.Digests)
			}
			noLeftovers(t, w)
		})
	}
}

func TestRegionRefuses(t *testing.T) {
	w := tree(t, map[string]string{"f": "a\xc4\xe3日本"}) // content: a, two stand-ins, two runes
	text := read(t, w, "f")
	for name, test := range map[string]struct {
		start, end  int
		replacement string
		want        error
	}{
		"negative":            {-1, 0, "", edit.ErrRange},
		"backwards":           {2, 1, "", edit.ErrRange},
		"beyond the end":      {0, 14, "", edit.ErrRange},
		"into a stand-in":     {0, 2, "", edit.ErrRange},
		"from within a rune":  {8, 10, "", edit.ErrRange},
		"one stand-in of two": {0, 7, "b\uFFFD", ErrUndecodable},
		"three for two":       {0, 7, "b\uFFFD\uFFFD\uFFFD", ErrUndecodable},
		"two parted":          {0, 7, "b\uFFFDc\uFFFD", ErrUndecodable},
	} {
		if r, err := text.Region(test.start, test.end, test.replacement); !errors.Is(err, test.want) {
			t.Errorf("%s: %+v, %v; want %v", name, r, err, test.want)
		}
	}
}

// Lines that look alike but for what cannot be shown must not change places.
func TestRegionRefusesToGuess(t *testing.T) {
	w := tree(t, map[string]string{"f": most + "\xc4 A\n\xe3 B\n"})
	text := read(t, w, "f")
	for _, replacement := range []string{
		"\uFFFD B\n\uFFFD A\n", "\uFFFD B\n", "\uFFFD A\n", "\uFFFD B\n\uFFFD B\n", "\uFFFD C\n\uFFFD D\n",
		"\uFFFD A\n\uFFFD B\n\uFFFD C\n", "\uFFFD A \uFFFD B\n",
	} {
		if r, err := text.Region(len(most), len(text.Content), replacement); !errors.Is(err, ErrUndecodable) {
			t.Errorf("%q: %+v, %v", replacement, r, err)
		}
	}
}

func TestRegions(t *testing.T) {
	for name, test := range map[string]struct{ raw, content, want string }{
		"mixed lines stay":     {"a\r\nb\nc\r\nd\n", "a\nb\nC\nd\n", "a\r\nb\nC\r\nd\n"},
		"mark stays":           {"\xef\xbb\xbfa\nb\n", "x\nb\n", "\xef\xbb\xbfx\nb\n"},
		"mark sent again":      {"\xef\xbb\xbfa\nb\n", "\uFEFFx\nb\n", "\xef\xbb\xbfx\nb\n"},
		"bytes stay":           {"a\n\xc4\xe3\nb\n" + most, "x\n\uFFFD\uFFFD\nb\nc\n" + most, "x\n\xc4\xe3\nb\nc\n" + most},
		"into an empty file":   {"", "a\nb\n", "a\nb\n"},
		"to an empty file":     {"\xef\xbb\xbfa\r\n", "", "\xef\xbb\xbf"},
		"final newline is cut": {"a\r\nb\r\n", "a\nb", "a\r\nb"},
		"sent with crlf":       {"a\nb\n", "a\r\nB\r\n", "a\nB\n"},
		"the same":             {"a\r\nb\xff\n" + most, "a\nb\uFFFD\n" + most, "a\r\nb\xff\n" + most},
	} {
		t.Run(name, func(t *testing.T) {
			w := tree(t, map[string]string{"f": test.raw})
			text := read(t, w, "f")
			regions, err := text.Regions(test.content)
			if err != nil {
				t.Fatal(err)
			}
			got, err := edit.Intent{Path: "f", Base: text.Digest, Regions: regions}.Apply([]byte(test.raw))
			if err != nil || string(got) != test.want {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// codecs are all that there are.
var codecs = []*codec{
	&codecUTF8, &codecUTF8Mark, &codecUTF8Damaged, &codecUTF16LE, &codecUTF16LEMark, &codecUTF16BE, &codecUTF16BEMark,
	&codecLatin1, &codecWindows1252, &codecUnknown, &codecGB18030, &codecShiftJIS,
}

// TestRegionKeepsWhatIsAround replaces random ranges of random bytes, whatever
// encoding they are taken for. All before and after must stay, and what is shown
// afterwards must be what was asked for.
func TestR114_RegionKeepsWhatIsAround(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	pieces := []string{"a", "b", "\n", "\r\n", "\r", "\xff", "\xc4", "日", "\uFFFD", " ", "\x00", "\xd8", "\x82\xa0", "\xc4\xe3", "\x81\x30", "\r\x00\n\x00", "\x00\n"}
	some := func(n int, from []string) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteString(from[r.IntN(len(from))])
		}
		return b.String()
	}
	for _, code := range codecs {
		for range 5_000 {
			raw := []byte(code.mark + some(20, pieces))
			if r.IntN(10) == 0 { // more than one place is kept
				raw = append(raw, strings.Repeat(some(20, pieces), 40)...)
			}
			checkRegion(t, decode(raw, code), r, some(6, []string{"a", "b", "\n", "日", "c", "é", "€", "\U0001F600"}))
		}
	}
}

func checkRegion(t *testing.T, text Text, r *rand.Rand, replacement string) {
	t.Helper()
	start := r.IntN(len(text.Content) + 1)
	end := start + r.IntN(min(len(text.Content)-start, 40)+1)
	for !text.starts(start) {
		start--
	}
	for !text.starts(end) {
		end++
	}
	region, err := text.Region(start, end, replacement)
	if errors.Is(err, ErrUnencodable) && text.code.put != nil {
		return
	}
	if err != nil {
		t.Fatalf("%s: %q[%d:%d] -> %q: %v", text.Encoding, text.Content, start, end, replacement, err)
	}
	got, err := edit.Intent{Path: "f", Base: edit.Digest(text.raw), Regions: []edit.Region{region}}.Apply(text.raw)
	if err != nil {
		t.Fatal(err)
	}
	before, after := text.raw[:text.own(start)], text.raw[text.own(end):]
	if !strings.HasPrefix(string(got), string(before)) || !strings.HasSuffix(string(got), string(after)) {
		t.Fatalf("%s: %q[%d:%d] -> %q gives %q", text.Encoding, text.raw, start, end, replacement, got)
	}
	want := text.Content[:start] + replacement + text.Content[end:]
	again := decode(got, text.code)
	// Without CR, as a lone one may have met an LF, and without looking where half a
	// character has met its other half.
	if strings.ReplaceAll(again.Content, "\r", "") != strings.ReplaceAll(want, "\r", "") && !text.gaps && !again.gaps {
		t.Fatalf("%s: %q[%d:%d] -> %q gives %q, which shows %q, not %q", text.Encoding, text.raw, start, end, replacement, got, again.Content, want)
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfa\r\nb\n\xff日"), 1, 3, "x\ny")
	f.Add([]byte("k = 1\n\xc4\xe3\xba\xc3\n"), 4, 9, "2\n\uFFFD")
	f.Add([]byte("a\r\r\n"), 0, 2, "\r\n")
	f.Add([]byte("\xff\xfea\x00\r\x00\n\x00\x3d\xd8\x00\xde"), 0, 2, "é\n")
	f.Add([]byte("\x82\xb1\x82\xf1\x81\x30"), 0, 3, "は")
	f.Fuzz(func(t *testing.T, raw []byte, start, end int, replacement string) {
		if len(raw) > 8*apart { // some places are enough
			return
		}
		if found := detect(raw); found != nil && found != detect(raw) {
			t.Fatal("the encoding changes from one look to the next")
		}
		for _, code := range codecs {
			if strings.HasPrefix(string(raw), code.mark) {
				fuzzOne(t, decode(raw, code), start, end, replacement)
			}
		}
	})
}

func fuzzOne(t *testing.T, text Text, start, end int, replacement string) {
	if !utf8.ValidString(text.Content) {
		t.Fatalf("%s: %q shows %q", text.Encoding, text.raw, text.Content)
	}
	if text.own(len(text.Content)) != len(text.raw) {
		t.Fatalf("%s: %q ends at %d", text.Encoding, text.raw, text.own(len(text.Content)))
	}
	for i := 0; i < len(text.Content); i++ {
		if next := text.Content[i:]; text.starts(i) && !strings.HasPrefix(next, "\uFFFD") {
			r, _ := utf8.DecodeRuneInString(next)
			if got, _ := text.code.step(text.raw[text.own(i):]); got != r {
				t.Fatalf("%s: byte %d of %q shows %q, not %q", text.Encoding, text.own(i), text.raw, got, r)
			}
		}
	}
	i := edit.Intent{Path: "f", Base: edit.Digest(text.raw)}
	if region, err := text.Region(start, end, replacement); err == nil {
		i.Regions = []edit.Region{region}
		if _, err := i.Apply(text.raw); err != nil {
			t.Fatalf("%s: %q: %v", text.Encoding, text.raw, err)
		}
	}
	if regions, err := text.Regions(replacement); err == nil {
		i.Regions = regions
		if _, err := i.Apply(text.raw); err != nil {
			t.Fatalf("%s: %q as %q: %v", text.Encoding, text.raw, replacement, err)
		}
	}
}

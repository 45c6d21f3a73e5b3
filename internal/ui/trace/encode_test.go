package trace

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// plain is what the page makes of a string of JSON: the oracle of appendText, by
// hand, since package json makes nothing of half a surrogate pair. left is how
// many bytes it says are missing.
func plain(t *testing.T, literal string) (text []byte, left int) {
	t.Helper()
	s := strings.TrimSuffix(strings.TrimPrefix(literal, `"`), `"`)
	if len(s) != len(literal)-2 {
		t.Fatalf("%q is no string", literal)
	}
	for s != "" {
		switch {
		case strings.HasPrefix(s, cutMark):
			digits, rest, ok := strings.Cut(s[len(cutMark):], cutMark)
			n, err := strconv.Atoi(digits)
			if !ok || err != nil {
				t.Fatalf("a mark that says nothing: %.40q", s)
			}
			left, s = left+n, rest
		case strings.HasPrefix(s, `\udc`):
			b, err := strconv.ParseUint(s[4:6], 16, 8)
			if err != nil || b < 0x80 {
				t.Fatalf("%.6q", s)
			}
			text, s = append(text, byte(b)), s[6:]
		case strings.HasPrefix(s, `\n`):
			text, s = append(text, '\n'), s[2:]
		case strings.HasPrefix(s, `\u`):
			r, err := strconv.ParseUint(s[2:6], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			if high := rune(r); utf16.IsSurrogate(high) {
				low, err := strconv.ParseUint(s[8:12], 16, 32)
				if err != nil || s[6:8] != `\u` {
					t.Fatalf("%.12q", s)
				}
				text, s = utf8.AppendRune(text, utf16.DecodeRune(high, rune(low))), s[12:]
				continue
			}
			text, s = utf8.AppendRune(text, rune(r)), s[6:]
		default:
			text, s = append(text, s[0]), s[1:]
		}
	}
	return text, left
}

func checkText(t *testing.T, text []byte, limit int) {
	t.Helper()
	out, left := appendText(nil, text, limit)
	out = tamed(out)
	if !json.Valid(out) || !utf8.Valid(out) || bytes.ContainsAny(out, "<>&\n\u2028\u2029\u202e\u009b\u200b\ufeff\x1b") {
		t.Fatalf("%q becomes %q", text, out)
	}
	got, said := plain(t, string(out))
	if int64(said) != left || len(got)+said != len(text) {
		t.Fatalf("of %d bytes %d are there, %d are said to be missing, %d are", len(text), len(got), said, left)
	}
	if left == 0 && !bytes.Equal(got, text) {
		t.Fatalf("%q becomes %q", text, got)
	}
	if len(got) > max(limit, 0) {
		t.Fatalf("%d bytes of at most %d", len(got), limit)
	}
	half := limit / 2
	if left > 0 && !(bytes.HasPrefix(text, got[:max(0, min(len(got), half)-utf8.UTFMax)]) && bytes.HasSuffix(text, got[min(len(got), half):])) {
		t.Fatalf("%q is not the ends of %q", got, text)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", "</script>", "a\u2028b\u2029c&<>\"\\", "\x00\x1b[2J\x7f", "\xff\xfe\xed\xb2\x80", "文件 👩‍👩‍👧", "\xf0\x9f\x91", "\u202e", "\U000e0041\u009b\u200b\ufeff"} {
		f.Add([]byte(s), 4)
		f.Add([]byte(strings.Repeat(s, 9)), 16)
	}
	f.Fuzz(func(t *testing.T, text []byte, limit int) {
		checkText(t, text, len(text))
		checkText(t, text, max(0, limit%64))
	})
}

// The fuzz target is slow to build beside a browser: this is some of it every time.
func TestTextOfChanceIsWhatItWas(t *testing.T) {
	pieces := []string{"a", "</script>", "\n", "\r", "\x00", "\x1b[", "\xff", "\xed\xb2\x80", "é", "文", "👩‍👩‍👧", "\u202e", "\u2028", `\udbff9\udbff`, `"`, `\`, "\U000e0041"}
	chance := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		var text []byte
		for range chance.IntN(30) {
			text = append(text, pieces[chance.IntN(len(pieces))]...)
		}
		checkText(t, text, len(text))
		checkText(t, text, chance.IntN(len(text)+1))
	}
}

func FuzzData(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":"<b>&","c":[1,-2.5e3,null,"\u2028\\\""]}`, `"` + strings.Repeat("x", 40) + `"`, `{"</script>":"\\"}`, `"\ud83d\ude00"`, "\"\U000e0041\u202e\u009b\"", "\r{\r\n\t\"a\":\r0}\r"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) || !utf8.Valid(b) {
			return
		}
		whole, left := cut(b)
		out := tamed(whole)
		if left != 0 {
			t.Fatalf("%d bytes are missing of %d", left, len(b))
		}
		if !json.Valid(out) || bytes.ContainsAny(out, "<>&\u2028\u2029\u202e\u009b\u200b\ufeff") {
			t.Fatalf("%q becomes %q", b, out)
		}
		var want, got any
		if json.Unmarshal(b, &want) != nil || json.Unmarshal(out, &got) != nil {
			return // numbers beyond what a float holds
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

func TestLongTextIsCutAndSaysSo(t *testing.T) {
	long := strings.Repeat("é", maxString) // twice as many bytes
	b, err := json.Marshal(map[string]string{"a": "short", "b": long})
	if err != nil {
		t.Fatal(err)
	}
	out, left := cut(b)
	if left != int64(len(long)-maxString) || !json.Valid(out) {
		t.Errorf("%d bytes are missing", left)
	}
	if want := cutMark + strconv.FormatInt(left, 10) + cutMark; strings.Count(string(out), want) != 1 || !strings.Contains(string(out), `"a":"short"`) {
		t.Errorf("no mark %s in what is left", want)
	}
}

func TestShort(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "one": "one", "\n\n two\n": "two", "one\ntwo": "one …", "one\r\ntwo": "one …", strings.Repeat("é", maxLine+5): strings.Repeat("é", maxLine) + "…",
	} {
		if got := short(in); got != want {
			t.Errorf("short(%q) = %q, want %q", in, got, want)
		}
	}
}

package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestJSONIsHarmlessOnAScreenAndTheSame(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			all.WriteString("a" + string(r))
		}
	}
	for _, text := range []string{"", "plain", "日本語 é \\u202e \"", "\x1b[2J\u009b31m\u202e\x7f\ufeff\U000e0041", all.String()} {
		var b bytes.Buffer
		e := json.NewEncoder(tame{&b})
		e.SetEscapeHTML(false)
		e.SetIndent("", "\t")
		if err := e.Encode(map[string]string{text: text}); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(b.String(), func(r rune) bool {
			return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
		}); i >= 0 {
			t.Errorf("%q holds what a screen obeys, at %d", b.String(), i)
		}
		var got map[string]string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(map[string]string{text: text}, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	if p := []byte("日本語\n"); &escaped(p)[0] != &p[0] {
		t.Error("what is harmless is copied")
	}
}

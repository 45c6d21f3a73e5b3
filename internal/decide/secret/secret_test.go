package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const key = `sk-ant/Q7+x"9\z&é=4t`

// spellings are how key turns up in text.
func spellings() map[string]string {
	inJSON, _ := json.Marshal(key)
	inside := string(inJSON[1 : len(inJSON)-1])
	all := map[string]string{
		"as it is":      key,
		"hex":           hex.EncodeToString([]byte(key)),
		"HEX":           fmt.Sprintf("%X", key),
		"query":         url.QueryEscape(key),
		"path":          url.PathEscape(key),
		"in JSON":       inside,
		"in JSON, with": strings.ReplaceAll(strings.ReplaceAll(inside, `\u0026`, "&"), "/", `\/`),
	}
	for before := range 4 {
		for after := range 3 {
			b := []byte(strings.Repeat("u", before) + key + strings.Repeat(":", after))
			all[fmt.Sprintf("base64 %d %d", before, after)] = base64.StdEncoding.EncodeToString(b)
			all[fmt.Sprintf("base64url %d %d", before, after)] = base64.URLEncoding.EncodeToString(b)
		}
	}
	return all
}

func TestEverySpellingIsFound(t *testing.T) {
	r := lazily(Options{Held: map[string]string{"API_KEY": key}})
	for name, text := range spellings() {
		got := r.Text("Bearer " + text + " end")
		if !strings.HasPrefix(got, "Bearer ") || !strings.HasSuffix(got, " end") || !strings.Contains(got, "[redacted:API_KEY]") {
			t.Errorf("%s: %q became %q", name, text, got)
		}
		if left := len(got) - len("Bearer [redacted:API_KEY] end"); left > 10 || !strings.Contains(name, "base64") && left != 0 {
			t.Errorf("%s: %d bytes too many in %q", name, left, got)
		}
	}
}

func TestText(t *testing.T) {
	r := lazily(Options{Held: map[string]string{"A": "alpha-1234", "B": "1234-beta", "SHORT": "1234567", "odd \"name\"\x1b": "gamma-9999", "delta-5678": "delta-5678"}})
	for in, want := range map[string]string{
		"":                                "",
		"nothing":                         "nothing",
		"1234567":                         "1234567",
		"alpha-1234":                      "[redacted:A]",
		"<alpha-1234>alpha-1234.":         "<[redacted:A]>[redacted:A].",
		"alpha-1234-beta, 1234-beta":      "[redacted:A], [redacted:B]",
		"alpha-123":                       "alpha-123",
		"gamma-9999":                      "[redacted:odd__name__]",
		"delta-5678":                      "[redacted]",
		"alpha-1alpha-1234alpha-12":       "alpha-1[redacted:A]alpha-12",
		"\x00\xffalpha-1234\xff":          "\x00\xff[redacted:A]\xff",
		"alpha\u200b-1234 is another one": "alpha\u200b-1234 is another one",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if again := r.Text(r.Text(in)); again != r.Text(in) {
			t.Errorf("%q: a second time: %q", in, again)
		}
	}
}

func TestNothingToHideIsFree(t *testing.T) {
	r := lazily(Options{Held: map[string]string{"EMPTY": "", "SHORT": "1234567"}})
	b := []byte(`{"a":"1234567"}`)
	if got := r.Bytes(b); &got[0] != &b[0] {
		t.Error("Bytes copied")
	}
	var out bytes.Buffer
	w := r.Writer(&out)
	fmt.Fprint(w, "1234567\n")
	if out.String() != "1234567\n" || r.Text("1234567") != "1234567" {
		t.Error("held back or changed")
	}
	if n := testing.AllocsPerRun(10, func() { r.Bytes(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBytes(t *testing.T) {
	r := lazily(Options{Held: map[string]string{"K": key, "N": "9081726354", "WORD": "suggested_action"}})
	q, _ := json.Marshal(key)
	twice, _ := json.Marshal(string(q))
	for in, want := range map[string]string{
		`{"text":"nothing \u003c \"here\""}`:                          `{"text":"nothing \u003c \"here\""}`,
		`{"text":` + string(q) + `,"n":1}`:                            `{"text":"[redacted:K]","n":1}`,
		`{"text":"a\n\u0073k-ant\/Q7+x\"9\\z\u0026\u00e9=4t\u2028<"}`: `{"text":"a\n[redacted:K]\u2028<"}`,
		`{"text":` + string(twice) + `}`:                              `{"text":"\"[redacted:K]\""}`,
		`{` + string(q) + `:1}`:                                       `{"[redacted:K]":1}`,
		`{"suggested_action":"suggested_action"}`:                     `{"suggested_action":"[redacted:WORD]"}`,
		`{"n":9081726354,"m":[-9081726354.5, 12]}`:                    `{"n":0,"m":[0, 12]}`,
		`{"raw":{"signature":[true,"x",1.5e3]},"a":1}`:                `{"raw":{"signature":[true,"x",1.5e3]},"a":1}`,
		`{"raw" : {"s":[` + string(q) + `,{"a":"]"}]} ,"a":1}`:        `{"raw" : null ,"a":1}`,
		`[{"raw":` + string(q) + `},{"raw":"raw"}]`:                   `[{"raw":null},{"raw":"raw"}]`,
		`{"raw":{"raw":{"s":9081726354}}}`:                            `{"raw":null}`,
		`{"raw":9081726354}`:                                          `{"raw":null}`,
		`{"raw":null,"a":` + string(q) + `}`:                          `{"raw":null,"a":"[redacted:K]"}`,
		`{"a":"raw","b":` + string(q) + `}`:                           `{"a":"raw","b":"[redacted:K]"}`,
		`{"a":["raw",` + string(q) + `]}`:                             `{"a":["raw","[redacted:K]"]}`,
	} {
		got := r.Bytes([]byte(in))
		if string(got) != want {
			t.Errorf("%s\nbecame %s\nwant   %s", in, got, want)
		}
		if again := r.Bytes(got); !bytes.Equal(again, got) {
			t.Errorf("a second time: %s", again)
		}
	}
}

// naive replaces one plain secret, the slow and obvious way.
func naive(text, secret string) string { return strings.ReplaceAll(text, secret, "[redacted:K]") }

func TestASecretCutAnywhereIsFound(t *testing.T) {
	r := lazily(Options{Held: map[string]string{"K": key}})
	for name, spelled := range spellings() {
		text := "before " + spelled + " after, and " + spelled
		want := r.Text(text)
		for first := range len(text) + 1 {
			for _, second := range []int{first, first + 1, first + 5, len(text)} {
				second = min(second, len(text))
				if got := streamed(t, r, text[:first], text[first:second], text[second:]); got != want {
					t.Fatalf("%s, cut at %d and %d: %q, want %q", name, first, second, got, want)
				}
			}
		}
	}
}

func streamed(t *testing.T, r *Redactor, chunks ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := r.Writer(&out)
	for _, c := range chunks {
		if n, err := w.Write([]byte(c)); n != len(c) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Over random texts of a small alphabet, where secrets begin, nearly begin and
// overlap all the time: what streams equals what is replaced at once, nothing
// leaks, and a second pass finds nothing. The soak tries 3000 texts, the usual run
// 750.
func TestRandomTexts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abZ9"[rnd.IntN(4)]
		}
		return string(b)
	}
	rounds := 750
	if soak {
		rounds = 3000
	}
	for round := range rounds {
		values := map[string]string{"A": letters(8), "B": letters(8 + rnd.IntN(9)), "C": letters(20)}
		for name, v := range values {
			if standsForNone(v) {
				values[name] += "bZ9" // which is looked for
			}
		}
		r := lazily(Options{Held: values})
		var text string
		for range rnd.IntN(12) {
			text += letters(rnd.IntN(9))
			for _, v := range values {
				if from := rnd.IntN(len(v)); rnd.IntN(3) == 0 {
					text += v[from:]
				} else if rnd.IntN(3) == 0 {
					text += v
				}
			}
		}
		got := r.Text(text)
		for name, v := range values {
			if strings.Contains(got, v) {
				t.Fatalf("round %d: %s leaks from %q: %q", round, name, text, got)
			}
		}
		if again := r.Text(got); again != got {
			t.Fatalf("round %d: a second time %q becomes %q", round, got, again)
		}
		var chunks []string
		for rest := text; rest != ""; {
			n := 1 + rnd.IntN(min(len(rest), 12))
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		if pieces := streamed(t, r, chunks...); pieces != got {
			t.Fatalf("round %d: %q streams as %q, want %q", round, text, pieces, got)
		}
		one := lazily(Options{Held: map[string]string{"K": values["A"]}})
		if !overlaps(values["A"]) {
			if d := cmp.Diff(naive(text, values["A"]), one.Text(text)); d != "" {
				t.Fatalf("round %d (-naive +got):\n%s", round, d)
			}
		}
	}
}

// overlaps reports whether s can begin inside itself.
func overlaps(s string) bool {
	for i := 1; i < len(s); i++ {
		if strings.HasPrefix(s, s[i:]) {
			return true
		}
	}
	return false
}

func TestWriterPassesErrorsOn(t *testing.T) {
	r := lazily(Options{Held: map[string]string{"K": key}})
	w := r.Writer(full{})
	if _, err := w.Write([]byte("a line\n")); err == nil {
		t.Error("no error from Write")
	}
	w = r.Writer(full{})
	if _, err := w.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if w.Close() == nil {
		t.Error("no error from Close")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

// JSON stays JSON, and no string of it holds a secret.
func FuzzBytes(f *testing.F) {
	q, _ := json.Marshal(key)
	f.Add([]byte(`{"text":` + string(q) + `,"raw":[` + string(q) + `],"n":-9081726354}`))
	f.Add([]byte(`{"a":"\ud83d\ude00\ud800 \u00e9","sk-\u0061nt-Q7xq9z4t":[[],{},true,null,"raw"]}`))
	f.Add([]byte(`"raw`))
	f.Add([]byte(`{"password":"kT4#pw9Lq2","token":"` + pat + `","k":"-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJd8sKq2LmXv93TzBf71RyUcWnEa5GhP6iQo0Jd8sKq2\n-----END"}`))
	r := lazily(Options{Held: map[string]string{"K": key, "P": "sk-ant-Q7xq9z4t", "N": "9081726354"}})
	f.Fuzz(func(t *testing.T, b []byte) {
		got := r.Bytes(bytes.Clone(b))
		if !json.Valid(b) {
			return // it must not panic; that is all
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(got))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%q became %q: %v", b, got, err)
		}
		if again := r.Bytes(got); !bytes.Equal(again, got) {
			t.Errorf("%q a second time: %q", got, again)
		}
		var look func(v any)
		look = func(v any) {
			switch v := v.(type) {
			case string:
				if r.Text(v) != v {
					t.Errorf("%q became %q, which holds %q", b, got, v)
				}
			case []any:
				for _, x := range v {
					look(x)
				}
			case map[string]any:
				for k, x := range v {
					look(k)
					look(x)
				}
			}
		}
		look(v)
	})
}

func BenchmarkBytes(b *testing.B) {
	values := map[string]string{}
	for i := range 20 {
		values[fmt.Sprint("K", i)] = fmt.Sprintf("sk-%d-0123456789abcdefghijklmnopqrstuvwxyz", i)
	}
	r := lazily(Options{Held: values})
	text, _ := json.Marshal(map[string]string{"text": strings.Repeat("func main() {\n\tfmt.Println(\"hello\")\n}\n", 1000)})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Bytes(text)
	}
}

package secret

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestR136_ASecretOverChunksIsFound cuts a text with every kind of secret at each
// byte, and then in two places and more: what is written is what is written for the
// whole, and what comes of the whole is what comes of its lines.
func TestR136_ASecretOverChunksIsFound(t *testing.T) {
	r := lazily(Options{Held: map[string]string{"K": key}, Key: []byte("k")})
	few := some(t)
	for _, s := range few {
		text := "before\n" + s.text + "\nafter " + key + ".\n"
		want := r.Text(text)
		if s.secret != "" && strings.Contains(want, s.secret) {
			t.Fatalf("%s: %q became %q", s.rule, text, want)
		}
		for cut := range len(text) + 1 {
			if got := streamed(t, r, text[:cut], text[cut:]); got != want {
				t.Fatalf("%s, cut at %d: %q, want %q", s.rule, cut, got, want)
			}
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		var text strings.Builder
		for _, s := range few {
			if rnd.IntN(8) == 0 {
				text.WriteString(s.text)
				text.WriteString([]string{"\n", " ", "\r\n", "\r", "", strings.Repeat("ab ", rnd.IntN(100))}[rnd.IntN(6)])
			}
		}
		var chunks []string
		for rest := text.String(); rest != ""; {
			n := 1 + rnd.IntN(min(len(rest), 1+rnd.IntN(300)))
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		if got, want := streamed(t, r, chunks...), r.Text(text.String()); got != want {
			t.Fatalf("%q in %d chunks: %q, want %q", text.String(), len(chunks), got, want)
		}
	}
}

// some returns one sample of each rule.
func some(t testing.TB) (few []sample) {
	seen := map[string]int{}
	for _, s := range samples(t) {
		if seen[s.rule]++; seen[s.rule] == 1+len(s.rule)%5 {
			few = append(few, s)
		}
	}
	return few
}

// Lines without end, and long runs of what could be a key, are not held back for
// ever, and a secret at a place where they are cut is found.
func TestALineWithoutEndIsPassedOn(t *testing.T) {
	r := lazily(Options{})
	const token = "ghp_0Jd8sKq2LmXv93TzBf71RyUcWnEa5GhP6iQo"
	for _, filler := range []string{"x, ", strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj", 2)[:64] + "\n"} {
		long := strings.Repeat(filler, (maxLine+overlap)/len(filler))
		for at := maxLine - overlap - 100; at < maxLine-overlap+100; at += 7 {
			var out bytes.Buffer
			w := r.Writer(&out)
			at := at / len(filler) * len(filler)
			text := long[:at] + "t=" + token + "\n;" + long
			for rest := text; rest != ""; {
				n := min(1000, len(rest))
				if _, err := w.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if out.Len() < len(text)-maxLine-2000 {
				t.Fatalf("%d of %d bytes were passed on", out.Len(), len(text))
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got, want := out.String(), strings.Replace(text, token, "[secret:github-pat]", 1); got != want {
				t.Fatalf("at %d: %d bytes, want %d", at, len(got), len(want))
			}
		}
	}
}

// TestR136_PartsOfAPrivateKeyAreTaken: what is left of a key when its beginning or
// end is not in the text is no use to anyone, and must not be written either.
func TestR136_PartsOfAPrivateKeyAreTaken(t *testing.T) {
	r := lazily(Options{})
	body := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 5)
	const begin, end = "-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----\n"
	for name, c := range map[string]struct{ text, want string }{
		"whole":               {"a\n" + begin + body + "QyLy8Q==\n" + end + "b\n", "a\n[secret:private-key]\nb\n"},
		"without its end":     {"a\n" + begin + body + "[... 20 lines left out ...]\n", "a\n[secret:private-key]\n[... 20 lines left out ...]\n"},
		"cut in a line":       {"a\n" + begin + body + "QyLy8", "a\n[secret:private-key]"},
		"without beginning":   {"a b\n" + body + "QyLy8Q==\n" + end + "b\n", "a b\n[secret:private-key]\nb\n"},
		"as Read shows it":    {"1\t" + begin + "2\t" + strings.ReplaceAll(strings.TrimSuffix(body, "\n"), "\n", "\n3\t") + "\n8\t" + end + "9\tb\n", "1\t[secret:private-key]\n9\tb\n"},
		"as Grep shows it":    {"a/k.pem:1:" + begin + "a/k.pem-2-" + strings.ReplaceAll(strings.TrimSuffix(body, "\n"), "\n", "\na/k.pem-3-") + "\n", "a/k.pem:1:[secret:private-key]\n"},
		"two":                 {begin + body + end + begin + body + end, "[secret:private-key]\n[secret:private-key]\n"},
		"only spoken of":      {"it begins with " + begin + "and then come lines\n" + end, "it begins with " + begin + "and then come lines\n" + end},
		"code between":        {"const a = `" + begin + "`\nfunc f() {}\nconst b = `" + end + "`\n", "const a = `" + begin + "`\nfunc f() {}\nconst b = `" + end + "`\n"},
		"a certificate after": {begin + body + end + "-----BEGIN CERTIFICATE-----\n" + body + "-----END CERTIFICATE-----\n", "[secret:private-key]\n-----BEGIN CERTIFICATE-----\n" + body + "-----END CERTIFICATE-----\n"},
	} {
		if got := r.Text(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for cut := 0; cut < len(c.text); cut += 1 + cut%3 {
			if got := streamed(t, r, c.text[:cut], c.text[cut:]); got != c.want {
				t.Fatalf("%s, cut at %d: %q, want %q", name, cut, got, c.want)
			}
		}
	}
}

// TestR136_TypedWordsAreShownAsTheyEnd: what is typed is what is written for the
// whole, and where nothing looks like a secret no word waits for the end of its line.
func TestR136_TypedWordsAreShownAsTheyEnd(t *testing.T) {
	r := lazily(Options{Held: map[string]string{"K": key}})
	for _, s := range append(some(t), sample{text: "it is " + key + ", they say, and then"}, sample{text: strings.Repeat("no word waits ", 3000)}) {
		text := "so the thing is: " + s.text + " and " + s.text + "\nyes " + s.text
		var out bytes.Buffer
		w := r.Typing(&out)
		for i := range len(text) {
			if _, err := w.Write([]byte{text[i]}); err != nil {
				t.Fatal(err)
			}
			if i == len("so the thing is") && out.String() != "so the thing " || s.rule == "" && s.secret == "" && strings.HasPrefix(s.text, "no") && out.Len() < i-8 {
				t.Fatalf("after %q: %q", text[:i+1], out.String())
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if want := r.Text(text); out.String() != want {
			t.Fatalf("%q was typed as %q, want %q", text, out.String(), want)
		}
	}
}

// However text is cut, what is written is the same.
func FuzzWriter(f *testing.F) {
	for _, s := range some(f) {
		f.Add(s.text+"\n"+s.text, uint16(len(s.text)/2), uint16(len(s.text)+3))
	}
	f.Add("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\r-----BEGIN\n\nQUJD", uint16(30), uint16(56))
	r := lazily(Options{Held: map[string]string{"K": key, "LINES": "two\nlines 77"}})
	f.Fuzz(func(t *testing.T, text string, first, second uint16) {
		a := min(int(first), len(text))
		b := min(max(a, int(second)), len(text))
		want := r.Text(text)
		if got := streamed(t, r, text[:a], text[a:b], text[b:]); got != want {
			t.Errorf("%q, cut at %d and %d: %q, want %q", text, a, b, got, want)
		}
	})
}

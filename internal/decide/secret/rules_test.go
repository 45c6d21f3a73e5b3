package secret

import (
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	mathrand "math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A sample is a text with one secret in it.
type sample struct {
	rule, text, secret string
}

var fieldRE = regexp.MustCompile(`<([AULahHdwb2C])(\d+)>`)

// alphabets are what fields of formats are filled with.
var alphabets = map[string]string{
	"A": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
	"U": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	"L": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
	"a": "abcdefghijklmnopqrstuvwxyz0123456789",
	"h": "0123456789abcdef",
	"H": "0123456789ABCDEF",
	"d": "0123456789",
	"w": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
	"b": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
	"2": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
	"C": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}

// carriers are the texts in which a secret turns up, for %s.
var carriers = []string{
	"%s", "TOKEN=%s\n", "export X='%s'\n", `{"value": "%s", "n": 1}`, "key: %s\n", `x := "%s" // for now`, "<a>%s</a>",
	"https://x.net/?t=%s&u=1", "got (%s), want", "12\t%s\n13\t}\n", "+\tconst k = `%s`\n", `"line one\n%s\n"`, `"a\u0026%s"`, `\xff%s\n`, `\033[1;31m%s\033[0m`, "\x1b[31m%s\x1b[0m", "\x1b[38;2;255;255;255m%s\x1b[0m", "a=%%3D%%3D%%22,%s;",
}

// samples fills in each format of testdata three times and more, each in several
// carriers.
func samples(t testing.TB) (all []sample) {
	formats, err := os.ReadFile("testdata/formats.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var seed [32]byte
	copy(seed[:], "formats are filled in by chance")
	rnd := mathrand.New(mathrand.NewChaCha8(seed))
	fill := func(format string) string {
		return fieldRE.ReplaceAllStringFunc(format, func(field string) string {
			m := fieldRE.FindStringSubmatch(field)
			n, _ := strconv.Atoi(m[2])
			b := make([]byte, n)
			for i := range b {
				b[i] = alphabets[m[1]][rnd.IntN(len(alphabets[m[1]]))]
				for last := i == n-1 || i == 0; last && strings.IndexByte("-_/+", b[i]) >= 0; {
					b[i] = alphabets["A"][rnd.IntN(62)]
				}
			}
			return string(b)
		})
	}
	for line := range strings.Lines(string(formats)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 3 {
			continue
		}
		format := strings.ReplaceAll(f[2], `\n`, "\n")
		for range 3 {
			switch f[1] {
			case "bare":
				for _, c := range carriers {
					s := fill(format)
					all = append(all, sample{f[0], strings.ReplaceAll(strings.Replace(c, "%s", s, 1), "%%", "%"), s})
				}
			case "block":
				s := fill(format)
				quoted, _ := json.Marshal(s)
				inside := string(quoted[1 : len(quoted)-1])
				numbered := "  1\t" + strings.ReplaceAll(s, "\n", "\n  2\t")
				all = append(all,
					sample{f[0], s, s}, sample{f[0], "a\n" + s + "\nb\n", s}, sample{f[0], strings.ReplaceAll(s, "\n", "\r\n"), ""},
					sample{f[0], `{"private_key": "` + inside + `\n", "x": 1}`, inside}, sample{f[0], numbered, ""},
					sample{f[0], "+" + strings.ReplaceAll(s, "\n", "\n+"), ""},
					sample{f[0], "\t\"" + strings.ReplaceAll(s, "\n", "\\n\" +\n\t\"") + "\\n\"", ""})
			default:
				s := fill(strings.NewReplacer("<<", "<", ">>", ">").Replace(format))
				all = append(all, sample{f[0], s, ""}, sample{f[0], "line before\n\t" + s + "\nline after\n", ""})
			}
		}
	}
	for _, login := range []string{"deploy:", "user@corp.net:"} {
		for range 3 {
			s := base64.StdEncoding.EncodeToString([]byte(login + rand.Text()[:14]))
			all = append(all, sample{"basic-auth", "Authorization: Basic " + s + "\r\n", s},
				sample{"docker-auth", `{"auths":{"ghcr.io":{"auth": "` + s + `"}}}`, s})
		}
	}
	return all
}

// TestR136_RulesFindTheirSecrets is recall: of secrets as their formats are
// documented, in what text they turn up, at least 95 of 100 are found, and all of
// each that are found leave nothing behind.
func TestR136_RulesFindTheirSecrets(t *testing.T) {
	r := lazily(Options{})
	all := samples(t)
	found, rules := 0, map[string]int{}
	for _, s := range all {
		got := r.Text(s.text)
		ok := strings.Contains(got, "[secret:") && (s.secret == "" || !strings.Contains(got, s.secret[:min(len(s.secret), 12)]))
		if s.rule == "private-key" {
			ok = ok && longestWord(got) < minBody
		}
		if ok {
			found++
			rules[s.rule]++
		} else {
			t.Logf("%s: %q became %q", s.rule, s.text, got)
		}
	}
	for line := range strings.Lines(table) {
		if id, _, ok := strings.Cut(line, "\t"); ok && line[0] != '#' && rules[id] < 3 {
			t.Errorf("%s: %d of its secrets were found", id, rules[id])
		}
	}
	recall := float64(found) / float64(len(all))
	t.Logf("recall %.4f: %d of %d samples of %d rules", recall, found, len(all), len(rules))
	if recall < 0.95 {
		t.Errorf("recall is %.3f", recall)
	}
}

// TestR136_WhatPeopleWrite has secrets that are typed by hand, and those of
// documentation that have the form of real ones.
func TestR136_WhatPeopleWrite(t *testing.T) {
	r := lazily(Options{})
	for text, want := range map[string]string{
		"[pypi]\nusername = bob\npassword = xK93-lm2.qQ8\n":                                          "[pypi]\nusername = bob\npassword = [secret:password]\n",
		"Password: Tr0ub4dor&3":                                                                      "Password: [secret:password]",
		"?password=xK93lm2qQ8&user=bob":                                                              "?password=[secret:password]&user=bob",
		`psql "host=x password=xK93lm2qQ8 dbname=z"`:                                                 `psql "host=x password=[secret:password] dbname=z"`,
		`db_pass: "xK93lm2!qQ8"`:                                                                     `db_pass: "[secret:password]"`,
		"--- PASS: xK93lm2qQ8 (0.00s)":                                                               "--- PASS: xK93lm2qQ8 (0.00s)",
		"KEY=ghp_1234567890abcdefghijklmnopqrstuvwxyz":                                               "KEY=[secret:github-pat]",
		"sk-proj-abc123DEF456ghi789JKL012mno345PQR678":                                               "[secret:sk-key]",
		"SECRET_KEY = 'django-8#k2j!x9@1lq&z7w$e4r5t6y7u8i9o0p'":                                     "SECRET_KEY = '[secret:secret]'",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA1234\nabcd\n-----END RSA PRIVATE KEY-----": "[secret:private-key]",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// longestWord returns the length of the longest run of base64 in s.
func longestWord(s string) int {
	most, n := 0, 0
	for i := range len(s) {
		if n++; !isCode(s[i]) {
			n = 0
		}
		most = max(most, n)
	}
	return most
}

// TestR136_LookAlikesStay is precision: of what only looks like secrets nothing is
// taken for one, line by line, as one text, and in JSON.
func TestR136_LookAlikesStay(t *testing.T) {
	text, err := os.ReadFile("testdata/lookalikes.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := lazily(Options{})
	if got := r.Text(string(text)); got != string(text) {
		t.Errorf("as one text: %s", cmp.Diff(string(text), got))
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		lines++
		if got := r.Text(line); got != line {
			t.Errorf("%q became %q", line, got)
		}
		quoted, _ := json.Marshal(map[string]string{"text": line})
		if got := r.Bytes(quoted); string(got) != string(quoted) {
			t.Errorf("%s became %s", quoted, got)
		}
	}
	if lines < 100 {
		t.Errorf("only %d lines", lines)
	}
}

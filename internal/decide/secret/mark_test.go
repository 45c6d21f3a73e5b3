package secret

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const pat = "ghp_0Jd8sKq2LmXv93TzBf71RyUcWnEa5GhP6iQo"

// TestR136_AMarkIsTheSameForASecret: wherever a secret is found, in text or in an
// event, its mark is the same, another secret's is another, and without the key
// nobody can tell what it stands for.
func TestR136_AMarkIsTheSameForASecret(t *testing.T) {
	r := lazily(Options{Key: []byte("one")})
	first := r.Text(pat)
	if len(first) != len("[secret:github-pat:")+tagLen+1 || !strings.HasPrefix(first, "[secret:github-pat:") {
		t.Fatalf("the mark is %q", first)
	}
	other := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	for text, want := range map[string]string{
		"a " + pat + " b":         "a " + first + " b",
		"TOKEN=" + pat:            "TOKEN=" + first,
		pat + "," + pat:           first + "," + first,
		"\\n" + pat + "\\n":       "\\n" + first + "\\n",
		"https://u:" + pat + "@x": "https://u:" + first + "@x",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := r.Text(other); got == first || len(got) != len(first) {
		t.Errorf("another secret is %q, as %q", got, first)
	}
	if got := lazily(Options{Key: []byte("two")}).Text(pat); got == first {
		t.Error("the mark does not depend on the key")
	}
	if got := lazily(Options{}).Text(pat); got != "[secret:github-pat]" {
		t.Errorf("without a key it is %q", got)
	}
	quoted, _ := json.Marshal(map[string]any{"args": map[string]string{"command": "echo " + pat}, "raw": pat})
	want, _ := json.Marshal(map[string]any{"args": map[string]string{"command": "echo " + first}, "raw": nil})
	if got := r.Bytes(quoted); string(got) != string(want) {
		t.Errorf("%s became %s, want %s", quoted, got, want)
	}
}

// What has been replaced stays as it is.
func TestMarksAreNoSecrets(t *testing.T) {
	for _, r := range []*Redactor{lazily(Options{Key: []byte("k")}), lazily(Options{})} {
		for _, s := range samples(t) {
			once := r.Text(s.text)
			if twice := r.Text(once); twice != once {
				t.Fatalf("%s: %q became %q", s.rule, once, twice)
			}
		}
	}
}

// TestR136_TheKeySaysWhatAValueIs: arguments are JSON, and what is a secret there
// may look like nothing by itself.
func TestR136_TheKeySaysWhatAValueIs(t *testing.T) {
	r := lazily(Options{})
	for in, want := range map[string]string{
		`{"password":"kT4#pw9Lq2"}`:                                 `{"password":"[secret:password]"}`,
		`{"db" : {"Password" : "kT4#pw9Lq2", "user":"kT4#pw9Lq2"}}`: `{"db" : {"Password" : "[secret:password]", "user":"kT4#pw9Lq2"}}`,
		`{"api_key":"0Jd8sKq2LmXv93TzBf71"}`:                        `{"api_key":"[secret:secret]"}`,
		`{"api_key":["0Jd8sKq2LmXv93TzBf71"]}`:                      `{"api_key":["0Jd8sKq2LmXv93TzBf71"]}`,
		`{"password":"see the docs","token":"next"}`:                `{"password":"see the docs","token":"next"}`,
		`{"tokens":"0Jd8sKq2 LmXv93TzBf71"}`:                        `{"tokens":"0Jd8sKq2 LmXv93TzBf71"}`,
		`{"digest":"0Jd8sKq2LmXv93TzBf71","x":"y"}`:                 `{"digest":"0Jd8sKq2LmXv93TzBf71","x":"y"}`,
	} {
		if got := string(r.Bytes([]byte(in))); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func TestMarks(t *testing.T) {
	for text, want := range map[string]map[string]int{
		"":                                       nil,
		"a [b] [secret] [secret:] [secret:a b]":  nil,
		"x[secret:jwt:ab3de]y[secret:jwt:ab3de]": {"[secret:jwt:ab3de]": 2},
		"[redacted:A_KEY] [redacted] [redactedx]":   {"[redacted:A_KEY]": 1, "[redacted]": 1},
		"[[secret:private-key]":                     {"[secret:private-key]": 1},
		"[secret:" + strings.Repeat("a", 200) + "]": nil,
	} {
		if d := cmp.Diff(want, Marks(text)); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
}

// TestHeldDummiesStay: what people write where no key is needed is no secret, and
// stands in texts for its own sake.
func TestHeldDummiesStay(t *testing.T) {
	for _, value := range []string{"not-needed", "NOT_NEEDED", "no-key-required", "sk-no-key-required", "lm-studio", "dummy-key", "xxxxxxxx", "your-api-key", "<your-api-key>", "placeholder", "short", "12345678"} {
		if got := lazily(Options{Held: map[string]string{"K": value}}).Text("a " + value + " b"); strings.Contains(got, "redacted") {
			t.Errorf("%q is looked for", value)
		}
	}
	for _, value := range []string{"swordfish", "correct-horse-battery", "kT4#pw9Lq2", "not-needed-but-long-and-9"} {
		if got := lazily(Options{Held: map[string]string{"K": value}}).Text("a " + value + " b"); got != "a [redacted:K] b" {
			t.Errorf("%q is not looked for: %q", value, got)
		}
	}
}

package shell

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWordsOfOneSimpleCommand(t *testing.T) {
	for line, want := range map[string][]string{
		`cat a.txt`:                    {"cat", "a.txt"},
		"  ls   -la\t'my dir' # all\n": {"ls", "-la", "my dir"},
		`grep -n "a b"'c'd "" x`:       {"grep", "-n", "a bcd", "", "x"},
		"cat a; cat b":                 nil,
		"cat a\ncat b":                 nil,
		"cat a | wc":                   nil,
		"cat <a":                       nil,
		"cat a >b":                     nil,
		"cat a &":                      nil,
		"! cat a":                      nil,
		"X=1 cat a":                    nil,
		"X=1":                          nil,
		"(cat a)":                      nil,
		`cat $HOME/a`:                  nil,
		`cat "$HOME"`:                  nil,
		"cat ~/a":                      nil,
		"cat *.go":                     nil,
		"cat a{b,c}":                   nil,
		`cat a\ b`:                     nil,
		`cat "a\$b"`:                   nil,
		`cat $'a\n'`:                   nil,
		`cat $"a"`:                     nil,
		"cat $(ls)":                    nil,
		"cat `ls`":                     nil,
		"cat <(ls)":                    nil,
		"cat 'a":                       nil,
		"":                             nil,
		"# nothing":                    nil,
		"cat a\r":                      nil,
	} {
		got, ok := Words(line)
		if ok != (want != nil) || !cmp.Equal(got, want) {
			t.Errorf("%q: %q, %t, want %q", line, got, ok, want)
		}
	}
}

// What Words says is what bash makes of it.
func FuzzWords(f *testing.F) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Skip("no bash")
	}
	for _, s := range []string{"cat a.txt", `ls 'a b' "c d"e`, "a#b #c", `"a'b" 'c"d'`, "a\tb", "if a", "a=b c", "a!b", "%1 a", "time a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, ok := Words(line)
		if !ok || strings.ContainsAny(line, "\n") {
			return
		}
		c := exec.Command(bash, "--noprofile", "--norc", "-c", `set -f; f() { printf '%s\0' "$@"; }; eval "f $1"`, "bash", line)
		c.Env = []string{}
		out, err := c.Output()
		if err != nil {
			t.Fatalf("bash does not read %q: %v", line, err)
		}
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !cmp.Equal(got, words) {
			t.Errorf("%q: %q, bash has %q", line, words, got)
		}
	})
}

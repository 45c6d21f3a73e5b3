package shell_test

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/shell"
)

func corpus(t testing.TB) (lines []string) {
	t.Helper()
	f, err := os.Open("testdata/shell-policy.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		var l struct{ Cmd string }
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l.Cmd)
	}
	return lines
}

// includes reports a part of line that all lacks, or that does less there. What is
// wrong with a line as a whole is said of the whole.
func includes(all, these []tool.Part, line string) (lacking tool.Part, ok bool) {
	byName := make(map[string]effect.Set)
	for _, p := range all {
		byName[p.Name] = append(byName[p.Name], p.Effects...)
	}
	for _, p := range these {
		if p.Name == line && strings.ContainsFunc(line, unicode.IsControl) {
			continue
		}
		if in, there := byName[p.Name]; !there || !in.Covers(p.Effects) {
			return p, false
		}
	}
	return tool.Part{}, true
}

// A script that goes on after a line does all that the line does, and more: of
// 4000 pairs of chance, others in each run, and in the soak of 20,000.
func TestPromise_P17_ScriptsIncludeTheirLines(t *testing.T) {
	dice := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	lines := corpus(t)
	checked, pairs := 0, 4000
	if soak {
		pairs = 20_000
	}
	for range pairs {
		a, b := lines[dice.IntN(len(lines))], lines[dice.IntN(len(lines))]
		before, err := shell.Parts(a, world())
		if err != nil {
			continue
		}
		after, err := shell.Parts(b, world())
		if err != nil {
			continue
		}
		both, err := shell.Parts(a+"\n"+b, world())
		if err != nil {
			continue // a here-document took the rest
		}
		checked++
		if p, ok := includes(both, before, a); !ok {
			t.Fatalf("%q\n%q\nlacks of the first %v\n%v", a, b, told([]tool.Part{p}), told(both))
		}
		if strings.Contains(b, "$") || moves(a) {
			continue // what the second is hangs on the first
		}
		if p, ok := includes(both, after, b); !ok {
			t.Fatalf("%q\n%q\nlacks of the second %v\n%v", a, b, told([]tool.Part{p}), told(both))
		}
	}
	if checked < pairs/2 {
		t.Errorf("only %d pairs", checked)
	}
}

// moves reports whether where a later line is, is no more known.
func moves(line string) bool {
	parts, _ := shell.Parts(line+"\ncat a.txt", world())
	for _, p := range parts {
		if p.Name == "cat a.txt" {
			return !p.Effects.Covers(effect.Set{{Kind: effect.Read, On: "a.txt"}})
		}
	}
	return true
}

// FuzzParts: no line makes Parts panic, forget what was there when more is
// appended, or miss that it understands nothing.
func FuzzParts(f *testing.F) {
	for i, line := range corpus(f) {
		if i%7 == 0 {
			f.Add(line, "; rm b.txt")
		}
	}
	f.Add("cat <<E", "\n$(rm a)\nE\n")
	f.Add("{,{,}}", "9")
	f.Add("{ echo cd src; printf 'rm %s\\n' a; cat; } <<< 'rm b' | bash -s", "git -c a=b -C src commit")
	f.Fuzz(func(t *testing.T, line, more string) {
		parts, err := shell.Parts(line, world())
		if err != nil {
			for _, p := range parts {
				for _, e := range p.Effects {
					if e.Kind == effect.Anything {
						return
					}
				}
			}
			t.Fatalf("%q is no script (%v), and bounded: %v", line, err, told(parts))
		}
		control := func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }
		if len(line) > 1<<10 || strings.ContainsFunc(line, control) || strings.Contains(line, "<<") || strings.HasSuffix(line, `\`) || strings.Contains(line, "#") {
			return // what is appended may be a part of it
		}
		all, err := shell.Parts(line+"\n"+more, world())
		if err != nil {
			return
		}
		if p, ok := includes(all, parts, line); !ok {
			t.Fatalf("%q and %q lacks %v: %v", line, more, told([]tool.Part{p}), told(all))
		}
	})
}

// TestPromise_P17_BytesThatChange is the fuzzer's work with fixed effort: bytes of
// the corpus that are changed, lost or put in make nothing panic. They are 15,000
// lines, others in each run, and in the soak 50,000.
func TestPromise_P17_BytesThatChange(t *testing.T) {
	dice := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	lines := corpus(t)
	const strange = "\x00\r\n\t \"'`$(){}[]<>|&;#!*?~\\=-\x80\xff\x1bEOF"
	w := world()
	rounds := 15_000
	if soak {
		rounds = 50_000
	}
	for range rounds {
		line := []byte(lines[dice.IntN(len(lines))])
		for range 1 + dice.IntN(3) {
			at := dice.IntN(len(line) + 1)
			switch c := strange[dice.IntN(len(strange))]; dice.IntN(3) {
			case 0:
				line = append(line[:at:at], append([]byte{c}, line[at:]...)...)
			case 1:
				line = append(line[:at:at], line[min(at+1, len(line)):]...)
			default:
				if at < len(line) {
					line[at] = c
				}
			}
		}
		parts, err := shell.Parts(string(line), w)
		if err != nil && len(parts) == 0 {
			t.Fatalf("%q has no parts: %v", line, err)
		}
	}
}

func BenchmarkParts(b *testing.B) {
	w, lines := world(), corpus(b)
	for _, bench := range []struct {
		name  string
		lines []string
	}{
		{"corpus", lines},
		{"ls", []string{"ls -la src"}},
		{"go", []string{"go test -race -run 'TestX' ./internal/..."}},
		{"git", []string{"git log --oneline -5"}},
		{"pipeline", []string{"cd src && grep -rn 'func main' . | head -20 && wc -l main.go"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_, _ = shell.Parts(bench.lines[i%len(bench.lines)], w)
			}
		})
	}
}

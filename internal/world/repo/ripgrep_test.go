package repo

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// goDir asks go where something is.
func goDir(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func open(t testing.TB, dir string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// ripgrep returns rg with env, if it is there.
func ripgrep(t testing.TB, env []string) *Ripgrep {
	t.Helper()
	host, err := process.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	if _, err := process.Look("rg", env); err != nil {
		t.Skip("no rg: ", err)
	}
	return &Ripgrep{Host: host, Env: env}
}

// readings are patterns that two engines could read in two ways.
var readings = []string{
	`\w{5}\s+\w{5}\s+\w{5}`, `[0-9]{3}-[0-9]{4}`, `(?i)k\b`, `\bé`, `[^\x00-\x7F]`, `\d+$`, `^\s*$`, `\Bx\B`, `(?i)[ſ-ƀ]`,
	`\pL\PL\pL`, `\p{Greek}`, `[[:alpha:]&&b]`, `[+--]`, `[~~!]`, `[\[\]]`, `\Q.*\E`, `(?U)a+b?`, `(?s).`, `(?-s).x`, `x{0}y`,
	`a{2,3}?`, `^\t+\}$`, `\Aimport`, `\x{1F600}`, `\a|\f|\v`, `(?i)straße`, `(?P<n>a|b)c`, `[^a-z]q[^a-z]`, `.{200}`, `\r`, `.$`,
	`[^\n]\n|z{3}`, `#`, `-`, `\z`, `|`, `(?:)`, `[^\x00-\x{10FFFF}]`, `\w+\(\w+\) \w+ \{$`, `"\s*\+\s*"`, `/\*.*\*/`, `(?i)TODO\(\w+\)`,
}

// Whatever rg makes of a pattern, it rules out no file with a hit, on real code
// in many languages; and it does rule out files.
func TestR096_RipgrepRulesOutNoHit(t *testing.T) {
	rg := ripgrep(t, os.Environ())
	ruledOut := 0
	for _, dir := range []string{
		filepath.Join(goDir(t, "env", "GOROOT"), "src", "internal"),
		goDir(t, "list", "-m", "-f", "{{.Dir}}", "golang.org/x/text"),
	} {
		w := open(t, dir)
		l := w.Loader()
		all := smallest(t, w, sieveLeast+40)
		picks := make([]map[string]bool, len(readings))
		var matchers []*matcher
		for i, pattern := range readings {
			m, err := newMatcher(pattern, 0)
			if err != nil {
				t.Fatal(err)
			}
			matchers = append(matchers, m)
			s := rg.sieveFor(w, m)
			if s == nil {
				t.Fatal("rg is not used")
			}
			picks[i] = make(map[string]bool)
			for _, f := range s.pick(t.Context(), all) {
				picks[i][f.Path] = true
			}
			ruledOut += len(all) - len(picks[i])
		}
		for _, f := range all {
			text, _, err := l.Load(f)
			for i, m := range matchers {
				switch {
				case picks[i][f.Path]:
				case err != nil:
					t.Errorf("rg rules out %s, which is %v", f.Path, err)
				case len(text) > 0 && m.re.Match(bytes.TrimSuffix(text, []byte("\n"))): // of one line each
					t.Errorf("rg rules out %s for %s; it has %q", f.Path, readings[i], m.re.Find(text))
				}
			}
		}
	}
	if ruledOut == 0 {
		t.Error("rg ruled out nothing")
	}
}

// smallest returns the n smallest files of w: the engine is slow.
func smallest(t testing.TB, w *workspace.Workspace, n int) []workspace.File {
	t.Helper()
	var all []workspace.File
	sizes := make(map[string]int64)
	for f, err := range w.Files(t.Context(), ".") {
		if err != nil || f.Target != "" {
			continue
		}
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		all, sizes[f.Path] = append(all, f), info.Size()
	}
	if len(all) < n {
		t.Fatalf("%s has %d files", w.Root(), len(all))
	}
	slices.SortFunc(all, func(a, b workspace.File) int { return cmp.Compare(sizes[a.Path], sizes[b.Path]) })
	return all[:n]
}

// crowd makes more files than it takes to start rg: one in ten has a hit, some
// are no ASCII.
func crowd(t testing.TB) *workspace.Workspace {
	dir := t.TempDir()
	for i := range 2 * sieveLeast {
		text := fmt.Sprintf("file %d\nno hit\n", i)
		switch {
		case i%10 == 0:
			text += "12-34\n"
		case i%11 == 0:
			text += "é 1-1\r\n"
		case i%13 == 0:
			text += "5-6\x00"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("-f %d\n", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, dir)
}

// The answer is the same with rg, without it, and with one that fails, lies or
// cannot be started: what it does not say as expected does not count.
func TestR096_SearchFallsBackByItself(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts have no other start there")
	}
	w := crowd(t)
	search := Search{Pattern: `\d-\d`, Path: ".", Limit: 1_000, Context: 1}
	without, err := search.Run(t.Context(), w)
	if err != nil || without.Total == 0 || without.Binary == 0 || without.Searched+without.Binary != 2*sieveLeast {
		t.Fatalf("%+v, %v", without, err)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	for name, script := range map[string]string{
		"ripgrep":      "", // the real one, if there is one
		"none":         "-",
		"fails":        "exit 2",
		"complains":    "echo 'rg: no such option' >&2; exit 2",
		"finds none":   "exit 1",
		"unasked file": `printf './elsewhere\0'`,
		"not to end":   `printf './-f 1'`,
		"out of order": `printf './-f 10\n\0./-f 0\n\0'`,
		"killed":       "kill -9 $$",
		"no program":   "\x7FELF",
	} {
		env := []string{"PATH=" + t.TempDir()}
		switch dir := env[0][len("PATH="):]; script {
		case "":
			env = os.Environ()
			if _, err := process.Look("rg", env); err != nil {
				continue
			}
		case "-":
		default:
			text := "#!/bin/sh\necho x >>" + ran + "\n" + script + "\n"
			if name == "no program" {
				text = script
			}
			if err := os.WriteFile(filepath.Join(dir, "rg"), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		host, err := process.Open("")
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(ran)
		search.Ripgrep = &Ripgrep{Host: host, Env: env}
		with, err := search.Run(t.Context(), w)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := host.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(ran); (err == nil) != (script != "" && script != "-" && name != "no program") {
			t.Errorf("%s: was it started? %v", name, err)
		}
		d := diff.Diff(without, with)
		if name == "finds none" { // that is believed, so that this test can tell
			if with.Total != 0 || with.Searched != 2*sieveLeast {
				t.Errorf("rg that finds nothing: %d hits in %d files", with.Total, with.Searched)
			}
		} else if d != "" {
			t.Errorf("%s (-without rg +with it):\n%s", name, d)
		}
	}
}

// Rg is left alone where we are faster, and where it is not worth a start.
func TestR098_RipgrepIsForPatternsWithoutText(t *testing.T) {
	rg := ripgrep(t, os.Environ())
	w := crowd(t)
	for pattern, want := range map[string]bool{"file": false, `(?i)file \d`: false, `\d+`: true, `\d-\d`: true, `a|\w+`: true} {
		m, err := newMatcher(pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := rg.sieve(w, m) != nil; got != want {
			t.Errorf("rg is used for %s: %t, want %t", pattern, got, want)
		}
	}
	if (*Ripgrep)(nil).sieve(w, nil) != nil {
		t.Error("no rg is used")
	}
}

// Hits in any order of arrival are kept as if they had been sorted, and no more
// of them than can be returned.
func TestR097_R102_TallyKeepsTheFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		tl := &tally{want: 1 + rng.IntN(30)}
		var all []result
		for i := range rng.IntN(60) {
			r := result{path: fmt.Sprint(i), modified: time.Unix(int64(rng.IntN(9)), 0), total: rng.IntN(6)}
			for n := range min(r.total, tl.want) {
				r.hits = append(r.hits, Hit{Line: n + 1})
			}
			all = append(all, r)
		}
		total, most := 0, 0
		for _, r := range all {
			r.hits = r.hits[:min(len(r.hits), tl.wants(r))]
			tl.add(r)
			total += r.total
			most = max(most, len(tl.first))
		}
		if most > tl.want+1 {
			t.Fatalf("%d files are kept for %d hits", most, tl.want)
		}
		slices.SortFunc(all, result.compare)
		skip := rng.IntN(tl.want)
		limit := tl.want - skip
		var want, got []string
		for _, r := range all {
			for n := range r.total {
				want = append(want, fmt.Sprint(r.path, ":", n+1))
			}
		}
		want = want[min(skip, len(want)):min(skip+limit, len(want))]
		hits := tl.page(skip, limit)
		for _, f := range hits.Files {
			for _, h := range f.Hits {
				got = append(got, fmt.Sprint(f.Path, ":", h.Line))
			}
		}
		if !slices.Equal(want, got) || hits.Total != total || hits.Shown != len(got) {
			b, _ := json.Marshal(hits)
			t.Fatalf("hits %d to %d are %v, want %v; %s", skip, skip+limit, got, want, b)
		}
	}
}

//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/shell"
	"github.com/belay-agent/belay/internal/toolbox"
	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A corpusLine is a command line and what is known to be true of it.
type corpusLine struct {
	ID, Cmd string
	Auto    string `json:"ro_auto"` // yes, hardened, either, no
	Effects struct {
		Writes                              []string
		Network, Exec, Process, Destructive bool
		Git                                 string
	}
}

const corpusDir = "../decide/shell/testdata"

func corpus(t testing.TB) (lines []corpusLine) {
	t.Helper()
	f, err := os.Open(filepath.Join(corpusDir, "shell-policy.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		var l corpusLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if len(lines) != 578 {
		t.Fatalf("%d lines", len(lines))
	}
	return lines
}

// explain returns what belay policy explain --json prints of a line in root, and
// whether it took the line for a call at all.
func explain(t *testing.T, root, line string) (x explanation, ok bool) {
	t.Helper()
	var out, errs bytes.Buffer
	status := Main(System{
		Args: []string{"policy", "explain", "--json", "--dir", root, line}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Environ: []string{"HOME=" + t.TempDir(), "PATH=/usr/local/bin:/usr/bin:/bin"},
	})
	if status == exitUsage {
		return x, false
	}
	if status != 0 {
		t.Fatalf("%q: status %d: %s", line, status, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &x); err != nil {
		t.Fatal(err)
	}
	return x, true
}

// TestPromise_P17_NothingButReadingPassesByItself is the score of the corpus by
// the verdicts that belay policy explain prints. (R146, R148)
func TestPromise_P17_NothingButReadingPassesByItself(t *testing.T) {
	root := fixture(t)
	total, allowed := map[string]int{}, map[string]int{}
	for _, l := range corpus(t) {
		x, ok := explain(t, root, l.Cmd)
		passes := ok && x.Verdict == policy.Allow.String()
		total[l.Auto]++
		switch {
		case passes && l.Auto == "no":
			t.Errorf("%s passes: %q %+v", l.ID, l.Cmd, x.Parts)
		case passes && l.Auto == "hardened" && x.Profile != shell.Hardened:
			t.Errorf("%s passes, held by %q: %q", l.ID, x.Profile, l.Cmd)
		case !passes && (l.Auto == "yes" || l.Auto == "hardened"):
			t.Logf("%s is asked about: %q %s", l.ID, l.Cmd, x.Reason)
		}
		if passes {
			allowed[l.Auto]++
		}
	}
	for _, kind := range []string{"yes", "hardened"} {
		if 100*allowed[kind] < 95*total[kind] {
			t.Errorf("of %d lines that only read (%s), %d pass", total[kind], kind, allowed[kind])
		}
	}
	t.Logf("passed %v of %v", allowed, total)
}

// judgeIn returns what decides about lines in root, in mode ask.
func judgeIn(t testing.TB, root string) func(line string) policy.Verdict {
	t.Helper()
	world, spec := worldOf(t, root)
	return func(line string) policy.Verdict {
		parts, _ := shell.Parts(line, world)
		return policy.Policy{Mode: policy.ModeAsk, Root: root}.Decide(spec, parts).Verdict
	}
}

func worldOf(t testing.TB, root string) (shell.World, tool.Spec) {
	t.Helper()
	w, err := workspace.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	o := toolbox.BashOptions{Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, Shell: []string{"/bin/bash"}}
	return toolbox.World(w, o), toolbox.Bash(nil, o).Spec()
}

// TestPromise_P17_NoMutantPasses: whatever a line is wrapped in. The usual run
// tries a third of the mutants, of each line others; the soak tries them all.
func TestPromise_P17_NoMutantPasses(t *testing.T) {
	judge := judgeIn(t, fixture(t))
	dice := rand.New(rand.NewPCG(17, 2))
	n, every, least := 0, 1, 35_000
	if mutantsSampled {
		every, least = 3, 12_000
	}
	for nth, l := range corpus(t) {
		if l.Auto != "no" {
			continue
		}
		for i, line := range mutants(dice, l.Cmd) {
			if (i+nth)%every != 0 {
				continue
			}
			if n++; judge(line) == policy.Allow {
				t.Errorf("%s passes: %q", l.ID, line)
			}
		}
	}
	if n < least {
		t.Errorf("only %d mutants", n)
	}
	t.Logf("%d mutants", n)
}

// own returns the lines of a set of our own: what must and what should pass.
func own(t testing.TB, name string) (no, yes []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpusDir, name))
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(b)) {
		kind, line, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
		if strings.HasPrefix(line, `"`) && strings.HasSuffix(line, `"`) {
			if unquoted, err := unquote(line); err == nil {
				line = unquoted
			}
		}
		switch kind {
		case "no":
			no = append(no, line)
		case "yes":
			yes = append(yes, line)
		default:
			t.Fatalf("%s: %q", name, text)
		}
	}
	return no, yes
}

func unquote(line string) (text string, err error) {
	err = json.Unmarshal([]byte(strings.ReplaceAll(strings.ReplaceAll(line, `\x`, `\u00`), `\a`, `\u0007`)), &text)
	return text, err
}

// TestPromise_P17_LinesOfOurOwn were written before the code was tuned on any
// line (first), and once it was (second).
func TestPromise_P17_LinesOfOurOwn(t *testing.T) {
	judge := judgeIn(t, fixture(t))
	for _, name := range []string{"first.txt", "second.txt"} {
		no, yes := own(t, name)
		if len(no) < 100 || len(yes) < 50 {
			t.Errorf("%s has %d and %d lines", name, len(no), len(yes))
		}
		for _, line := range no {
			if judge(line) == policy.Allow {
				t.Errorf("%s: %q passes", name, line)
			}
		}
		passed := 0
		for _, line := range yes {
			if judge(line) == policy.Allow {
				passed++
			} else {
				t.Logf("%s: %q is asked about", name, line)
			}
		}
		if 100*passed < 90*len(yes) {
			t.Errorf("%s: of %d lines that only read, %d pass", name, len(yes), passed)
		}
	}
}

// unproven are the lines of the corpus that destroy something which no parse
// shows: the words are put together at run time, or are in another language.
var unproven = []string{
	"ed a.txt <<< $'1d\\nw\\nq'", "ex -sc '%d|x' a.txt", "fd -X rm", "rm${IFS}a.txt", "$(echo rm) a.txt", "`echo rm` a.txt",
	"f=(rm a.txt); \"${f[@]}\"", ":(){ :|:& };:", "emacs --batch --eval '(delete-file \"a.txt\")'", "find . $(echo -delete)",
	"perl -e 'unlink \"a.txt\"'", "/bin/r? a.txt",
}

// overwritten are the lines that destroy no more than a file of the workspace by
// writing it, which undo brings back, as git stash pop does what was put away.
var overwritten = []string{"git stash", "> README.md", "cat a.txt >| b.txt", "sort -o list.txt list.txt", "sed -ni p a.txt"}

// TestPromise_P17_EffectsAreALowerBound: what a line does is among the effects
// that are derived of it. effect.Anything covers all but what cannot be undone.
func TestPromise_P17_EffectsAreALowerBound(t *testing.T) {
	world, _ := worldOf(t, fixture(t))
	for _, l := range corpus(t) {
		if l.Auto != "no" {
			continue
		}
		parts, _ := shell.Parts(l.Cmd, world)
		var all effect.Set
		for _, p := range parts {
			all = append(all, p.Effects...)
		}
		can := func(k effect.Kind) bool {
			return slices.ContainsFunc(all, func(e effect.Effect) bool { return e.Kind == k || e.Kind == effect.Anything && k != effect.Permanent })
		}
		lacks := func(what string) { t.Errorf("%s: %q lacks %s: %v", l.ID, l.Cmd, what, all) }
		if l.Effects.Destructive && !can(effect.Permanent) && !slices.Contains(unproven, l.Cmd) && !slices.Contains(overwritten, l.Cmd) {
			lacks("permanent")
		}
		if l.Effects.Network && !can(effect.Network) {
			lacks("network")
		}
		opened := len(parts) > 0 && !strings.HasPrefix(l.Cmd, parts[0].Name) // what a wrapper runs is a part of its own
		if (l.Effects.Exec || l.Effects.Process) && !can(effect.Process) && !opened {
			lacks("process")
		}
		inGit := slices.ContainsFunc(all, func(e effect.Effect) bool { return e.Kind == effect.Write && strings.HasPrefix(e.On, ".git") })
		if l.Effects.Git == "mutate" && !can(effect.Git) && !inGit {
			lacks("git")
		}
		for _, w := range l.Effects.Writes {
			w = strings.TrimSuffix(w, "/")
			if !all.Covers(effect.Set{{Kind: effect.Write, On: w}}) && !(strings.HasPrefix(w, ".git") && can(effect.Git)) {
				lacks("write " + w)
			}
		}
	}
}

// TestPromise_P17_HardenedGitRunsAndWritesNothing runs the git commands that pass,
// as Bash would, where the index is out of date and in a repository that names
// programs: nothing that it names may run, and no file may change.
func TestPromise_P17_HardenedGitRunsAndWritesNothing(t *testing.T) {
	root := fixture(t)
	for _, name := range []string{"a.txt", "README.md"} { // git would note in its index that it has looked again
		if err := os.Chtimes(filepath.Join(root, name), fixtureTime, fixtureTime); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"post-index-change", "reference-transaction", "pre-auto-gc"} {
		at := filepath.Join(root, ".git", "hooks", name)
		if err := os.WriteFile(at, []byte("#!/bin/sh\ntouch "+root+"/pwn\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h, err := process.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	environ := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "GIT_EXTERNAL_DIFF=touch pwn", "GIT_PAGER=touch pwn", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=touch pwn"}
	world, _ := worldOf(t, root)
	ran := 0
	for _, l := range corpus(t) {
		if l.Auto != "hardened" {
			continue
		}
		parts, _ := shell.Parts(l.Cmd, world)
		env, profile := shell.Environ(parts, environ)
		if profile != shell.Hardened {
			t.Errorf("%q is not hardened: %+v", l.Cmd, parts)
			continue
		}
		for _, dir := range []string{root, filepath.Join(root, "evil")} {
			before := treeOf(t, root)
			e, err := h.Run(t.Context(), process.Command{
				Argv: []string{"/bin/bash", "--noprofile", "--norc", "-c", l.Cmd}, Dir: dir, Env: env, Keep: 1 << 10,
			})
			if err != nil {
				t.Fatal(err)
			}
			if e.Code != 0 && dir == root && l.Cmd != "git check-ignore -v foo.log" { // which says so that it is not ignored
				t.Errorf("%q: exit status %d: %s", l.Cmd, e.Code, e.Tail)
			}
			if after := treeOf(t, root); !maps.Equal(before, after) {
				t.Errorf("%q in %s changed something", l.Cmd, dir)
			}
			ran++
		}
	}
	if ran != 40 {
		t.Errorf("%d runs", ran)
	}
}

// treeOf returns all files below root, with what would change if one was written.
func treeOf(t *testing.T, root string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[at] = info.Mode().String() + " " + info.ModTime().String()
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(at)
			files[at] += string(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// BenchmarkVerdict is what a command costs before it runs: its parse, what it
// hangs on in the file system, and the verdict.
func BenchmarkVerdict(b *testing.B) {
	judge := judgeIn(b, fixture(b))
	lines := corpus(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		judge(lines[i%len(lines)].Cmd)
	}
}

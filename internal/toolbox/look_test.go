package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/repo"
)

// yard is a tree with everything that a search treats in its own way.
func yard(t testing.TB) *desk {
	d := newDesk(t, map[string]string{
		"a.go":              "package a // needle\n",
		".b.go":             "package b // needle\n",
		".dot/c.go":         "package c // needle\n",
		".github/w.yml":     "on: needle\n",
		".git/config":       "needle\n",
		"sub/.git/config":   "needle\n",
		"sub/d.go":          "package d\n",
		"sub/deep/e.md":     "needle\n",
		"node_modules/x.go": "needle\n",
		"blob.bin":          "needle\x00",
		".gitignore":        "node_modules/\n",
	})
	for link, target := range map[string]string{"broken": "missing", "sub/up": "..", "to-a.go": "a.go"} {
		if err := os.Symlink(target, filepath.Join(d.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestR040_R093_LSListsADirectory(t *testing.T) {
	d := yard(t)
	r := d.ok("LS", args{})
	const text = "a.go\nblob.bin\nbroken -> (nowhere in the workspace)\nsub/\nto-a.go -> a.go\n(not listed: 5 hidden, 1 ignored by git)\n"
	if d := cmp.Diff(text, r.Text); d != "" {
		t.Errorf("text (-want +got):\n%s", d)
	}
	want := lsData{
		Path: ".", Total: 5, Hidden: 5, Ignored: 1,
		Entries: []entry{
			{Name: "a.go", Type: "file"}, {Name: "blob.bin", Type: "file"}, {Name: "broken", Type: "link"},
			{Name: "sub", Type: "directory"}, {Name: "to-a.go", Type: "link", Target: "a.go"},
		},
	}
	if d := cmp.Diff(want, facts[lsData](t, r)); d != "" {
		t.Errorf("data (-want +got):\n%s", d)
	}
	if r := d.ok("LS", args{"path": ".github"}); r.Text != "w.yml\n" {
		t.Errorf("a hidden directory that is asked for: %q", r.Text)
	}
	if r := d.ok("LS", args{"path": "node_modules"}); !strings.HasPrefix(r.Text, "x.go\n") {
		t.Errorf("an ignored directory that is asked for: %q", r.Text)
	}
}

func TestR037_R038_R103_EmptyIsSuccessAndMissingIsNot(t *testing.T) {
	d := yard(t)
	if err := os.Mkdir(filepath.Join(d.dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r := d.ok("LS", args{"path": "empty"}); r.Text != "empty has no entries to show\n" || !strings.Contains(string(r.Data), `"entries":[]`) {
		t.Errorf("LS: %q, %s", r.Text, r.Data)
	}
	if r := d.ok("Glob", args{"pattern": "**/*.rs"}); !strings.HasPrefix(r.Text, "no file matches **/*.rs in .;") || !strings.Contains(string(r.Data), `"paths":[]`) {
		t.Errorf("Glob: %q, %s", r.Text, r.Data)
	}
	if r := d.ok("Glob", args{"pattern": "lib/**/*.go"}); !strings.Contains(r.Text, "begins with a directory that . does not have") {
		t.Errorf("Glob below what is not there: %q", r.Text)
	}
	for name, a := range map[string]args{
		"LS":   {"path": "sub/nowhere"},
		"Glob": {"path": "sub/nowhere", "pattern": "*"},
		"Grep": {"path": "sub/nowhere", "pattern": "x"},
	} {
		if f := d.fails(tool.NotFound, name, a); f.Message != "no such file or directory: sub/nowhere" || f.Hint == "" || f.Retry {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for name, a := range map[string]args{
		"LS":   {"path": "a.go"},
		"Glob": {"path": "a.go", "pattern": "*"},
	} {
		if f := d.fails(tool.NotFound, name, a); !strings.Contains(f.Message, "not a directory") {
			t.Errorf("%s of a file: %+v", name, f)
		}
	}
	d.fails(tool.OutsideWorkspace, "LS", args{"path": ".."})
	d.fails(tool.OutsideWorkspace, "Grep", args{"path": "/etc", "pattern": "x"})
	d.fails(tool.OutsideWorkspace, "Glob", args{"pattern": "../*"})
}

// One rule for all three: hidden and ignored entries show up only where they are
// asked for.
func TestBug_G05_R094_OneRuleForWhatIsHidden(t *testing.T) {
	d := yard(t)
	for pattern, want := range map[string][]string{
		"**/*.go":            {"a.go", "sub/d.go", "to-a.go"},
		"*.go":               {"a.go", "to-a.go"},
		"**/*.{go,yml}":      {"a.go", "sub/d.go", "to-a.go"},
		".github/*.yml":      {".github/w.yml"},
		"**/.github/*.yml":   {".github/w.yml"},
		".*.go":              {".b.go"},
		"**/.*.go":           {".b.go"},
		"{.dot,sub}/*.go":    {".dot/c.go", "sub/d.go"},
		".git/config":        {".git/config"},
		"**/.git/config":     {},
		"node_modules/*.go":  {"node_modules/x.go"},
		"sub/**":             {"sub/d.go", "sub/deep/e.md"},
		"sub/**/e.*":         {"sub/deep/e.md"},
		"./sub/[a-d].go":     {"sub/d.go"},
		d.dir + "/sub/*.go":  {"sub/d.go"},
		"a.go":               {"a.go"},
		"-v":                 {},
		"sub/../a.go":        {"a.go"},
		"sub/deep/../*.go":   {"sub/d.go"},
		"**/node_modules/**": {},
	} {
		r := d.ok("Glob", args{"pattern": pattern})
		if d := cmp.Diff(want, facts[globData](t, r).Paths); d != "" {
			t.Errorf("Glob(%s) (-want +got):\n%s", pattern, d)
		}
	}
	r := d.ok("Grep", args{"pattern": "needle"})
	if got := files(t, r); !slices.Equal(got, []string{"a.go", "sub/deep/e.md"}) {
		t.Errorf("Grep finds %v", got)
	}
	data := facts[grepData](t, r)
	if data.Hidden != 6 || data.Ignored != 1 || data.Binary != 1 || data.Searched != 3 {
		t.Errorf("Grep left out %d hidden, %d ignored, %d binary of %d", data.Hidden, data.Ignored, data.Binary, data.Searched)
	}
	for _, c := range []struct {
		args args
		want []string
	}{
		{args{"pattern": "needle", "path": "node_modules"}, []string{"node_modules/x.go"}},
		{args{"pattern": "needle", "path": ".git"}, []string{".git/config"}},
		{args{"pattern": "needle", "path": ".b.go"}, []string{".b.go"}},
		{args{"pattern": "needle", "file_pattern": ".*.go"}, []string{".b.go"}},
		{args{"pattern": "needle", "file_pattern": "*.md"}, []string{"sub/deep/e.md"}},
		{args{"pattern": "needle", "file_pattern": "sub/**"}, []string{"sub/deep/e.md"}},
	} {
		if got := files(t, d.ok("Grep", c.args)); !slices.Equal(got, c.want) {
			t.Errorf("Grep(%v) finds %v, want %v", c.args, got, c.want)
		}
	}
}

// What LS shows, going down from the root, is what Glob finds and Grep searches,
// and what they leave out they count alike.
func TestBug_G05_LSGlobAndGrepAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pick := func(all ...string) string { return all[rng.IntN(len(all))] }
	for range 40 {
		tree := map[string]string{"x": "needle\n"}
		for range 30 {
			dir := ""
			for range rng.IntN(4) {
				dir += pick("a", "b", ".d", "build", "keep.d", ".git", "node_modules") + "/"
			}
			tree[dir+pick("x.go", "y.log", ".z", "keep.log", "build2", "w.tmp")] = "needle\n"
			if rng.IntN(6) == 0 {
				tree[dir+".gitignore"] = pick("*.log\n!keep.log\n", "build/\n", "/a\n", "*\n!x.go\n!*/\n", "*.tmp\nnode_modules\n")
			}
		}
		d := newDesk(t, tree)
		var listed []string
		hidden, ignored := 0, 0
		var down func(dir string)
		down = func(dir string) {
			data := facts[lsData](t, d.ok("LS", args{"path": dir}))
			hidden, ignored = hidden+data.Hidden, ignored+data.Ignored
			for _, e := range data.Entries {
				if at := path.Join(dir, e.Name); e.Type == "directory" {
					down(at)
				} else {
					listed = append(listed, at)
				}
			}
		}
		down(".")
		slices.Sort(listed)
		glob := facts[globData](t, d.ok("Glob", args{"pattern": "**"}))
		grep := d.ok("Grep", args{"pattern": "needle"})
		if d := cmp.Diff(listed, glob.Paths); d != "" {
			t.Fatalf("Glob in %v (-LS +Glob):\n%s", tree, d)
		}
		if d := cmp.Diff(listed, files(t, grep)); d != "" {
			t.Fatalf("Grep in %v (-LS +Grep):\n%s", tree, d)
		}
		for _, s := range []repo.Skipped{glob.Skipped, facts[grepData](t, grep).Skipped} {
			if s.Hidden != hidden || s.Ignored != ignored {
				t.Fatalf("left out are %d hidden and %d ignored; LS says %d and %d", s.Hidden, s.Ignored, hidden, ignored)
			}
		}
	}
}

// A name that Glob does not show is no free name: nothing is written over what
// has it.
func TestBug_G05_R117_WhatGlobHidesIsNotWrittenOver(t *testing.T) {
	d := yard(t)
	for _, p := range []string{".b.go", ".dot/c.go", ".github/w.yml", ".git/config", "node_modules/x.go", ".gitignore"} {
		if slices.Contains(facts[globData](t, d.ok("Glob", args{"pattern": "**"})).Paths, p) {
			t.Fatalf("Glob shows %s", p)
		}
		before, err := os.ReadFile(filepath.Join(d.dir, p))
		if err != nil {
			t.Fatal(err)
		}
		d.fails(tool.NotRead, "Write", args{"path": p, "content": "mine\n"})
		d.holds(p, string(before))
	}
	d.fails(tool.Binary, "Write", args{"path": "blob.bin", "content": "mine\n"})
	d.holds("blob.bin", "needle\x00")
}

// files returns the files that a search hit, sorted.
func files(t *testing.T, r tool.Result) []string {
	var all []string
	for _, m := range facts[grepData](t, r).Matches {
		all = append(all, m.File)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// What Glob reads is what it declares, wherever its pattern leads.
func TestR048_GlobDeclaresWhereItsPatternLeads(t *testing.T) {
	d := yard(t)
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"pattern": "**"}, "."},
		{args{"pattern": "sub/deep/*"}, "sub/deep"},
		{args{"pattern": "../.dot/*", "path": "sub"}, ".dot"},
		{args{"pattern": d.dir + "/.github/*", "path": "sub"}, ".github"},
	} {
		a, err := d.prepare("Glob", c.args)
		if err != nil {
			t.Fatal(err)
		}
		want := effect.Set{{Kind: effect.Read, On: c.want, Tree: true}}
		if d := cmp.Diff(want, a.Effects()); d != "" || a.Parts[0].Name != c.want {
			t.Errorf("Glob(%v) declares %+v (-want +got):\n%s", c.args, a.Parts, d)
		}
	}
}

func TestR045_R102_GlobIsCut(t *testing.T) {
	tree := make(map[string]string)
	for i := range 1_100 {
		tree[fmt.Sprintf("f%04d", i)] = ""
	}
	d := newDesk(t, tree)
	r := d.call("Glob", args{"pattern": "f*"})
	data := facts[globData](t, r)
	if r.Status != tool.Partial || !data.Truncated || len(data.Paths) != 1_000 || data.Total != 1_100 || data.Paths[999] != "f0999" {
		t.Errorf("%s: %d paths of %d, truncated %t", r.Status, len(data.Paths), data.Total, data.Truncated)
	}
	if !strings.HasSuffix(r.Text, "(1000 of 1100 paths shown: narrow the pattern)\n") {
		t.Errorf("text ends in %q", r.Text[len(r.Text)-60:])
	}
	r = d.call("LS", args{})
	if ls := facts[lsData](t, r); r.Status != tool.Partial || !ls.Truncated || len(ls.Entries) != 1_000 || ls.Total != 1_100 {
		t.Errorf("LS: %s: %d entries of %d", r.Status, len(ls.Entries), ls.Total)
	}
}

func TestR013_GlobRefusesABadPattern(t *testing.T) {
	d := yard(t)
	for _, pattern := range []string{"[a", "{a,b", ""} {
		d.fails(tool.Invalid, "Glob", args{"pattern": pattern})
	}
	d.fails(tool.Invalid, "Grep", args{"pattern": "x", "file_pattern": "[a"})
	if f := d.fails(tool.Invalid, "Grep", args{"pattern": "foo(bar"}); !strings.Contains(f.Message, `pattern "foo(bar": bad regular expression: missing closing )`) || !strings.Contains(f.Message, "at offset 0") {
		t.Errorf("message %q", f.Message)
	}
	d.fails(tool.Invalid, "Grep", args{"pattern": ""})
}

func TestR014_R035_R095_R097_R100_GrepShowsTheNewestFileFirst(t *testing.T) {
	d := newDesk(t, map[string]string{
		"old.txt": "1\n2\nhit\n4\nhit\n6\n7\n8\n",
		"new.txt": "hit\n",
		"mid.txt": "x\nhit", // no newline at the end
	})
	now := time.Now()
	for i, name := range []string{"new.txt", "mid.txt", "old.txt"} {
		at := now.Add(time.Duration(-i) * time.Hour)
		if err := os.Chtimes(filepath.Join(d.dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	const want = `new.txt:1: hit
mid.txt-1- x
mid.txt:2: hit
old.txt-1- 1
old.txt-2- 2
old.txt:3: hit
old.txt-4- 4
old.txt:5: hit
old.txt-6- 6
old.txt-7- 7
(4 hits in 3 files)
`
	r := d.ok("Grep", args{"pattern": "^hit$", "context": 2})
	if d := cmp.Diff(want, r.Text); d != "" {
		t.Errorf("text (-want +got):\n%s", d)
	}
	matches := []match{{"new.txt", 1, 0, "hit"}, {"mid.txt", 2, 0, "hit"}, {"old.txt", 3, 0, "hit"}, {"old.txt", 5, 0, "hit"}}
	if d := cmp.Diff(matches, facts[grepData](t, r).Matches); d != "" {
		t.Errorf("matches (-want +got):\n%s", d)
	}
	// following next_skip gives the same hits
	var paged []match
	for next := 0; ; {
		r := d.call("Grep", args{"pattern": "hit", "limit": 3, "skip": next})
		data := facts[grepData](t, r)
		paged = append(paged, data.Matches...)
		if data.Truncated != (r.Status == tool.Partial) || data.Total != 4 {
			t.Errorf("skip %d: %s, truncated %t, total %d", next, r.Status, data.Truncated, data.Total)
		}
		if next = data.Next; next == 0 {
			break
		}
	}
	if d := cmp.Diff(matches, paged); d != "" {
		t.Errorf("pages (-want +got):\n%s", d)
	}
}

func TestR041_R101_NothingFoundNothingSearchedAndNotAllSearched(t *testing.T) {
	d := yard(t)
	for _, c := range []struct {
		args   args
		status tool.Status
		says   string
	}{
		{args{"pattern": "absent"}, tool.Success, "no line matches in 3 files searched\n(not searched: 6 hidden, 1 ignored by git, 1 binary)\n"},
		{args{"pattern": "x", "file_pattern": "*.rs"}, tool.Success, "nothing was searched: there is no text file to search in .\n(not searched: 6 hidden, 1 ignored by git)\n"},
		{args{"pattern": "x", "path": "blob.bin"}, tool.Success, "nothing was searched: there is no text file to search in blob.bin\n(not searched: 1 binary)\n"},
		{args{"pattern": "package", "limit": 1, "path": "sub"}, tool.Success, "sub/d.go:1: package d\n(1 hit in 1 file)\n(not searched: 1 hidden)\n"},
		{args{"pattern": "package", "skip": 9, "path": "a.go"}, tool.Success, "there are no more hits: 1 in all\n"},
		{args{"pattern": ".", "limit": 1, "path": "sub"}, tool.Partial, "(hits 1 to 1 of 2 in 2 files: narrow the search, or go on with skip 1)\n(not searched: 1 hidden)\n"},
	} {
		r := d.call("Grep", c.args)
		if r.Status != c.status || !strings.HasSuffix(r.Text, c.says) {
			t.Errorf("Grep(%v): %s, %q; want %s, %q", c.args, r.Status, r.Text, c.status, c.says)
		}
	}
}

func TestR099_GrepChoosesByLanguageGlobAndDirectory(t *testing.T) {
	d := newDesk(t, map[string]string{
		"a.go": "hit\n", "b.py": "hit\n", "c.pyi": "hit\n", "Makefile": "hit\n", "sub/e.go": "hit\n", "sub/f.mk": "hit\n",
		"go": "hit\n", "py/g.txt": "hit\n", "h.h": "hit\n", "sub/i_test.go": "hit\n",
	})
	for _, c := range []struct {
		args args
		want []string
	}{
		{args{"language": "go"}, []string{"a.go", "sub/e.go", "sub/i_test.go"}},
		{args{"language": "Python"}, []string{"b.py", "c.pyi"}},
		{args{"language": "py"}, []string{"b.py", "c.pyi"}},
		{args{"language": "make"}, []string{"Makefile", "sub/f.mk"}},
		{args{"language": "c++"}, []string{"h.h"}},
		{args{"language": "rust"}, nil},
		{args{"language": "go", "path": "sub"}, []string{"sub/e.go", "sub/i_test.go"}},
		{args{"language": "go", "file_pattern": "*_test.*"}, []string{"sub/i_test.go"}},
		{args{"file_pattern": "sub/*"}, []string{"sub/e.go", "sub/f.mk", "sub/i_test.go"}},
		{args{"path": "py"}, []string{"py/g.txt"}},
	} {
		c.args["pattern"] = "hit"
		if got := files(t, d.ok("Grep", c.args)); !slices.Equal(got, c.want) {
			t.Errorf("Grep(%v) finds %v, want %v", c.args, got, c.want)
		}
	}
	f := d.fails(tool.Invalid, "Grep", args{"pattern": "hit", "language": "cobol"})
	if f.Message != "language cobol: unknown language" || !strings.Contains(f.Hint, " c++, ") {
		t.Errorf("an unknown language: %+v", f)
	}
}

// No match spans lines; what could only do so is refused, with the way out.
func TestR101_PatternsOfSeveralLinesAreRefused(t *testing.T) {
	d := newDesk(t, map[string]string{"f": "foo\nbar\n"})
	for _, pattern := range []string{`foo\nbar`, `foo\n`, "foo\nbar", `(foo\n)+`, `o\nb|o\nc`} {
		f := d.fails(tool.Invalid, "Grep", args{"pattern": pattern})
		if !strings.Contains(f.Message, "a match must lie within one line") || f.Hint != "search for one of the lines, with context around it" {
			t.Errorf("Grep(%q): %+v", pattern, f)
		}
	}
	for pattern, want := range map[string]int{`(?s)foo.bar`: 0, `foo\s*bar`: 0, `foo(\n|$)`: 1, `(?m)^foo$`: 1, `\Afoo\z`: 1, `\Abar`: 1} {
		if got := facts[grepData](t, d.ok("Grep", args{"pattern": pattern})).Total; got != want {
			t.Errorf("Grep(%q): %d hits, want %d", pattern, got, want)
		}
	}
}

func TestR242_GrepSearchesAnArtifact(t *testing.T) {
	d := newDesk(t, nil)
	open := func(handle string) (io.ReadSeekCloser, error) {
		if handle != "artifact:ab12" {
			return nil, errors.New("no such artifact")
		}
		return artifact{bytes.NewReader([]byte("one\r\nerror: \xff\x00\ntwo\nerror\n"))}, nil
	}
	run := func(a string) (tool.Result, error) {
		action, err := d.tools["Grep"].Prepare(t.Context(), tool.Input{Call: "c1", Args: json.RawMessage(a), Open: open})
		if err != nil {
			return tool.Result{}, err
		}
		if len(action.Parts) != 0 || action.Summary != "Grep error in artifact:ab12" && action.Summary != "Grep x in artifact:cd" {
			t.Errorf("it touches %v: %q", action.Parts, action.Summary)
		}
		return action.Do(t.Context(), tool.Env{})
	}
	r, err := run(`{"pattern":"error","path":"artifact:ab12","context":1,"limit":1}`)
	const want = "artifact:ab12-1- one\nartifact:ab12:2: error: \uFFFD\uFFFD\nartifact:ab12-3- two\n(hits 1 to 1 of 2 in 1 file: narrow the search, or go on with skip 1)\n"
	if err != nil || r.Status != tool.Partial || r.Text != want {
		t.Errorf("%v, %s:\n%q, want\n%q", err, r.Status, r.Text, want)
	}
	if _, err := run(`{"pattern":"x","path":"artifact:cd"}`); err == nil || err.(*tool.Failure).Kind != tool.NotFound {
		t.Errorf("an artifact that is not there: %v", err)
	}
	d.fails(tool.NotFound, "Grep", args{"pattern": "x", "path": "artifact:ab12"}) // without a journal, a name like any other
}

func TestR096_GrepIsTheSameWithRipgrep(t *testing.T) {
	tree := make(map[string]string)
	for i := range 400 {
		end := []string{"\n", "\r\n", " é\n"}[i%3]
		tree[fmt.Sprintf("d%d/f%03d.txt", i%9, i)] = fmt.Sprintf("line %d%snone\n%d-%d%s", i, end, i%10, i%7, end)
	}
	tree[".hidden"], tree["bin"], tree[".gitignore"], tree["out.log"] = "1-1\n", "1-1\x00", "*.log\n", "1-1\n"
	d := newDesk(t, tree)
	host, err := process.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	if _, err := process.Look("rg", os.Environ()); err != nil {
		t.Skip("no rg: ", err)
	}
	d.tools["rg"] = Grep(d.w, d.withheld, &repo.Ripgrep{Host: host, Env: os.Environ()})
	for _, pattern := range []string{`\d-\d`, `[a-z]+ \d`, `^\w+$`, `\d{2}`, `[^ -~]`} {
		want, got := d.call("Grep", args{"pattern": pattern, "limit": 1000}), d.call("rg", args{"pattern": pattern, "limit": 1000})
		if d := cmp.Diff(want, got); d != "" || facts[grepData](t, want).Searched != 400 {
			t.Errorf("Grep(%s) (-without +with rg):\n%s", pattern, d)
		}
	}
}

// What a person sees of a call is its tool and what it is about, once.
func TestSummariesReadWell(t *testing.T) {
	d := yard(t)
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"LS", args{}, "LS ."},
		{"LS", args{"path": "sub"}, "LS sub"},
		{"Glob", args{"pattern": "**/*.go"}, "Glob **/*.go"},
		{"Glob", args{"pattern": "*.go", "path": "sub"}, "Glob *.go in sub"},
		{"Grep", args{"pattern": "func Sub"}, "Grep func Sub in ."},
		{"Grep", args{"pattern": "a\nb|x", "path": "sub/deep"}, "Grep a b|x in sub/deep"},
	} {
		a, err := d.prepare(c.tool, c.args)
		if err != nil {
			t.Fatal(err)
		}
		if a.Summary != c.want {
			t.Errorf("%s(%v) is summed up as %q, want %q", c.tool, c.args, a.Summary, c.want)
		}
	}
}

// TestSearchShowsNothingThatReadWouldAskAbout, neither by its name nor through a
// link, unless the start is such a place: that was asked about. What is denied
// there stays so.
func TestSearchShowsNothingThatReadWouldAskAbout(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": "token\n", "sub/b.pem": "token\n", "keys/c": "token\n", "keys/d.never": "token\n"})
	if err := os.Symlink("keys/c", filepath.Join(d.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args     args
		total    int
		withheld int
	}{
		{args{"pattern": "token"}, 1, 4},
		{args{"pattern": "token", "file_pattern": "*.pem"}, 0, 1},
		{args{"pattern": "token", "path": "keys"}, 1, 1},
		{args{"pattern": "token", "path": "sub/b.pem"}, 1, 0},
	} {
		r := d.call("Grep", c.args)
		if f := facts[grepData](t, r); f.Total != c.total || f.Withheld != c.withheld {
			t.Errorf("Grep(%v): %d hits and %d withheld, want %d and %d\n%s", c.args, f.Total, f.Withheld, c.total, c.withheld, r.Text)
		}
	}
}

func TestBug_G01_PatternsAndPathsAreNeverOptions(t *testing.T) {
	d := newDesk(t, map[string]string{"f": "--verbose\n-9\n->x\n", "-rf": "x\n"})
	for _, pattern := range []string{"--verbose", "-9", "->x"} {
		if r := d.ok("Grep", args{"pattern": pattern}); facts[grepData](t, r).Total != 1 {
			t.Errorf("Grep(%s): %s", pattern, r.Text)
		}
	}
	for _, pattern := range []string{"--pre=sh", "-f../secret"} {
		if r := d.ok("Grep", args{"pattern": pattern}); facts[grepData](t, r).Total != 0 {
			t.Errorf("Grep(%s): %s", pattern, r.Text)
		}
	}
	d.ok("Read", args{"path": "-rf"})
	if r := d.ok("Glob", args{"pattern": "-*"}); r.Text != "-rf\n" {
		t.Errorf("Glob: %q", r.Text)
	}
}

func TestBug_G06_ALongLineDoesNotFloodTheResult(t *testing.T) {
	line := strings.Repeat(strings.Repeat("-", 199)+"x", 5_000) // 1 MB
	d := newDesk(t, map[string]string{"bundle.js": line})
	r := d.call("Grep", args{"pattern": "x", "limit": 1000})
	data := facts[grepData](t, r)
	if len(r.Text) > pageBytes+1_000 || r.Status != tool.Partial || data.Total != 5_000 || data.Next == 0 {
		t.Fatalf("%d bytes, %s, %d hits, next %d", len(r.Text), r.Status, data.Total, data.Next)
	}
	for _, m := range data.Matches {
		if len(m.Text) > 300 || !strings.Contains(m.Text, "x") || line[m.Column-1:m.Column-1+len(m.Text)] != m.Text {
			t.Fatalf("match %+v", m)
		}
	}
	next := facts[grepData](t, d.call("Grep", args{"pattern": "x", "skip": data.Next, "limit": 1}))
	if len(next.Matches) != 1 || next.Matches[0].Column <= data.Matches[len(data.Matches)-1].Column {
		t.Errorf("the next page: %+v", next.Matches)
	}
}

// Every name that a tool shows can be given to another.
func TestBug_G07_NamesRoundTrip(t *testing.T) {
	names := []string{"文档.txt", "a b.txt", "tab\t.txt", `q"uote.txt`, " lead", "bad\xff.txt", "e\u0301.txt", "\u00e9.txt", "u\u2028.txt", `back\slash`, "new\nline.txt", "cr\r.txt", "-rf"}
	d := newDesk(t, nil)
	for _, name := range names {
		put(t, d.dir, name, "needle\n")
	}
	paths := facts[globData](t, d.ok("Glob", args{"pattern": "*"})).Paths
	if len(paths) != len(names) {
		t.Fatalf("Glob shows %q", paths)
	}
	if got := files(t, d.ok("Grep", args{"pattern": "needle"})); !slices.Equal(got, slices.Sorted(slices.Values(paths))) {
		t.Errorf("Grep shows %q, Glob %q", got, paths)
	}
	for name, a := range map[string]args{"Glob": {"pattern": "*"}, "LS": {}} {
		if r := d.ok(name, a); strings.Count(r.Text, "\n") != len(names) || !strings.Contains(r.Text, "\n"+`"new\nline.txt"`+"\n") {
			t.Errorf("%s breaks lines: %q", name, r.Text)
		}
	}
	if r := d.ok("Grep", args{"pattern": "needle"}); !strings.Contains(r.Text, "\n"+`"new\nline.txt":1: needle`+"\n") && !strings.HasPrefix(r.Text, `"new\nline.txt":1: needle`+"\n") {
		t.Errorf("Grep breaks lines: %q", r.Text)
	}
	for _, p := range paths {
		d.ok("Read", args{"path": p})
		d.ok("Edit", args{"path": p, "old": "needle", "new": "found"})
	}
	for _, name := range names {
		d.holds(name, "found\n")
	}
}

func TestR039_AListingThatTimesOutIsPartial(t *testing.T) {
	tree := make(map[string]string)
	for i := range 50 {
		tree[fmt.Sprintf("d%02d/f.go", i)] = "hit\n"
	}
	d := newDesk(t, tree)
	for name, a := range map[string]args{"Glob": {"pattern": "**/*.go"}, "Grep": {"pattern": "hit"}} {
		action, err := d.prepare(name, a)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &expiring{Context: t.Context()}
		ctx.left.Store(20)
		r, err := action.Do(ctx, tool.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != tool.Partial || !strings.Contains(string(r.Data), `"truncated":true`) ||
			!strings.Contains(string(r.Data), `"timed_out":true`) || !strings.Contains(r.Text, "(out of time after ") {
			t.Errorf("%s: %s, %q, %s", name, r.Status, r.Text, r.Data)
		}
	}
}

// An expiring context is over when it has been asked a number of times.
type expiring struct {
	context.Context
	left atomic.Int64
}

func (e *expiring) Err() error {
	if e.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestTodoReplacesTheList(t *testing.T) {
	d := newDesk(t, nil)
	r := d.ok("Todo", args{"items": []args{{"text": "find\nit", "state": "done"}, {"text": "fix it", "state": "active"}, {"text": "prove it", "state": "pending"}}})
	want := []tool.Todo{{Text: "find it", State: "done"}, {Text: "fix it", State: "active"}, {Text: "prove it", State: "pending"}}
	if d := cmp.Diff(want, r.Todo); d != "" {
		t.Errorf("list (-want +got):\n%s", d)
	}
	if r.Text != "the list has 3 entries: 1 done, 1 active, 1 pending" {
		t.Errorf("text %q", r.Text)
	}
	if r := d.ok("Todo", args{"items": []args{}}); r.Todo == nil || len(r.Todo) != 0 {
		t.Errorf("an empty list is %#v, want one that is empty and not nil", r.Todo)
	}
	d.fails(tool.Invalid, "Todo", args{"items": []args{{"text": " ", "state": "done"}}})
	d.fails(tool.Invalid, "Todo", args{"items": []args{{"text": "x", "state": "started"}}})
	d.fails(tool.Invalid, "Todo", args{"items": slices.Repeat([]args{{"text": "x", "state": "done"}}, 51)})
}

func TestNearNames(t *testing.T) {
	d := newDesk(t, map[string]string{"config.go": "", "internal/deep/thing.go": "", "Makefile": "", "a.go": "", "b.go": ""})
	for path, want := range map[string]string{
		"confg.go":          "did you mean config.go?",
		"makefile":          "did you mean Makefile?",
		"thing.go":          "did you mean internal/deep/thing.go?",
		"internal/thing.go": "did you mean internal/deep/thing.go?",
		"x.go":              "did you mean a.go or b.go?",
		"nothing-like-it":   "find it with Glob or LS",
	} {
		if f := d.fails(tool.NotFound, "Read", args{"path": path}); f.Hint != want {
			t.Errorf("Read(%s) suggests %q, want %q", path, f.Hint, want)
		}
	}
}

func TestR015_R046_ErrorsBecomeFailures(t *testing.T) {
	d := newDesk(t, nil)
	for _, c := range conditions {
		f := failed(t.Context(), d.w, "p", fmt.Errorf("read p: %w", c.err))
		if f.Kind != c.kind || f.Retry || f.Hint == "" && f.Kind != tool.Internal {
			t.Errorf("%v becomes %+v, want %s with a hint", c.err, f, c.kind)
		}
		if !slices.Contains(tool.Kinds, f.Kind) {
			t.Errorf("%s is not on the list", f.Kind)
		}
	}
	f := failed(t.Context(), d.w, "p", errors.New("read p: input/output error"))
	if f.Kind != tool.IO || !f.Retry || f.Message != "read p: input/output error" {
		t.Errorf("an unknown error becomes %+v, want io", f)
	}
}

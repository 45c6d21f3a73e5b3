package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A place is a workspace and a store of it.
type place struct {
	*Store
	t    testing.TB
	root string
	o    Options
}

func newPlace(t testing.TB, files map[string]string) *place {
	t.Helper()
	p := &place{t: t, root: t.TempDir()}
	for path, text := range files {
		p.write(path, text)
	}
	w, err := workspace.Open(p.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	p.o = Options{Workspace: w, Dir: filepath.Join(t.TempDir(), "undo")}
	p.open()
	return p
}

// open begins another life.
func (p *place) open() {
	p.t.Helper()
	var err error
	if p.Store, err = Open(p.o); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) write(path, text string) {
	p.t.Helper()
	at := filepath.Join(p.root, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) before(call string, scope ...string) {
	p.t.Helper()
	if err := p.Before(p.t.Context(), call, scope); err != nil {
		p.t.Fatal(err)
	}
}

// tell says what a call changed, by the bytes that the store has: "path: before -> after".
func (p *place) tell(call string) []string {
	p.t.Helper()
	c := p.After(call)
	if err := p.Done(call); err != nil {
		p.t.Fatal(err)
	}
	var out []string
	image := func(digest string) []byte {
		if digest == "" {
			return nil
		}
		b, err := p.Images().Get(digest)
		if err != nil {
			p.t.Fatal(err)
		}
		return b
	}
	for _, i := range c.Edits {
		before, after := image(i.Base), image(i.Result)
		if _, err := i.Fill(before, after); err != nil {
			p.t.Errorf("%+v: %v", i, err)
		}
		words := []string{i.Path + ":", fmt.Sprintf("%q", before), "->", fmt.Sprintf("%q", after)}
		if i.Base == "" {
			words[1] = "none"
		}
		if i.Remove {
			words[3] = "none"
		}
		if i.Parents > 0 {
			words = append(words, fmt.Sprint(i.Parents, " parents"))
		}
		if i.Was != "" || i.Mode != "" {
			words = append(words, i.Was+">"+i.Mode)
		}
		out = append(out, strings.Join(words, " "))
	}
	if c.Note != "" {
		out = append(out, c.Note)
	}
	return out
}

func (p *place) want(call string, want ...string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.tell(call)); diff != "" {
		p.t.Errorf("%s (-want +got):\n%s", call, diff)
	}
}

func (p *place) do(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func TestR126_WhatACommandChanges(t *testing.T) {
	p := newPlace(t, map[string]string{
		"a.txt": "one\ntwo\n", "gone.txt": "g\n", "run.sh": "#!/bin/sh\n", "same.txt": "s\n", ".hidden/x": "h\n",
		".gitignore": "*.o\nout/\n", "a.o": "object", "out/b": "built", ".git/HEAD": "ref: refs/heads/main\n", "bin": "\x00\x01\x02",
		"sub/.git": "gitdir: ../.git/modules/sub\n", "sub/in": "s\n", "name \\ \xff": "odd\n",
	})
	p.before("c1")
	p.want("c1")

	p.before("c2")
	p.write("a.txt", "one\n2\n")
	p.do(os.Remove(filepath.Join(p.root, "gone.txt")))
	p.do(os.Chmod(filepath.Join(p.root, "run.sh"), 0o755))
	p.write("new/deep/file", "n\n")
	p.write("empty", "")
	p.write(".hidden/deep/z", "z\n")
	p.write(".hidden/x", "H\n")
	p.write("a.o", "other object")
	p.write("out/b", "rebuilt")
	p.write(".git/HEAD", "ref: refs/heads/other\n")
	p.write("bin", "\x00\x01\x03")
	p.write("sub/in", "S\n")
	p.write("name \\ \xff", "odder\n")
	now := time.Now()
	p.do(os.Chtimes(filepath.Join(p.root, "same.txt"), now, now))
	p.want("c2",
		`.hidden/deep/z: none -> "z\n" 1 parents >0644`, `.hidden/x: "h\n" -> "H\n"`, `a.txt: "one\ntwo\n" -> "one\n2\n"`, `bin: "\x00\x01\x02" -> "\x00\x01\x03"`,
		`empty: none -> "" >0644`, `gone.txt: "g\n" -> none 0644>`, `name \\ \xFF: "odd\n" -> "odder\n"`,
		`new/deep/file: none -> "n\n" 2 parents >0644`, `run.sh: "#!/bin/sh\n" -> "#!/bin/sh\n" 0644>0755`, `sub/in: "s\n" -> "S\n"`,
	)
	p.write("a.txt", "by the user\n") // between calls
	p.before("c3")
	p.want("c3")
	if got := p.After("c9"); got.Edits != nil || got.Note != "" {
		t.Errorf("a call without Before: %+v", got)
	}
}

// A change within one tick of the clock that leaves size and times alone shows.
func TestAChangeThatLeavesTheTimesAloneShows(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "aaaa"})
	at := filepath.Join(p.root, "f")
	for i := range 50 {
		info, err := os.Stat(at)
		p.do(err)
		was, is := []byte(fmt.Sprintf("%04d", i-1)), []byte(fmt.Sprintf("%04d", i))
		if i == 0 {
			was = []byte("aaaa")
		}
		call := fmt.Sprintf("c%d", i)
		p.before(call)
		f, err := os.OpenFile(at, os.O_WRONLY, 0)
		p.do(err)
		_, err = f.Write(is)
		p.do(err)
		p.do(f.Close())
		p.do(os.Chtimes(at, info.ModTime(), info.ModTime()))
		p.want(call, fmt.Sprintf(`f: %q -> %q`, was, is))
	}
}

// Links are links, whatever they lead to: what is there is not followed.
func TestPromise_P08_LinksAreCovered(t *testing.T) {
	p := newPlace(t, map[string]string{"a": "a\n", "b": "b\n", "dir/c": "c\n"})
	at := func(name string) string { return filepath.Join(p.root, name) }
	for name, target := range map[string]string{"gone": "a", "moved": "a", "dead": "nowhere", "same": "a", "folder": "dir", "tofile": "../x"} {
		p.do(os.Symlink(target, at(name)))
	}
	p.before("c1")
	for _, name := range []string{"gone", "moved", "same", "tofile", "b"} {
		p.do(os.Remove(at(name)))
	}
	for name, target := range map[string]string{"moved": "b", "same": "a", "b": "/etc/passwd", "new/l": "..", "dir2": "folder"} {
		p.do(os.MkdirAll(filepath.Dir(at(name)), 0o755))
		p.do(os.Symlink(target, at(name)))
	}
	p.write("tofile", "../x")
	p.want("c1",
		`b: "b\n" -> "/etc/passwd" 0644>link`, `dir2: none -> "folder" >link`, `gone: "a" -> none link>`, `moved: "a" -> "b" link>link`,
		`new/l: none -> ".." 1 parents >link`, `tofile: "../x" -> "../x" link>0644`,
	)
}

// A call that may write what a link leads to may have changed the link.
func TestALinkIsInEveryScope(t *testing.T) {
	p := newPlace(t, map[string]string{"a": "a\n", "b": "b\n"})
	at := filepath.Join(p.root, "link")
	p.do(os.Symlink("a", at))
	p.before("c1", "a")
	p.do(os.Remove(at))
	p.do(os.Symlink("b", at))
	p.write("b", "the user's\n")
	p.want("c1", `link: "a" -> "b" link>link`)
}

func TestR126_WhatIsNotCoveredIsSaid(t *testing.T) {
	p := newPlace(t, map[string]string{"a": "a\n", "big": strings.Repeat("x", 101), "dir/b": "b\n"})
	p.do(os.Symlink("a", filepath.Join(p.root, "link")))
	p.do(os.Symlink("a", filepath.Join(p.root, "other")))
	p.do(p.Close())
	p.o.File = 100
	p.open()
	p.before("c1")
	p.want("c1")
	p.before("c2")
	p.write("big", strings.Repeat("y", 101))
	p.do(os.Remove(filepath.Join(p.root, "link")))
	p.do(os.Symlink("big", filepath.Join(p.root, "link")))
	p.write("a", "A\n")
	p.want("c2", `a: "a\n" -> "A\n"`, `link: "a" -> "big" link>link`, "undo does not cover these changes: big (over 0 MiB)")

	p.do(p.Close())
	p.o.Total, p.o.File = 3, 0
	p.open()
	p.before("c3")
	p.write("a", "a\n")
	p.write("dir/b", "B\n")
	if got := p.tell("c3"); len(got) != 2 || !strings.Contains(got[1], "no room") {
		t.Errorf("with room for one: %q", got)
	}
}

// A call that a crash cut off is compared in the next life; what was written half
// then is cleared away, and an old snapshot is of use again.
func TestBug_V02_ASnapshotThatWasKilledHeals(t *testing.T) {
	p := newPlace(t, map[string]string{"a": "a\n", "b": "b\n"})
	p.before("c1")
	p.write("a", "A\n")
	p.o.Dir = copied(t, p.o.Dir) // killed here
	p.write("b", "B\n")
	p.do(os.WriteFile(filepath.Join(p.o.Dir, temporary+"123"), []byte("half"), 0o600))
	p.open()
	if left, _ := filepath.Glob(filepath.Join(p.o.Dir, temporary+"*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	p.o.Dir = copied(t, p.o.Dir) // and again, before the result was on disk
	p.After("c1")
	p.open()
	p.want("c1", `a: "a\n" -> "A\n"`, `b: "b\n" -> "B\n"`)
	p.before("c2")
	p.write("b", "b\n")
	p.want("c2", `b: "B\n" -> "b\n"`)

	for name, harm := range map[string]func(){
		"no tree":            func() { p.do(os.Remove(p.path(treeName))) },
		"half a tree":        func() { p.do(os.Truncate(p.path(treeName), 40)) },
		"no pack":            func() { p.do(os.Remove(p.path(packName))) },
		"an empty pack":      func() { p.do(os.Truncate(p.path(packName), 0)) },
		"a marker of no use": func() { p.do(os.WriteFile(p.path(pendingName("c3")), []byte("{"), 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			p.write("a", "a\n")
			p.before("c3")
			p.write("a", name)
			p.o.Dir = copied(p.t, p.o.Dir)
			p.open()
			harm()
			p.open()
			if got := p.tell("c3"); len(got) != 1 || !strings.HasPrefix(got[0], "undo does not cover") {
				t.Errorf("%q", got)
			}
			p.before("c4")
			p.write("a", "again")
			p.want("c4", fmt.Sprintf(`a: %q -> "again"`, name))
		})
	}
	p.do(p.Close())
	for _, name := range []string{packName, treeName} {
		if _, err := os.Stat(p.path(name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// What changes after a crash may be the user's: it is named, and nobody takes it
// back.
func TestR117_WhatChangesAfterACrashIsNotTheCommands(t *testing.T) {
	p := newPlace(t, map[string]string{"a": "a\n", "b": "b\n", "c": "c\n", "d/e": "e\n", "d/f": "f\n"})
	p.before("c1")
	p.write("a", "A\n")
	p.do(os.Remove(filepath.Join(p.root, "d/e")))
	p.o.Dir = copied(t, p.o.Dir)
	alive := time.Now()
	later := alive.Add(time.Hour) // as if the user came back then
	p.do(os.Chtimes(filepath.Join(p.o.Dir, pendingName("c1")), alive, alive))
	p.write("b", "B\n")
	p.do(os.Chtimes(filepath.Join(p.root, "b"), later, later))
	p.do(os.Remove(filepath.Join(p.root, "c")))
	p.do(os.Chtimes(p.root, later, later))
	p.open()
	why := " (changed after Belay was stopped, by the command or by you)"
	p.want("c1", `a: "a\n" -> "A\n"`, `d/e: "e\n" -> none 0644>`, "undo does not cover these changes: b"+why+", c"+why)
}

// copied is what another life finds of dir if this one is killed now.
func copied(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "undo")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// Calls that run side by side are told apart by what they may touch.
func TestCallsSideBySide(t *testing.T) {
	p := newPlace(t, map[string]string{"a/f": "1\n", "b/f": "1\n", "ab": "1\n"})
	p.before("c1", "a")
	p.before("c2", "b")
	p.write("a/f", "2\n")
	p.write("b/f", "3\n")
	p.write("ab", "4\n")
	p.want("c2", `b/f: "1\n" -> "3\n"`)
	p.want("c1", `a/f: "1\n" -> "2\n"`)
}

// What cannot be looked at in time is said; it does not block, and is not tried
// before each command again.
func TestTheTimeOfASnapshotIsBounded(t *testing.T) {
	p := newPlace(t, map[string]string{"a": "a\n"})
	p.do(p.Close())
	p.o.Patience = time.Nanosecond
	p.open()
	for _, call := range []string{"c1", "c2"} {
		if err := p.Before(t.Context(), call, nil); err == nil {
			t.Error("a look without time")
		}
		p.write("a", call)
		p.want(call, "undo does not cover what this changed: the workspace has too many files to be looked at in 2ns")
		p.Patience = time.Minute
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.open()
	if err := p.Before(ctx, "c3", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("before a call that was cancelled: %v", err)
	}
	p.Patience = time.Minute
	p.before("c4") // goes on
	p.want("c4")
}

func TestManyChangesFitIntoOneResult(t *testing.T) {
	p := newPlace(t, map[string]string{"lines": strings.Repeat("a\nb\n", 300)})
	p.before("c1")
	p.write("lines", strings.Repeat("a\nc\n", 300))
	const files = 5000
	for i := range files {
		p.write(fmt.Sprintf("many/%d", i), "x\n")
	}
	c := p.After("c1")
	b, err := json.Marshal(c.Edits)
	if left := fmt.Sprintf("and %d more", files+1-maxNamed-len(c.Edits)); err != nil || len(b) > 900<<10 || len(c.Edits) < 2000 || !strings.Contains(c.Note, left) {
		t.Errorf("%d edits in %d bytes, %q", len(c.Edits), len(b), c.Note)
	}
	if c.Edits[0].Path != "lines" || len(c.Edits[0].Regions) > maxRegions {
		t.Errorf("%+v", c.Edits[0])
	}
}

func TestRegionsLeadFromOneToTheOther(t *testing.T) {
	texts := [][]byte{nil, []byte("a"), []byte("aa"), []byte("a\nb\n"), []byte("b\n"), []byte("\x00a\n"), []byte("\x00b\n"), bytes.Repeat([]byte("x\n"), 300), bytes.Repeat([]byte("x\ny\n"), 300)}
	for _, before := range texts {
		for _, after := range texts {
			i := edit.Intent{Path: "f", Base: edit.Digest(before), Regions: regions(before, after)}
			if _, err := i.Fill(before, after); err != nil {
				t.Errorf("%.20q to %.20q: %v", before, after, err)
			}
		}
	}
}

func TestImages(t *testing.T) {
	i, err := OpenImages(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	digest, err := i.Put([]byte("bytes"))
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(i.dir, digest)
	if info, err := os.Stat(at); err != nil || info.Mode() != 0o400 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte("bites"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := i.Get(digest); err == nil {
		t.Error("damage was not seen")
	}
	if _, err := i.Put([]byte("bytes")); err != nil {
		t.Fatal(err)
	}
	if b, err := i.Get(digest); err != nil || string(b) != "bytes" {
		t.Errorf("%q, %v", b, err)
	}
	for _, bad := range []string{"", "../x", strings.Repeat("0", 64)} {
		if _, err := i.Get(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// Of more changes than can be covered, those are that take something away: else
// undo would remove the files of a directory that was renamed, and not bring them
// back under the old name.
func TestPromise_P08_WhatIsMadeIsCoveredLast(t *testing.T) {
	files := make(map[string]string)
	for n := range 3000 {
		files[fmt.Sprintf("z/%04d", n)] = fmt.Sprint(n)
	}
	p := newPlace(t, files)
	p.before("c1")
	p.do(os.Rename(filepath.Join(p.root, "z"), filepath.Join(p.root, "a")))
	c := p.After("c1")
	removed, made := 0, 0
	for _, i := range c.Edits {
		if i.Remove {
			removed++
		} else {
			made++
		}
	}
	if removed < 2000 || made > 0 && removed < len(files) || !strings.Contains(c.Note, "more than one result can hold") {
		t.Errorf("%d removed, %d made; %s", removed, made, c.Note)
	}
}

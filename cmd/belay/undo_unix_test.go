//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
)

// TestPromise_P08_UndoAfterAKill: the program is killed at any time while it
// changes files by its tools and by commands; the user goes on with theirs; undo
// then restores every file but the user's own. What a command that outlived the
// program did until it was ended may stay, if the result of its call names it.
func TestPromise_P08_UndoAfterAKill(t *testing.T) {
	for seed := range undoKills {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			undoAfterAKill(t, rand.New(rand.NewPCG(uint64(seed), 8)))
		})
	}
}

func undoAfterAKill(t *testing.T, r *rand.Rand) {
	p := newPlace(t)
	lines := strings.Repeat("line\n", 100)
	for _, name := range []string{"a", "b", "src/c", "src/d", "mine/x"} {
		p.write(t, name, lines)
	}
	before := p.tree(t)
	model := p.play(t,
		`call: Read {"path": "a"}`+"\n"+`call: Write {"path": "a", "content": "all new\n"}`,
		`call: Bash {"command": "for i in 1 2 3 4 5 6 7 8; do echo $i >> b; echo $i > made$i; sleep 0.01; done; rm src/c"}`,
		`call: Write {"path": "new/dir/file", "content": "n\n"}`,
		`call: Bash {"command": "chmod 700 src/d; mv b src/b; sleep 0.05; echo more >> src/d; exit 1"}`,
		"say: Done.")
	c := p.command(t, "run", "--mode", "full", "-m", model, "go")
	start(t, c)
	kill := time.AfterFunc(time.Duration(r.IntN(700))*time.Millisecond, func() { _ = c.Process.Signal(syscall.SIGKILL) })
	defer kill.Stop()
	if code := status(t, c.Wait()); code != -1 && code != 0 {
		t.Fatalf("exit status %d", code)
	}
	if entries, err := os.ReadDir(p.sessions()); err != nil || len(entries) == 0 {
		return // killed before anything was
	}
	later := time.Now().Add(time.Hour) // the user takes their time
	for _, name := range []string{"mine/x", "mine/new"} {
		p.write(t, name, "the user's\n")
		if err := os.Chtimes(filepath.Join(p.dir, name), later, later); err != nil {
			t.Fatal(err)
		}
		before[name] = "-rw-r--r-- the user's\n"
	}
	code := 0
	for n := 0; code == 0 && n < 5; n++ {
		e := p.run(t, "undo")
		if code = e.code; code != 0 && code != 2 {
			t.Fatalf("undo: %d\n%s%s", code, e.out, e.err)
		}
	}
	named := ""
	for _, f := range bodies[event.Finished](p.events(t)) {
		if _, note, ok := strings.Cut(f.Result.Text, "[undo does not cover"); ok {
			named += note
		}
	}
	after := p.tree(t)
	for name := range before {
		after[name] += "" // so that one that is gone is compared too
	}
	for name, now := range after {
		mine := strings.HasPrefix(name, "mine/")
		if now != before[name] && (mine || !strings.Contains(named, name+" (changed after Belay was stopped")) {
			t.Errorf("%s is %q, was %q; named: %s", name, now, before[name], named)
		}
	}
}

// tree returns the files of the workspace: mode and bytes.
func (p *place) tree(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		b, e := os.ReadFile(path)
		if err = errors.Join(err, e); err == nil {
			rel, _ := filepath.Rel(p.dir, path)
			out[filepath.ToSlash(rel)] = info.Mode().String() + " " + string(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

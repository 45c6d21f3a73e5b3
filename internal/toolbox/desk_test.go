package toolbox

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A desk is a workspace, the tools on it, and what the model knows of it.
type desk struct {
	t     testing.TB
	dir   string
	w     *workspace.Workspace
	tools map[string]tool.Tool
	seen  map[string]string
	asks  bool // a person can be asked
}

// withheld is what Read would ask about here, or deny, and would not at base.
func (d *desk) withheld(base, path string) bool {
	strict := func(path string) int {
		switch {
		case strings.HasSuffix(path, ".never"):
			return 2
		case strings.HasSuffix(path, ".pem"), strings.HasPrefix(path, "keys/"), path == "keys":
			return 1
		}
		return 0
	}
	return strict(path) > strict(base)
}

// newDesk opens a workspace with files in it, by path and content.
func newDesk(t testing.TB, files map[string]string) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), tools: make(map[string]tool.Tool), seen: make(map[string]string)}
	for path, content := range files {
		put(t, d.dir, path, content)
	}
	d.w = opened(t, d.dir)
	f := &changer{w: d.w, shown: new(shown)}
	for _, tl := range []tool.Tool{
		LS(d.w), Glob(d.w), Grep(d.w, d.withheld, nil), shower{Read(d.w), d.w, f.shown}, f.write(), f.edit(), f.multiEdit(), Todo(),
	} {
		d.tools[tl.Spec().Name] = tl
	}
	return d
}

// prepare returns the action of a call.
func (d *desk) prepare(name string, args map[string]any) (*tool.Action, error) {
	d.t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.tools[name].Prepare(d.t.Context(), tool.Input{Call: "c1", Args: b, Seen: maps.Clone(d.seen), Asks: d.asks})
}

// call makes a call and returns how it ended.
func (d *desk) call(name string, args map[string]any) tool.Result {
	d.t.Helper()
	a, err := d.prepare(name, args)
	var r tool.Result
	if err == nil {
		r, err = a.Do(d.t.Context(), tool.Env{})
	}
	if err != nil {
		f, ok := errors.AsType[*tool.Failure](err)
		if !ok {
			d.t.Fatalf("%s(%v): %v, which is no failure", name, args, err)
		}
		r = tool.Failed(f)
	}
	maps.Copy(d.seen, r.Seen)
	return r
}

// ok makes a call that must succeed.
func (d *desk) ok(name string, args map[string]any) tool.Result {
	d.t.Helper()
	r := d.call(name, args)
	if r.Status != tool.Success {
		d.t.Fatalf("%s(%v) ends in %s: %s", name, args, r.Status, r.Text)
	}
	return r
}

// fails makes a call that must fail in a certain way.
func (d *desk) fails(kind tool.Kind, name string, args map[string]any) *tool.Failure {
	d.t.Helper()
	r := d.call(name, args)
	if r.Failure == nil || r.Failure.Kind != kind {
		d.t.Fatalf("%s(%v) ends in %s %+v, want %s", name, args, r.Status, r.Failure, kind)
	}
	return r.Failure
}

// holds checks the bytes of a file.
func (d *desk) holds(path, want string) {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.dir, path))
	if err != nil {
		d.t.Fatal(err)
	}
	if string(b) != want {
		d.t.Errorf("%s holds %q, want %q", path, b, want)
	}
}

// below returns all files below a directory, by path, with what they hold.
func below(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type args = map[string]any

// facts decodes the data of a result.
func facts[T any](t testing.TB, r tool.Result) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(r.Data, &v); err != nil {
		t.Fatalf("data %s: %v", r.Data, err)
	}
	return v
}

// Package real_test lets the program mend a module that others wrote: its files,
// its tests and the program are real, and only the model is rehearsed.
package real_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// What is broken: a line of a module that go.mod pins, far from the test that
// fails for it.
const (
	module = "github.com/google/jsonschema-go"
	file   = "jsonschema/annotations.go"
	right  = "if b.endIndex > a.endIndex {"
	wrong  = "if b.endIndex < a.endIndex {"
	diff   = `--- a/jsonschema/annotations.go
+++ b/jsonschema/annotations.go
@@ -55,7 +55,7 @@
 	if b.allItems {
 		a.allItems = true
 	}
-	if b.endIndex < a.endIndex {
+	if b.endIndex > a.endIndex {
 		a.endIndex = b.endIndex
 	}
 	a.evaluatedIndexes = merge(a.evaluatedIndexes, b.evaluatedIndexes)
`
)

func TestR001_ARealModuleIsMended(t *testing.T) {
	script, err := filepath.Abs("testdata/jsonschema.txtar")
	if err != nil {
		t.Fatal(err)
	}
	belay := filepath.Join(t.TempDir(), "belay")
	run(t, ".", "go", "build", "-o", belay, "../../cmd/belay")
	dir := broken(t)
	if out, err := command(t, dir, "go", "test", "./...").CombinedOutput(); err == nil {
		t.Fatalf("the tests of the module pass although it is broken:\n%s", out)
	}
	before := snapshot(t, dir)

	state := t.TempDir()
	c := command(t, dir, belay, "run", "--model", "script:"+script, "--mode", "full", "go test fails: find the cause and mend it")
	c.Env = append(c.Env, "XDG_STATE_HOME="+state)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("belay run: %v\n%s%s", err, &stdout, &stderr)
	}
	const answer = "TestValidateDraft2020_12 passes again, and so does everything else. In jsonschema/annotations.go, line 58, merge kept the smaller of two indexes.\n"
	if got := stdout.String(); got != answer {
		t.Errorf("the answer is %q", got)
	}

	run(t, dir, "go", "test", "./...")
	after := snapshot(t, dir)
	mended := before[file]
	mended.text = strings.Replace(mended.text, wrong, right, 1)
	before[file] = mended
	if diff := cmp.Diff(before, after, cmp.AllowUnexported(entry{})); diff != "" {
		t.Errorf("the tree is not the one that was copied (-want +got):\n%s", diff)
	}
	if original := read(t, filepath.Join(source(t), file)); after[file].text != original {
		t.Errorf("%s is not what it was before it was broken", file)
	}

	logged := command(t, dir, belay, "log")
	logged.Env = append(logged.Env, "XDG_STATE_HOME="+state)
	out, err := logged.Output()
	if err != nil {
		t.Fatal(err)
	}
	check(t, events(t, out))
}

// check reports what the log should not say.
func check(t *testing.T, events []event.Event) {
	t.Helper()
	var asked []string
	tools := make(map[string]string)
	results := make(map[string][]tool.Result)
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Replied:
			for _, c := range b.Message.Calls() {
				asked, tools[c.ID] = append(asked, c.ID+" "+c.Tool), c.Tool
			}
		case event.Finished:
			results[b.Call] = append(results[b.Call], b.Result)
		}
	}
	want := []string{"c1 Bash", "c2 Grep", "c3 Read", "c4 Grep", "c5 Read", "c6 Edit", "c7 Bash", "c8 Bash"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for id := range tools {
		if n := len(results[id]); n != 1 {
			t.Errorf("%s of %s has %d results, want one", id, tools[id], n)
		}
	}
	if t.Failed() {
		return
	}
	for id, code := range map[string]int{"c1": 1, "c7": 0, "c8": 0} {
		var ended struct {
			Code *int `json:"exit_code"`
		}
		if err := json.Unmarshal(results[id][0].Data, &ended); err != nil || ended.Code == nil || *ended.Code != code {
			t.Errorf("%s did not end with %d: %s (%v)", id, code, results[id][0].Data, err)
		}
	}
	edited := results["c6"][0]
	if got := edited.Text; got != "edited "+file+" (+1 -1)\n"+diff {
		t.Errorf("the edit says:\n%s", got)
	}
	if len(edited.Edits) != 1 || edited.Edits[0].Path != file || len(edited.Edits[0].Regions) != 1 {
		t.Errorf("the edit records %+v", edited.Edits)
	}
	if stopped, ok := events[len(events)-1].Body.(event.Stopped); !ok || stopped.Reason != "end" {
		t.Errorf("the last event is %+v", events[len(events)-1].Body)
	}
}

// events reads what `belay log` prints, without the journal's own records.
func events(t *testing.T, out []byte) []event.Event {
	t.Helper()
	var all []event.Event
	for line := range bytes.Lines(out) {
		e, _, err := event.Decode(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		if _, own := e.Body.(event.Opaque); !own {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		t.Fatal("the log is empty")
	}
	return all
}

// broken copies the module, breaks one line, and commits that.
func broken(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(source(t))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, file)
	text := read(t, path)
	if n := strings.Count(text, right); n != 1 {
		t.Fatalf("%s has the line to break %d times: choose another", file, n)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(text, right, wrong, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "git", "init", "-q", "-b", "main")
	run(t, dir, "git", "add", ".")
	run(t, dir, "git", "commit", "-q", "-m", "as it came")
	return dir
}

// source returns where the module cache has the module.
func source(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, ".", "go", "list", "-m", "-f", "{{.Dir}}", module))
}

// An entry is what stands at a path.
type entry struct {
	mode fs.FileMode
	text string
}

// snapshot returns all below dir but what git keeps.
func snapshot(t *testing.T, dir string) map[string]entry {
	t.Helper()
	all := make(map[string]entry)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == ".git" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := entry{mode: info.Mode()}
		if e.mode.IsRegular() {
			e.text = read(t, filepath.Join(dir, path))
		}
		all[path] = e
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// command is one that needs nothing of the network or of the user's settings.
func command(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	c.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "XDG_CONFIG_HOME=")
	})
	c.Env = append(c.Env, "GOPROXY=off", "GOTOOLCHAIN=local", "XDG_CONFIG_HOME="+t.TempDir(),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@belay.invalid", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@belay.invalid")
	return c
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := command(t, dir, name, args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}

package toolbox

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// An attack is a row of the list of path escapes that the workspace alone does not
// answer.
type attack struct {
	ID, Op, Path, Why string
	Fixture           [][]string
	MustNotTouch      []string `json:"must_not_touch"`
}

// ofTools are those rows.
var ofTools = []string{"pe-086", "pe-087", "pe-089", "pe-093", "pe-094", "pe-128"}

// TestPromise_P11_R091_PathEscapeByTools runs the rows of the list that are about paths
// which the policy protects, and the one about a patch, as calls of the tools in the
// mode that lets writes inside the workspace pass.
func TestPromise_P11_R091_PathEscapeByTools(t *testing.T) {
	list, err := os.ReadFile("../world/workspace/testdata/path-escape.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for line := range bytes.Lines(list) {
		var row struct{ ID string }
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(ofTools, row.ID) {
			continue
		}
		var a attack
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		ran++
		t.Run(a.ID, a.run)
	}
	if ran != len(ofTools) {
		t.Errorf("%d rows", ran)
	}
}

func (a attack) run(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "ws")
	places := strings.NewReplacer("{WS}", dir, "{OUT}", filepath.Join(top, "out"))
	for _, f := range a.Fixture {
		var err error
		switch at := filepath.Join(top, f[len(f)-1]); f[0] {
		case "file":
			put(t, top, f[1], f[2])
		case "dir":
			err = os.MkdirAll(at, 0o755)
		case "symlink":
			err = os.Symlink(f[1], at)
		default:
			t.Fatalf("fixture %v", f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	before := make(map[string]string)
	for _, path := range a.MustNotTouch {
		before[path] = found(t, places.Replace(path))
	}
	w := opened(t, dir)
	for name, patch := range a.patches(places.Replace(a.Path)) {
		called, args := Write(w), map[string]any{"path": places.Replace(a.Path), "content": "evil"}
		if patch != "" {
			called, args = Patch(w), map[string]any{"patch": patch}
		}
		b, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]string)
		if text, err := w.Read(places.Replace(a.Path)); err == nil {
			seen[text.Path] = text.Digest
		}
		action, err := called.Prepare(t.Context(), tool.Input{Args: b, Seen: seen})
		if err != nil {
			t.Logf("%s: refused: %v", name, err)
			continue
		}
		d := policy.Policy{Mode: policy.ModeAuto}.Decide(called.Spec(), action.Parts)
		if d.Verdict == policy.Allow {
			t.Errorf("%s passes: %s", name, a.Why)
		}
		if a.Op == "patch" {
			t.Errorf("%s is not refused: %s", name, a.Why)
		}
	}
	for path, was := range before {
		if is := found(t, places.Replace(path)); is != was {
			t.Errorf("%s was %q and is %q", path, was, is)
		}
	}
}

// patches returns the calls that a is tried with: by Write where there is no patch.
func (a attack) patches(path string) map[string]string {
	if a.Op != "patch" {
		return map[string]string{
			"Write": "", "Patch": "*** Begin Patch\n*** Add File: " + path + "\n+evil\n*** End Patch",
		}
	}
	const link = "diff --git a/new b/new\nnew file mode 120000\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+../out\n\\ No newline at end of file\n"
	return map[string]string{
		"link": link,
		"link, and through it": link + "diff --git a/new/secret.txt b/new/secret.txt\n--- a/new/secret.txt\n+++ b/new/secret.txt\n" +
			"@@ -1 +1 @@\n-SECRET\n+evil\n",
	}
}

// found says what is at a place.
func found(t *testing.T, full string) string {
	t.Helper()
	b, err := os.ReadFile(full)
	if os.IsNotExist(err) {
		return "nothing"
	}
	if err != nil {
		t.Fatal(err)
	}
	return "holds " + string(b)
}

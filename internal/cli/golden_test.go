package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
)

var updateGolden = flag.Bool("update-golden", false, "record anew what golden sessions fold to and print as")

// TestR019_OldSessionsReplay reads a session of every version that was ever
// released: it must be sound, fold to the state it always did, print as it always
// did, and know each call's tool in the version it was recorded under.
//
// testdata/sessions/VERSION is the directory of a session as that version left
// it: a run with a read, a search, a list, an edit, an edit that failed, a command
// that was not run and a call that was not JSON. Add one with each release, and
// never change one.
func TestR019_OldSessionsReplay(t *testing.T) {
	versions, err := filepath.Glob("testdata/sessions/*/log.000001")
	if err != nil || len(versions) == 0 {
		t.Fatalf("there are no golden sessions: %v", err)
	}
	for _, log := range versions {
		golden := filepath.Dir(log)
		t.Run(filepath.Base(golden), func(t *testing.T) {
			dir := copySession(t, golden)
			report, err := journal.Verify(dir)
			if err != nil || !report.Sound() {
				t.Fatalf("it is not sound: %v %+v", err, report)
			}
			var printed bytes.Buffer
			lines := newLines(&printed)
			state := new(session.State)
			versions := make(map[string]int)
			for e, err := range journal.Read(dir) {
				if err != nil {
					t.Fatal(err)
				}
				if err := state.Apply(e); err != nil {
					t.Fatal(err)
				}
				if err := lines.write(e); err != nil {
					t.Fatal(err)
				}
				switch b := e.Body.(type) {
				case event.Opened:
					for _, spec := range b.Tools {
						versions[spec.Name] = spec.Version
						if len(spec.Input) == 0 {
							t.Errorf("the schema of %s is lost", spec.Name)
						}
					}
				case event.Planned:
					if b.Plan.Version != versions[b.Plan.Call.Tool] {
						t.Errorf("call %s was planned under version %d of %s, of which the session has %d",
							b.Plan.Call.ID, b.Plan.Version, b.Plan.Call.Tool, versions[b.Plan.Call.Tool])
					}
				}
			}
			sameAsGolden(t, filepath.Join(golden, "printed.jsonl"), printed.String())
			snapshot, err := state.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			sameAsGolden(t, filepath.Join(golden, "state.json"), string(snapshot)+"\n")
		})
	}
}

// copySession copies a golden session to where only we can write.
func copySession(t *testing.T, golden string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "session")
	if err := os.CopyFS(dir, os.DirFS(golden)); err != nil {
		t.Fatal(err)
	}
	for _, extra := range []string{"printed.jsonl", "state.json"} {
		if err := os.RemoveAll(filepath.Join(dir, extra)); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// versionRE finds the version of the snapshot's own form, which is no part of
// what it says.
var versionRE = regexp.MustCompile(`^\{"version":\d+,`)

func sameAsGolden(t *testing.T, file, got string) {
	t.Helper()
	if *updateGolden {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bare := func(s string) []string { return strings.Split(versionRE.ReplaceAllString(s, "{"), "\n") }
	if diff := cmp.Diff(bare(string(want)), bare(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", filepath.Base(file), diff)
	}
}

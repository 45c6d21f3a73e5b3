package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// A change says which permissions there were where it does not leave them alone,
// so that they can come back.
func TestR116_ADiffSaysWhichPermissionsThereWere(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"gone", "mode", "text"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("x\n"), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	x := edit.Digest([]byte("x\n"))
	d, err := w.Write([]edit.Intent{
		{Path: "gone", Base: x, Remove: true}, {Path: "mode", Base: x, Mode: "0755"},
		{Path: "text", Base: x, Regions: []edit.Region{{End: 1, Len: 1, Old: []byte("x"), New: []byte("y")}}}, {Path: "new"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"gone": "0640", "mode": "0640"}, d.Was); diff != "" {
		t.Error(diff)
	}
}

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// A change that is made, found to be stale and taken back is seen by no other call
// on the same workspace: not by one that reads, and not by one that writes. Each of
// them is started while the change stands, and is given all the time it wants.
func TestNobodySeesWhatIsTakenBack(t *testing.T) {
	w := tree(t, map[string]string{"f": "start\n"})
	mine := replace(t, read(t, w, "f"), "start", "mine")
	const saved = "saved by someone who had it open\n"
	then := edit.Intent{Path: "f", Base: edit.Digest([]byte(saved)), Regions: []edit.Region{{Len: len("then\n"), New: []byte("then\n")}}}

	var seen Text
	var readErr, writeErr error
	done := make(chan struct{}, 2)
	w.made = func() {
		w.made = nil
		if got := onDisk(t, w, "f"); got != "mine\n" {
			t.Fatalf("the change is not made: %q", got)
		}
		saveReplaced(t, w, saved)
		go func() { seen, readErr = w.Read("f"); done <- struct{}{} }()
		go func() { _, writeErr = w.Write([]edit.Intent{then}); done <- struct{}{} }()
		for len(done)+waiting() < 2 {
			runtime.Gosched()
		}
	}
	if _, err := w.Write([]edit.Intent{mine}); !errors.Is(err, ErrStale) {
		t.Fatalf("the change: %v", err)
	}
	<-done
	<-done
	if readErr != nil || strings.TrimPrefix(seen.Content, "then\n") != saved {
		t.Errorf("a read shows %q, %v", seen.Content, readErr)
	}
	if got := onDisk(t, w, "f"); writeErr != nil || got != "then\n"+saved {
		t.Errorf("a change of what stays: %v, and the file holds %q", writeErr, got)
	}
	noLeftovers(t, w)
}

// saveReplaced writes to the one file that a change has replaced and still keeps.
func saveReplaced(t *testing.T, w *Workspace, text string) {
	t.Helper()
	entries, err := os.ReadDir(w.Root())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "f" {
			continue
		}
		if err := os.WriteFile(filepath.Join(w.Root(), e.Name()), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("nothing is kept of what was replaced")
}

// waiting is how many goroutines wait until a batch has ended.
func waiting() int {
	all := make([]byte, 1<<20)
	stacks := string(all[:runtime.Stack(all, true)])
	return strings.Count(stacks, "sync.(*RWMutex).RLock(") + strings.Count(stacks, "sync.(*RWMutex).Lock(")
}

package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// swap exchanges two names as fast as it can until stop is set.
func swap(t *testing.T, stop *atomic.Bool, a, b string) {
	for !stop.Load() {
		if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
			t.Errorf("exchange: %v", err)
			return
		}
	}
}

// TestPromise_P11_Races reads, lists and writes while a directory and a file on
// the way are swapped with links that lead out.
func TestPromise_P11_Races(t *testing.T) {
	w := tree(t, map[string]string{
		"race/real/f": "inside\n", "race/evil": "-> ../../out", "file/f": "inside\n", "file/evil": "-> ../../out/f",
	})
	out := filepath.Join(filepath.Dir(w.Root()), "out")
	put(t, filepath.Join(out, "f"), false, "SECRET\n")

	var stop atomic.Bool
	var robots sync.WaitGroup
	for _, pair := range [][2]string{{"race/real", "race/evil"}, {"file/f", "file/evil"}} {
		robots.Go(func() { swap(t, &stop, filepath.Join(w.Root(), pair[0]), filepath.Join(w.Root(), pair[1])) })
	}
	reads, writes, lists := 0, 0, 0
	start := time.Now()
	for time.Since(start) < max(racing, time.Second) || (reads == 0 || writes == 0 || lists == 0) && time.Since(start) < time.Minute {
		for _, path := range []string{"race/real/f", "file/f"} {
			text, err := w.Read(path)
			if err != nil {
				continue
			}
			reads++
			if strings.Contains(text.Content, "SECRET") {
				t.Fatalf("read %q", text.Content)
			}
			i := replace(t, text, "\n", "x\n")
			i.Path = path
			if _, err := w.Write([]edit.Intent{i}); err == nil {
				writes++
			}
		}
		if _, err := w.Write([]edit.Intent{create("race/real/new", "n\n")}); err == nil {
			writes++
			_, _ = w.Write([]edit.Intent{{Path: "race/real/new", Base: edit.Digest([]byte("n\n")), Remove: true}})
		}
		files, err := w.List("race/real")
		if err == nil {
			lists++
		}
		for _, f := range files {
			if strings.Contains(f.Path, "out") {
				t.Fatalf("listed %s", f.Path)
			}
		}
	}
	stop.Store(true)
	robots.Wait()
	if reads == 0 || writes == 0 || lists == 0 {
		t.Errorf("%d reads, %d writes and %d lists came through: one cannot be told", reads, writes, lists)
	}
	t.Logf("%d reads, %d writes, %d lists", reads, writes, lists)
	if b, err := os.ReadFile(filepath.Join(out, "f")); err != nil || string(b) != "SECRET\n" {
		t.Errorf("outside: %q, %v", b, err)
	}
	if found, err := os.ReadDir(out); err != nil || len(found) != 1 {
		t.Errorf("outside: %v, %v", found, err)
	}
}

// TestEditorSavesMeanwhile lets an editor save by rename at some moment of each
// write. What it saved must be in the file afterwards, with our change or without.
func TestEditorSavesMeanwhile(t *testing.T) {
	w := tree(t, map[string]string{"f": "start\n"})
	full := filepath.Join(w.Root(), "f")
	rounds, stale := 0, 0
	for start := time.Now(); rounds < 10 || time.Since(start) < time.Second; rounds++ {
		text := read(t, w, "f")
		i := replace(t, text, "\n", "\nagent\n")
		saved := fmt.Sprintf("saved %d\n", rounds)
		var editor sync.WaitGroup
		editor.Go(func() {
			for range rounds % 50 * 1000 { // at another moment each time
				runtime.Gosched()
			}
			if err := errors.Join(os.WriteFile(full+"~", []byte(saved), 0o644), os.Rename(full+"~", full)); err != nil {
				t.Errorf("save: %v", err)
			}
		})
		_, err := w.Write([]edit.Intent{i})
		editor.Wait()
		if errors.Is(err, ErrStale) {
			stale++
		} else if err != nil {
			t.Fatal(err)
		}
		if got := onDisk(t, w, "f"); !strings.HasPrefix(got, saved) {
			t.Fatalf("round %d (%v): the file holds %q, not %q", rounds, err, got, saved)
		}
	}
	noLeftovers(t, w)
	t.Logf("%d of %d writes were stale", stale, rounds)
}

package toolbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkEdit changes one line of a file, again and again. What the disk takes
// is part of it.
func BenchmarkEdit(b *testing.B) {
	for _, size := range []int{10 << 10, 1 << 20, 50 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			var text strings.Builder
			for i := 0; text.Len() < size; i++ {
				fmt.Fprintf(&text, "	line(%d) // of some\n", i)
				if text.Len() > size/2 && text.Len() < size/2+30 {
					text.WriteString("the line\n")
				}
			}
			d := newDesk(b, map[string]string{"f.go": text.String()})
			d.call("Read", map[string]any{"path": "f.go"}) // as much as it shows
			lines := [2]string{"the line\n", "that line\n"}
			for i := 0; b.Loop(); i++ {
				d.ok("Edit", map[string]any{"path": "f.go", "old": lines[i%2], "new": lines[(i+1)%2]})
			}
		})
	}
}

// BenchmarkEditsSustained edits one of many files after another, beside what the
// disk alone takes to replace and sync a file of that size and its directory, in
// the same run.
func BenchmarkEditsSustained(b *testing.B) {
	const files = 200
	name := func(i int) string { return fmt.Sprintf("d%d/f%d.txt", i%10, i%files) }
	b.Run("edit", func(b *testing.B) {
		all := make(map[string]string)
		for i := range files {
			all[name(i)] = strings.Repeat("a line of text\n", 300) + "the line\n"
		}
		d := newDesk(b, all)
		for i := range files {
			d.call("Read", map[string]any{"path": name(i)})
		}
		lines := [2]string{"the line\n", "that line\n"}
		i := 0
		for b.Loop() {
			round := i / files
			d.ok("Edit", map[string]any{"path": name(i), "old": lines[round%2], "new": lines[(round+1)%2]})
			i++
		}
		b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "edits/s")
	})
	b.Run("disk", func(b *testing.B) {
		dir := b.TempDir()
		text := []byte(strings.Repeat("a line of text\n", 300))
		i := 0
		for b.Loop() {
			if err := replaceSynced(dir, fmt.Sprintf("f%d", i%files), text); err != nil {
				b.Fatal(err)
			}
			i++
		}
		b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "files/s")
	})
}

// replaceSynced is the least that a safe replacement takes: write, sync, rename,
// sync the directory.
func replaceSynced(dir, name string, text []byte) error {
	f, err := os.Create(filepath.Join(dir, name+".new"))
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, name)); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

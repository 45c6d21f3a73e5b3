package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// large makes a workspace of 20,000 files in 1,000 directories, 120 MB in all.
func large(b *testing.B) *place {
	b.Helper()
	p := newPlace(b, map[string]string{".gitignore": "*.o\n/out/\n"})
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 20_000 {
		line := fmt.Appendf(nil, "line of file %d\n", i)
		p.write(fmt.Sprintf("d%d/e%d/f%d.go", i%20, i/400, i), string(bytes.Repeat(line, 1+r.IntN(600))))
	}
	return p
}

func BenchmarkSnapshot(b *testing.B) {
	p := large(b)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			if err := errors.Join(p.Done("c1"), p.Close()); err != nil {
				b.Fatal(err)
			}
			p.open()
			b.StartTimer()
			p.before("c1")
		}
	})
	b.Run("second", func(b *testing.B) {
		for b.Loop() {
			p.before("c1")
		}
	})
	b.Run("one file changed", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			p.write("d0/e0/f0.go", fmt.Sprint(i))
			if c := p.After("c1"); len(c.Edits) != 1 {
				b.Fatalf("%+v", c)
			}
			if err := p.Done("c1"); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			p.before("c1")
			b.StartTimer()
		}
	})
	b.Run("1000 files removed", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			p.before("c1")
			dir := filepath.Join(p.root, "d1")
			if err := os.Rename(dir, p.root+".away"); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if c := p.After("c1"); len(c.Edits) != 1000 {
				b.Fatalf("%d changes", len(c.Edits))
			}
			b.StopTimer()
			if err := os.Rename(p.root+".away", dir); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
}

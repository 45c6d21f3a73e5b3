package toolbox

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkReadLarge shows a page of a file of 1 GB and some 20 million lines,
// in its middle and at its end.
func BenchmarkReadLarge(b *testing.B) {
	const size, lines = 1 << 30, 20_000_000
	d := newDesk(b, nil)
	f, err := os.Create(filepath.Join(d.dir, "log"))
	if err != nil {
		b.Fatal(err)
	}
	w, written := bufio.NewWriterSize(f, 1<<20), 0
	for i := 0; written < size && err == nil; i++ {
		var n int
		n, err = fmt.Fprintf(w, "line %d of a log of the usual kind of text\n", i)
		written += n
	}
	if err == nil {
		err = w.Flush()
	}
	if closed := f.Close(); err != nil || closed != nil {
		b.Fatal(err, closed)
	}
	for name, offset := range map[string]int{"middle": lines / 2, "end": -100} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(size)
			for b.Loop() {
				if r := d.call("Read", args{"path": "log", "offset": offset, "limit": 100}); r.Failure != nil {
					b.Fatal(r.Text)
				}
			}
		})
	}
}

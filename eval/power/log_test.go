package power

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// A memory is an image.
type memory []byte

func (m memory) WriteAt(p []byte, at int64) (int, error) { return copy(m[at:], p), nil }

// After a cut each sector is as a write left it that no flush followed, or as the
// last one left it that one did; and every such state turns up.
func TestApplyKeepsWhatWasFlushed(t *testing.T) {
	const sectors, size = 4, 8
	var l Log
	write := func(content byte, from, to int) {
		l.Write(bytes.Repeat([]byte{content}, (to-from)*size), int64(from*size))
	}
	write('a', 0, 4)
	write('b', 1, 3)
	l.Flush()
	write('c', 0, 2)
	write('d', 1, 4)
	write('e', 3, 4)
	after := l.Len()
	l.Flush()
	write('f', 0, 4)
	if l.Len() != 8 || l.Flushes() != 2 || l.String() != "6 writes of 0 KiB in all, 2 flushes" {
		t.Fatalf("%d entries: %s", l.Len(), &l)
	}

	may := [sectors]string{"ac", "bcd", "bd", "ade"}
	var got [sectors]string
	torn := false
	for seed := range uint64(1000) {
		m := make(memory, sectors*size)
		lost, err := l.Apply(m, Cut{after, size, rand.New(rand.NewPCG(seed, 0))})
		if err != nil || lost < 0 || lost > 3 {
			t.Fatalf("%d lost, %v", lost, err)
		}
		for i, sector := range slices.Collect(slices.Chunk([]byte(m), size)) {
			if !bytes.Equal(sector, bytes.Repeat(sector[:1], size)) {
				t.Fatalf("seed %d: sector %d is %q", seed, i, sector)
			}
			if !bytes.ContainsRune([]byte(got[i]), rune(sector[0])) {
				got[i] += string(sector[:1])
			}
		}
		torn = torn || m[1*size] != 'd' && m[2*size] == 'd'
	}
	for i := range got {
		b := []byte(got[i])
		slices.Sort(b)
		if string(b) != may[i] {
			t.Errorf("sector %d was left as any of %q, want %q", i, b, may[i])
		}
	}
	if !torn {
		t.Error("no write was torn")
	}
}

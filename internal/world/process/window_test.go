package process

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestEndsEqualTheWholeCutTwice(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		e := ends{keep: random.IntN(9)}
		var all []byte
		for range random.IntN(8) {
			b := make([]byte, random.IntN(2*e.keep+3))
			for i := range b {
				b[i] = byte(random.IntN(256))
			}
			all = append(all, b...)
			e.write(bytes.Clone(b))
		}
		wantHead := all[:min(e.keep, len(all))]
		wantTail := all[max(len(wantHead), len(all)-e.keep):]
		wantDropped := int64(len(all) - len(wantHead) - len(wantTail))
		head, tail, dropped := e.parts()
		if diff := cmp.Diff([]any{wantHead, wantTail, wantDropped}, []any{head, tail, dropped}, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("keep %d of %v: %s", e.keep, all, diff)
		}
	}
}

package constraint

import (
	"math"
	"testing"
)

// TestWhyAddsUp: the reasons of a part are all that its likelihood is made of, and
// what binds is what is found.
func TestWhyAddsUp(t *testing.T) {
	for _, text := range []string{"Tidy up, but leave vendor/ alone and don't don't push.", "改完跑一遍测试，不要动 api/ 目录", "", "Why is it slow?"} {
		binds := false
		for i, h := range Why(text) {
			m := weighed(text)
			weights := reader(m).weights(m.chunks[i])
			sum := weights[""].Binds
			for j, r := range h.Reasons {
				sum += r.Weight
				if j > 0 && math.Abs(float64(r.Weight)) > math.Abs(float64(h.Reasons[j-1].Weight)) {
					t.Errorf("%q: %s weighs more than the reason before it", h.Words, r.Feature)
				}
			}
			if got := (Weight{Binds: sum}).likely(); math.Abs(got-h.Likely) > 1e-9 {
				t.Errorf("%q: the reasons make %.3f, not %.3f", h.Words, got, h.Likely)
			}
			binds = binds || h.Binds
		}
		if found := Find(text); binds != (len(found) > 0) {
			t.Errorf("%q: %+v was found", text, found)
		}
	}
}

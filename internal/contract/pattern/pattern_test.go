package pattern

import "testing"

func TestLater(t *testing.T) {
	bad := Later("(") // nothing is compiled yet
	defer func() {
		if recover() == nil {
			t.Error("what is no expression is taken for one")
		}
	}()
	word := Later(`[a-z]+`)
	first := word()
	if got := first.FindString("1 ab 2"); got != "ab" || word() != first {
		t.Errorf("it finds %q, or is made each time", got)
	}
	bad()
}

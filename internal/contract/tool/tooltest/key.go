package tooltest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// byKey reports whether c is of a tool whose target honours keys, and can be
// checked.
func (w *world) byKey(c Case) bool {
	w.t.Helper()
	if w.tool.Spec().Idempotency != tool.ByKey || c.Status != tool.Success {
		return false
	}
	if c.Keys == nil {
		w.t.Error("the contract says key, and the case does not say how to count what the target did")
	}
	return c.Keys != nil
}

// had reports effects of the target that are not want, by key.
func (w *world) had(c Case, after string, want ...string) {
	w.t.Helper()
	if got := c.Keys(); !slices.Equal(got, want) {
		w.t.Errorf("after %s the target has acted under the keys %q, want %q", after, got, want)
	}
}

// answered reports an outcome that is not that of the first run.
func (w *world) answered(by string, r, first tool.Result) {
	w.t.Helper()
	if r.Status != first.Status || !bytes.Equal(r.Data, first.Data) {
		w.t.Errorf("%s ends in %s %s, and the first run under its key in %s %s", by, r.Status, r.Data, first.Status, first.Data)
	}
}

// checkKey repeats a, which has had its effect and ended in first, in every way
// that must have no other.
func (w *world) checkKey(c Case, a *tool.Action, first tool.Result) {
	w.t.Helper()
	if !w.byKey(c) {
		return
	}
	env := w.env(a)
	w.had(c, "Do", env.Key)
	w.answered("a second run under one key", w.do(w.t.Context(), a, env), first)
	w.had(c, "a second run under one key", env.Key)
	again := w.prepare()
	w.answered("a second call under one key", w.do(w.t.Context(), again, env), first)
	w.had(c, "a second call under one key", env.Key)
	w.settle(a, first)
	w.had(c, "Settle", env.Key)

	other := w.env(a)
	other.Key += "-other"
	w.do(w.t.Context(), a, other)
	w.had(c, "a run under another key", env.Key, other.Key)
}

// settle asks for the outcome, which must be known.
func (w *world) settle(a *tool.Action, first tool.Result) {
	w.t.Helper()
	s, ok := w.tool.(tool.Settler)
	if !ok {
		return // checkSpec says so
	}
	r, err := s.Settle(w.t.Context(), w.plan(a), a.Fingerprint)
	if err != nil || r == nil {
		w.t.Errorf("Settle returns %v, %v; want the outcome of the first run", r, err)
		return
	}
	w.checkResult(a, *r)
	w.answered("Settle", *r, first)
}

// checkKeyUnsent settles a call that a crash cut off before it reached its
// target: whoever sent it then, it has had one effect.
func checkKeyUnsent(t testing.TB, c Case) {
	t.Helper()
	w := open(t, c)
	s, ok := w.tool.(tool.Settler)
	if !ok || !w.byKey(c) {
		return
	}
	a := w.prepare()
	w.had(c, "Prepare")
	r, err := s.Settle(t.Context(), w.plan(a), a.Fingerprint)
	if err != nil {
		t.Errorf("Settle: %v", err)
		return
	}
	env := w.env(a)
	done := w.do(t.Context(), a, env)
	w.had(c, "Settle and then Do", env.Key)
	if r != nil { // else it did nothing, and says so
		w.answered("Do after Settle", done, *r)
	}
}

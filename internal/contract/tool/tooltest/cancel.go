package tooltest

import (
	"context"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// patience is how long a call may go on after its context has ended.
const patience = 5 * time.Second

// checkCancelBefore calls with a context that has ended.
func checkCancelBefore(t testing.TB, c Case) {
	t.Helper()
	w := open(t, c)
	a := w.prepare()
	before := w.snap()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, ended := w.within(ctx, a, w.env(a))
	if !ended {
		return
	}
	w.unchanged(before, "a call that was cancelled before it began")
	if c.Keys != nil {
		w.had(c, "a call that was cancelled before it began")
	}
	w.checkInterrupted(r)
}

// checkCancelMidway ends the context once the call has shown a sign of life.
func checkCancelMidway(t testing.TB, c Case) {
	t.Helper()
	w := open(t, c)
	a := w.prepare()
	w.checkAction(a)
	before := w.snap()
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	env := w.env(a)
	env.Live = writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
	r, ended := w.within(ctx, a, env)
	if !ended {
		return
	}
	w.checkTouched(a, before.changes(w.snap()))
	w.checkResult(a, r)
	w.checkEnvelope(r)
	w.checkInterrupted(r)
}

// within runs a until patience is over after the end of ctx.
func (w *world) within(ctx context.Context, a *tool.Action, env tool.Env) (tool.Result, bool) {
	w.t.Helper()
	done := make(chan tool.Result, 1)
	go func() { done <- w.do(ctx, a, env) }()
	select {
	case r := <-done:
		return r, true
	case <-ctx.Done():
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case r := <-done:
		return r, true
	case <-late.C:
		w.t.Errorf("Do(%s) goes on %s after its context ended", w.in.Args, patience)
		return tool.Result{}, false
	}
}

func (w *world) checkInterrupted(r tool.Result) {
	w.t.Helper()
	if r.Status != tool.Interrupted || kindOf(r) != tool.Cancelled {
		w.t.Errorf("a cancelled call ends in %s %s, want interrupted cancelled: %s", r.Status, kindOf(r), r.Text)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

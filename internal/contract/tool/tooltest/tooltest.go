// Package tooltest proves the claims of a tool's contract by calling the tool.
//
// Every tool must pass Test, built in or not, bare or decorated.
package tooltest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Case is one call of a tool in a world of its own.
type Case struct {
	// Open fills dir, the workspace, and returns a tool that works in it and
	// what the call gets. It is called several times, each time with an empty
	// directory, and must do the same each time.
	Open func(t testing.TB, dir string) (tool.Tool, tool.Input)

	Status tool.Status // how the call ends; "" means Success
	Kind   tool.Kind   // of its failure; "" means none
	Blocks bool        // once it has written to Env.Live, the call runs until it is cancelled

	// Keys returns the idempotency key of each effect that the target of the
	// tool has had, in order, since the last Open. It is needed where the
	// contract says key.
	Keys func() []string
}

// Test checks, with real calls, that
//
//   - the contract is valid and does not change;
//   - arguments that do not fit the schema are answered with an invalid failure;
//   - Prepare changes nothing, and what it plans is within the contract;
//   - Do changes nothing that the action did not declare to write, and a call
//     that only reads changes nothing at all (a missing directory on the way to
//     a declared path counts as declared);
//   - the result is whole: its status and failure agree, its text is within its
//     limit, and the digests that it reports are those of the files;
//   - Settle says that nothing happened before Do and that it succeeded after, and a
//     second run changes nothing more, where the contract says
//     compare-and-swap;
//   - Env.Key reaches the target, where the contract says key: whatever is done
//     under one key, Settle after a lost result included, has one effect and one
//     answer, and another key has another effect;
//   - a cancelled call stops, says so and has changed nothing.
func Test(t testing.TB, c Case) {
	t.Helper()
	if c.Status == "" {
		c.Status = tool.Success
	}
	checkSpec(t, c)
	checkRefusals(t, c)
	switch {
	case c.Blocks:
		checkCancelMidway(t, c)
	default:
		checkCall(t, c)
		checkKeyUnsent(t, c)
	}
	checkCancelBefore(t, c)
}

// A world is one opened case.
type world struct {
	t    testing.TB
	dir  string // the workspace; its parent is watched too
	tool tool.Tool
	in   tool.Input
}

func open(t testing.TB, c Case) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "workspace")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir}
	w.tool, w.in = c.Open(t, dir)
	if w.in.Call == "" {
		w.in.Call = "c1"
	}
	return w
}

// snap takes a snapshot of the workspace and what is beside it.
func (w *world) snap() tree { return snapshot(w.t, w.dir) }

// unchanged reports what has changed since before.
func (w *world) unchanged(before tree, during string) {
	w.t.Helper()
	for _, path := range before.changes(w.snap()) {
		w.t.Errorf("%s changed %s", during, path)
	}
}

// prepare returns the action of a call that must be possible.
func (w *world) prepare() *tool.Action {
	w.t.Helper()
	before := w.snap()
	a, err := w.tool.Prepare(w.t.Context(), w.in)
	w.unchanged(before, "Prepare")
	if err != nil {
		w.t.Fatalf("Prepare(%s): %v", w.in.Args, err)
	}
	if a == nil || a.Do == nil {
		w.t.Fatalf("Prepare(%s) returns no action", w.in.Args)
	}
	return a
}

// env lends a what its effects ask for.
func (w *world) env(a *tool.Action) tool.Env {
	return tool.Env{
		Allowed: a.Effects(),
		Key:     "tooltest-" + w.in.Call,
		Timeout: w.tool.Spec().Timeout,
		Live:    new(bytes.Buffer),
		Spill:   newSpill,
	}
}

// do runs a and returns its result, made of a failure if Do returned one.
func (w *world) do(ctx context.Context, a *tool.Action, env tool.Env) tool.Result {
	w.t.Helper()
	r, err := a.Do(ctx, env)
	if err == nil {
		return r
	}
	f, ok := errors.AsType[*tool.Failure](err)
	if !ok {
		w.t.Errorf("Do(%s) returns %v, which is not a failure that the model can act on", w.in.Args, err)
		f = &tool.Failure{Kind: tool.Internal, Message: err.Error()}
	}
	r = tool.Failed(f)
	if f.Kind == tool.Cancelled {
		r.Status = tool.Interrupted
	}
	return r
}

func checkSpec(t testing.TB, c Case) {
	t.Helper()
	w := open(t, c)
	s := w.tool.Spec()
	if err := s.Validate(); err != nil {
		t.Errorf("Spec: %v", err)
	}
	if again := w.tool.Spec(); !reflect.DeepEqual(s, again) {
		t.Error("Spec returns something else the second time")
	}
	if _, ok := w.tool.(tool.Settler); !ok && (s.Idempotency == tool.CompareAndSwap || s.Idempotency == tool.ByKey) {
		t.Errorf("Spec claims %s, and the tool has no Settle to find out how a call ended", s.Idempotency)
	}
}

// checkCall follows one call from Prepare to its second run.
func checkCall(t testing.TB, c Case) {
	t.Helper()
	w := open(t, c)
	a := w.prepare()
	w.checkAction(a)
	before := w.snap()
	w.checkSettled(a, before, nil)

	r := w.do(t.Context(), a, w.env(a))
	after := w.snap()
	w.checkTouched(a, before.changes(after))
	w.checkResult(a, r)
	w.checkEnvelope(r)
	if r.Status != c.Status || kindOf(r) != c.Kind {
		t.Errorf("Do(%s) ends in %s %s, want %s %s: %s", w.in.Args, r.Status, kindOf(r), c.Status, c.Kind, r.Text)
	}
	if r.Status == tool.Success {
		w.checkSettled(a, after, &r)
	}
	w.checkSecondRun(a)
	w.checkKey(c, a, r)
}

func kindOf(r tool.Result) tool.Kind {
	if r.Failure == nil {
		return ""
	}
	return r.Failure.Kind
}

// checkSecondRun repeats a call whose contract says that this does nothing more:
// the same action, and the same arguments.
func (w *world) checkSecondRun(a *tool.Action) {
	w.t.Helper()
	switch w.tool.Spec().Idempotency {
	case tool.CompareAndSwap, tool.ReadOnly:
	default:
		return
	}
	before := w.snap()
	w.do(w.t.Context(), a, w.env(a))
	w.unchanged(before, "the second run of an action")
	again, err := w.tool.Prepare(w.t.Context(), w.in)
	if err == nil {
		w.do(w.t.Context(), again, w.env(again))
	}
	w.unchanged(before, "the second call")
}

// checkSettled asks how the call ended: a nil want means that it did nothing.
func (w *world) checkSettled(a *tool.Action, now tree, want *tool.Result) {
	w.t.Helper()
	s, ok := w.tool.(tool.Settler)
	if !ok || w.tool.Spec().Idempotency != tool.CompareAndSwap {
		return
	}
	if len(a.Fingerprint) == 0 {
		w.t.Error("the action has no fingerprint, so that Settle cannot tell how it ended")
		return
	}
	got, err := s.Settle(w.t.Context(), w.plan(a), a.Fingerprint)
	w.unchanged(now, "Settle")
	switch {
	case err != nil:
		w.t.Errorf("Settle: %v", err)
	case want == nil && got != nil:
		w.t.Errorf("Settle before Do returns %s, %q; want nil, for nothing was done", got.Status, got.Text)
	case want != nil && (got == nil || got.Status != want.Status):
		w.t.Errorf("Settle after Do returns %+v, want %s", got, want.Status)
	case want != nil:
		w.checkResult(a, *got)
		if !reflect.DeepEqual(got.Seen, want.Seen) {
			w.t.Errorf("Settle says that the model knows %v, Do said %v", got.Seen, want.Seen)
		}
	}
}

func (w *world) plan(a *tool.Action) tool.Plan {
	s := w.tool.Spec()
	return tool.Plan{
		Call:    tool.Call{ID: w.in.Call, Tool: s.Name, Args: w.in.Args},
		Version: s.Version, Parts: a.Parts, Summary: a.Summary, Preview: a.Preview,
		Timeout: s.Timeout, Key: "tooltest-" + w.in.Call,
	}
}

// A spill keeps an artifact in memory.
type spill struct {
	bytes.Buffer
	handle string
}

func newSpill(string) (tool.Spill, error) { return new(spill), nil }

func (s *spill) Close() error {
	s.handle = "artifact:" + digest(s.Bytes())
	return nil
}

func (s *spill) Handle() string { return s.handle }

package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A recorder is a testing.TB that keeps what a test reports instead of failing.
type recorder struct {
	testing.TB
	reports []string
}

func (r *recorder) Helper()        {}
func (r *recorder) Error(a ...any) { r.reports = append(r.reports, fmt.Sprint(a...)) }

func (r *recorder) Errorf(format string, a ...any) {
	r.reports = append(r.reports, fmt.Sprintf(format, a...))
}

type stopped struct{}

func (r *recorder) Fatal(a ...any) {
	r.Error(a...)
	panic(stopped{})
}

func (r *recorder) Fatalf(format string, a ...any) {
	r.Errorf(format, a...)
	panic(stopped{})
}

// reports runs c and returns what it reports.
func reports(t *testing.T, c Case) []string {
	r := &recorder{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != (stopped{}) {
				panic(p)
			}
		}()
		Test(r, c)
	}()
	return r.reports
}

type putArgs struct {
	Path string `json:"path"`
	Text string `json:"text"`
	Mode string `json:"mode,omitempty" enum:"new,any"`
	Size int    `json:"size,omitempty" min:"0" max:"9"`
}

// A put is an honest tool that makes a file, unless one of its parts is
// replaced.
type put struct {
	tool.Tool
	dir    string
	settle func(want string, at string) (*tool.Result, error)
}

func (p put) Settle(_ context.Context, plan tool.Plan, fingerprint json.RawMessage) (*tool.Result, error) {
	var want string
	if err := json.Unmarshal(fingerprint, &want); err != nil {
		return nil, err
	}
	return p.settle(want, filepath.Join(p.dir, plan.Parts[0].Name))
}

func putSpec() tool.Spec {
	return tool.Spec{
		Name: "Put", Version: 1, Description: "makes a file",
		Effects: []effect.Kind{effect.Write}, Idempotency: tool.CompareAndSwap,
		Risk: tool.Low, Timeout: time.Minute,
	}
}

// A lie changes one part of an honest put.
type lie struct {
	spec   func(*tool.Spec)
	action func(dir string, a *tool.Action) // after Prepare has made it
	result func(dir string, r *tool.Result) // after Do has made it
	settle func(want, at string) (*tool.Result, error)
	bare   bool // without Settle
	wrap   func(tool.Tool) tool.Tool
}

func (l lie) open(t testing.TB, dir string) (tool.Tool, tool.Input) {
	spec := putSpec()
	if l.spec != nil {
		l.spec(&spec)
	}
	honest := tool.New(spec, func(_ context.Context, in putArgs, _ tool.Input) (*tool.Action, error) {
		return l.prepare(dir, in), nil
	})
	var made tool.Tool = put{Tool: honest, dir: dir, settle: l.settled}
	if l.bare {
		made = honest
	}
	if l.wrap != nil {
		made = l.wrap(made)
	}
	return made, tool.Input{Args: json.RawMessage(`{"path":"new/a.txt","text":"hello"}`)}
}

func (l lie) settled(want, at string) (*tool.Result, error) {
	if l.settle != nil {
		return l.settle(want, at)
	}
	b, err := os.ReadFile(at)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case digest(b) == want:
		return &tool.Result{Status: tool.Success, Text: "made", Seen: map[string]string{"new/a.txt": want}}, nil
	}
	return &tool.Result{Status: tool.Error, Text: "other", Failure: &tool.Failure{Kind: tool.Stale, Message: "other"}}, nil
}

func (l lie) prepare(dir string, in putArgs) *tool.Action {
	want := digest([]byte(in.Text))
	fingerprint, _ := json.Marshal(want)
	a := &tool.Action{
		Parts:   []tool.Part{{Name: in.Path, Effects: effect.Set{{Kind: effect.Write, On: in.Path}}}},
		Summary: "Put " + in.Path, Fingerprint: fingerprint,
		Do: func(ctx context.Context, env tool.Env) (tool.Result, error) {
			if ctx.Err() != nil {
				return tool.Result{}, &tool.Failure{Kind: tool.Cancelled, Message: "cancelled"}
			}
			at := filepath.Join(dir, in.Path)
			if _, err := os.Stat(at); err == nil {
				return tool.Result{}, &tool.Failure{Kind: tool.Stale, Message: "it is there"}
			}
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				return tool.Result{}, err
			}
			if err := os.WriteFile(at, []byte(in.Text), 0o644); err != nil {
				return tool.Result{}, err
			}
			r := tool.Result{
				Status: tool.Success, Text: "made", Data: json.RawMessage(`{"bytes":5}`),
				Seen:  map[string]string{in.Path: want},
				Edits: []edit.Intent{{Path: in.Path, Result: want}},
			}
			if l.result != nil {
				l.result(dir, &r)
			}
			return r, nil
		},
	}
	if l.action != nil {
		l.action(dir, a)
	}
	return a
}

func TestHonestToolPasses(t *testing.T) {
	for _, r := range reports(t, Case{Open: lie{}.open}) {
		t.Error(r)
	}
}

func write(t testing.TB, path string) {
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Each lie is one claim of the contract that is not kept; the suite must report
// it in the words beside it.
func TestLiesAreCaught(t *testing.T) {
	for _, c := range []struct {
		name, says string
		lie        lie
	}{
		{"bad contract", "version 0", lie{spec: func(s *tool.Spec) { s.Version = 0 }}},
		{"changing contract", "something else the second time", lie{wrap: func(inner tool.Tool) tool.Tool { return &fickle{inner: inner.(settler)} }}},
		{"no Settle", "no Settle", lie{bare: true}},
		{"a decorator that loses Settle", "no Settle", lie{wrap: func(inner tool.Tool) tool.Tool { return struct{ tool.Tool }{inner} }}},
		{"anything is accepted", "want an invalid failure", lie{wrap: func(inner tool.Tool) tool.Tool { return lenient{inner.(settler)} }}},
		{"Prepare acts", "Prepare changed new", lie{action: func(dir string, _ *tool.Action) { os.MkdirAll(filepath.Join(dir, "new"), 0o755) }}},
		{"no Do", "returns no action", lie{action: func(_ string, a *tool.Action) { a.Do = nil }}},
		{"undeclared kind", "the action has the effect network", lie{action: func(_ string, a *tool.Action) {
			a.Parts[0].Effects = append(a.Parts[0].Effects, effect.Effect{Kind: effect.Network, On: "example.org"})
		}}},
		{"unresolved path", "not a resolved path", lie{action: func(_ string, a *tool.Action) { a.Parts[0].Effects[0].On = "./new/a.txt" }}},
		{"summary of two lines", "is not one line", lie{action: func(_ string, a *tool.Action) { a.Summary = "a\nb" }}},
		{"too much time", "the contract allows", lie{action: func(_ string, a *tool.Action) { a.Timeout = time.Hour }}},
		{"fingerprint is no JSON", "the fingerprint is no JSON", lie{action: func(_ string, a *tool.Action) { a.Fingerprint = json.RawMessage("{") }}},
		{"no fingerprint", "no fingerprint", lie{action: func(_ string, a *tool.Action) { a.Fingerprint = nil }}},
		{"undeclared write", "Do changed other.txt, which the action did not declare", lie{result: func(dir string, _ *tool.Result) { write(t, filepath.Join(dir, "other.txt")) }}},
		{"write outside", "outside.txt, which the action did not declare", lie{result: func(dir string, _ *tool.Result) { write(t, filepath.Join(dir, "../outside.txt")) }}},
		{"another mode", "Do changed kept, which the action did not declare", lie{
			result: func(dir string, _ *tool.Result) { os.Chmod(filepath.Join(dir, "kept"), 0o700) },
		}},
		{"read-only tool writes", "the contract says that it only reads", lie{
			spec:   func(s *tool.Spec) { s.Effects, s.Idempotency = []effect.Kind{effect.Read}, tool.ReadOnly },
			action: func(_ string, a *tool.Action) { a.Parts[0].Effects[0].Kind = effect.Read },
		}},
		{"success with a failure", "status success with the failure", lie{result: func(_ string, r *tool.Result) { r.Failure = &tool.Failure{Kind: tool.IO, Message: "m"} }}},
		{"error without a failure", "status error with the failure <nil>", lie{result: func(_ string, r *tool.Result) { r.Status = tool.Error }}},
		{"unknown status", `status "fine" is not on the list`, lie{result: func(_ string, r *tool.Result) { r.Status = "fine" }}},
		{"unknown kind", `failure kind "oops" is not on the list`, lie{result: func(_ string, r *tool.Result) {
			r.Status, r.Failure = tool.Error, &tool.Failure{Kind: "oops", Message: "m"}
		}}},
		{"retry is no use", "comes back for the same arguments", lie{result: func(_ string, r *tool.Result) {
			r.Status, r.Failure = tool.Error, &tool.Failure{Kind: tool.NotFound, Message: "m", Retry: true}
		}}},
		{"wrong outcome", "want success", lie{result: func(_ string, r *tool.Result) { r.Status = tool.Partial }}},
		{"too many bytes", "over the limit of 51200", lie{result: func(_ string, r *tool.Result) { r.Text = strings.Repeat("x", 51_201) }}},
		{"too many lines", "over the limit of 2000", lie{result: func(_ string, r *tool.Result) { r.Text = strings.Repeat("x\n", 2_001) }}},
		{"no text", "the text says nothing", lie{result: func(_ string, r *tool.Result) { r.Text = " " }}},
		{"data is no object", "data is no object", lie{result: func(_ string, r *tool.Result) { r.Data = json.RawMessage(`[1]`) }}},
		{"data is no JSON", "the result is no JSON", lie{result: func(_ string, r *tool.Result) { r.Data = json.RawMessage(`{`) }}},
		{"false digest", "the model knows new/a.txt as", lie{result: func(_ string, r *tool.Result) { r.Seen["new/a.txt"] = "aa" }}},
		{"false edit", "the result's edit ends in", lie{result: func(_ string, r *tool.Result) { r.Edits[0].Result = "aa" }}},
		{"undeclared edit", "an edit of b.txt", lie{result: func(_ string, r *tool.Result) { r.Edits[0].Path = "b.txt" }}},
		{"settled before it began", "want nil", lie{settle: func(string, string) (*tool.Result, error) {
			return &tool.Result{Status: tool.Success, Text: "made"}, nil
		}}},
		{"never settled", "Settle after Do", lie{settle: func(string, string) (*tool.Result, error) { return nil, nil }}},
		{"Settle acts", "Settle changed new", lie{settle: func(want, at string) (*tool.Result, error) {
			return nil, os.MkdirAll(filepath.Dir(at), 0o755)
		}}},
		{"Settle fails", "Settle: no", lie{settle: func(string, string) (*tool.Result, error) { return nil, errors.New("no") }}},
		{"a fault of ours", "not a failure that the model can act on", lie{action: func(_ string, a *tool.Action) {
			a.Do = func(context.Context, tool.Env) (tool.Result, error) { return tool.Result{}, errors.New("oops") }
		}}},
		{"the second run does more", "the second run of an action changed new/a.txt", lie{action: func(dir string, a *tool.Action) {
			first := a.Do
			a.Do = func(ctx context.Context, env tool.Env) (tool.Result, error) {
				r, err := first(ctx, env)
				if err != nil && ctx.Err() == nil {
					write(t, filepath.Join(dir, "new/a.txt"))
				}
				return r, err
			}
		}}},
		{"cancelled and yet done", "cancelled before it began changed new/a.txt", lie{action: func(_ string, a *tool.Action) {
			first := a.Do
			a.Do = func(ctx context.Context, env tool.Env) (tool.Result, error) {
				return first(context.WithoutCancel(ctx), env)
			}
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			open := func(t testing.TB, dir string) (tool.Tool, tool.Input) {
				write(t, filepath.Join(dir, "kept"))
				return c.lie.open(t, dir)
			}
			got := strings.Join(reports(t, Case{Open: open}), "\n")
			if !strings.Contains(got, c.says) {
				t.Errorf("the suite does not report %q; it reports:\n%s", c.says, got)
			}
		})
	}
}

// A call that blocks ends when it is cancelled, and not when it is not asked to.
func TestR018_BlockedCallsAreCancelled(t *testing.T) {
	wait := lie{action: func(_ string, a *tool.Action) {
		a.Do = func(ctx context.Context, env tool.Env) (tool.Result, error) {
			fmt.Fprintln(env.Live, "waiting")
			<-ctx.Done()
			return tool.Result{}, &tool.Failure{Kind: tool.Cancelled, Message: "cancelled"}
		}
	}}
	for _, r := range reports(t, Case{Open: wait.open, Blocks: true}) {
		t.Error(r)
	}
	untrue := lie{action: func(_ string, a *tool.Action) {
		a.Do = func(ctx context.Context, env tool.Env) (tool.Result, error) {
			fmt.Fprintln(env.Live, "waiting")
			<-ctx.Done()
			return tool.Result{Status: tool.Success, Text: "done"}, nil
		}
	}}
	got := strings.Join(reports(t, Case{Open: untrue.open, Blocks: true}), "\n")
	if !strings.Contains(got, "a cancelled call ends in success") {
		t.Errorf("the suite does not report a cancelled call that claims success; it reports:\n%s", got)
	}
}

// A call that goes on after it was cancelled is reported, and not waited for.
func TestR018_CallsThatCannotBeCancelledAreCaught(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := lie{action: func(_ string, a *tool.Action) {
			a.Do = func(_ context.Context, env tool.Env) (tool.Result, error) {
				fmt.Fprintln(env.Live, "waiting")
				<-release
				return tool.Result{Status: tool.Success, Text: "done"}, nil
			}
		}}
		got := strings.Join(reports(t, Case{Open: deaf.open, Blocks: true}), "\n")
		close(release)
		if !strings.Contains(got, "goes on 5s after its context ended") {
			t.Errorf("the suite does not report it; it reports:\n%s", got)
		}
	})
}

type settler interface {
	tool.Tool
	tool.Settler
}

// A fickle tool changes its contract.
type fickle struct {
	inner settler
	asked int
}

func (f *fickle) Spec() tool.Spec {
	s := f.inner.Spec()
	f.asked++
	s.Version = f.asked
	return s
}

func (f *fickle) Prepare(ctx context.Context, in tool.Input) (*tool.Action, error) {
	return f.inner.Prepare(ctx, in)
}

func (f *fickle) Settle(ctx context.Context, p tool.Plan, fingerprint json.RawMessage) (*tool.Result, error) {
	return f.inner.Settle(ctx, p, fingerprint)
}

// A lenient tool takes whatever it gets for its example.
type lenient struct{ settler }

func (l lenient) Prepare(ctx context.Context, in tool.Input) (*tool.Action, error) {
	in.Args = json.RawMessage(`{"path":"new/a.txt","text":"hello"}`)
	return l.settler.Prepare(ctx, in)
}

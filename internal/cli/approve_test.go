package cli

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/ui/terminal"
)

// A typist types an answer once it is prompted for.
type typist struct {
	keys   io.WriteCloser
	answer string
	shown  bytes.Buffer
}

func (w *typist) Write(p []byte) (int, error) {
	w.shown.Write(p)
	if bytes.HasSuffix(p, []byte(" > ")) {
		answer := w.answer
		go io.WriteString(w.keys, answer) // the reader waits for it
	}
	return len(p), nil
}

// What a person wants kept is in their settings, as it was shown, where it can be
// taken out again; nothing else that they answer is.
func TestAnAnswerIsKeptWhereItWasAskedFor(t *testing.T) {
	for answer, kept := range map[string]bool{"y\n": false, "a\n": false, "s\n": true, "n\n": false} {
		t.Run(strings.TrimSpace(answer), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "belay", "config.toml")
			in, keys := io.Pipe()
			w := &typist{keys: keys, answer: answer}
			r := &rig{ui: terminal.New(terminal.Options{In: in, Out: io.Discard, Progress: w})}
			q := agent.Question{
				Plan:     tool.Plan{Call: tool.Call{ID: "c1", Tool: "Bash"}, Summary: "make x; gofmt -l a"},
				Remember: []string{"Bash(make x)", "Bash(gofmt -l *)"},
			}
			a, err := r.approver(file)(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			keys.Close()
			if err := r.ui.Close(); err != nil {
				t.Fatal(err)
			}
			var want []policy.Rule
			if kept {
				want = []policy.Rule{
					rule(t, "Bash(make x)", policy.Allow, policy.FromUser), rule(t, "Bash(gofmt -l *)", policy.Allow, policy.FromUser),
				}
				if !strings.Contains(w.shown.String(), "belay config remove") {
					t.Errorf("where it is, is not said:\n%s", w.shown.String())
				}
			}
			if a.Save != kept || a.Allow != (answer != "n\n") {
				t.Errorf("answer %+v", a)
			}
			if d := cmp.Diff(want, load(t, Sources{User: file}).Rules); d != "" {
				t.Error(d)
			}
			if !kept {
				return
			}
			for _, text := range q.Remember {
				if err := RemoveConfig(file, "rules.allow", text); err != nil {
					t.Error(err)
				}
			}
			if got := load(t, Sources{User: file}).Rules; len(got) > 0 {
				t.Errorf("left: %v", got)
			}
		})
	}
}

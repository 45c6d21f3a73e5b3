//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/undo"
)

// TestPromise_P08_UndoRestoresWhatTheAgentChanged: sequences of edits, writes,
// removals and commands, with changes of the user's before, between and after
// them; what is there when all of it was taken back is what only the user would
// have made.
func TestPromise_P08_UndoRestoresWhatTheAgentChanged(t *testing.T) {
	for seed := range undoSequences {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			newUndoWorld(t, uint64(seed)).run()
		})
	}
}

// An undoWorld is a workspace in which an agent and a user work.
type undoWorld struct {
	t    *testing.T
	rand *rand.Rand
	sys  System
	dir  string
	rig  *rig
	mine map[string]string // what the user alone would have made: path to mode and bytes
	made int               // names so far
}

// Both change the shared files, in lines of their own. The agent does what it
// likes with its files, and the user with theirs.
var (
	sharedFiles = []string{"shared.txt", "src/shared.go"}
	agentFiles  = []string{"a.txt", "src/b.txt", "src/deep/c.sh", ".d"}
	userFiles   = []string{"mine.txt", "src/mine.go"}
)

func newUndoWorld(t *testing.T, seed uint64) *undoWorld {
	t.Helper()
	root := t.TempDir()
	w := &undoWorld{
		t: t, rand: rand.New(rand.NewPCG(seed, 8)), dir: filepath.Join(root, "work"), mine: make(map[string]string),
		sys: System{
			Environ: []string{"HOME=" + root, "PATH=" + os.Getenv("PATH")}, Dir: filepath.Join(root, "work"),
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
		},
	}
	lines := ""
	for i := range 20 {
		lines += fmt.Sprintf("line %d\n", i)
	}
	for _, path := range append(append(append([]string(nil), sharedFiles...), agentFiles...), userFiles...) {
		w.write(path, lines)
	}
	w.do(os.Chmod(w.at("src/deep/c.sh"), 0o750))
	w.do(os.WriteFile(w.at("blob"), []byte{0, 1, 2, 255}, 0o600))
	w.mine = w.tree()
	return w
}

func (w *undoWorld) at(path string) string { return filepath.Join(w.dir, path) }

func (w *undoWorld) do(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *undoWorld) write(path, text string) {
	w.t.Helper()
	w.do(os.MkdirAll(filepath.Dir(w.at(path)), 0o755))
	w.do(os.WriteFile(w.at(path), []byte(text), 0o644))
}

// tree returns the workspace: mode and bytes by path, directories too.
func (w *undoWorld) tree() map[string]string {
	w.t.Helper()
	out := make(map[string]string)
	w.do(filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == w.dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b := []byte(nil)
		if !d.IsDir() {
			b, err = os.ReadFile(path)
		}
		rel, _ := filepath.Rel(w.dir, path)
		out[rel] = info.Mode().String() + " " + string(b)
		return err
	}))
	return out
}

// user makes a change of the user's, in the workspace and in what is expected.
func (w *undoWorld) user() {
	w.t.Helper()
	n := w.rand.IntN(1000)
	switch w.rand.IntN(4) {
	case 0, 1: // a line of their own of a shared file; the agent's are two away at least
		path := sharedFiles[w.rand.IntN(len(sharedFiles))]
		line := 4*w.rand.IntN(5) + 2
		b, err := os.ReadFile(w.at(path))
		w.do(err)
		w.do(os.WriteFile(w.at(path), []byte(setLine(string(b), line, fmt.Sprintf("user %d", n))), 0o644))
		w.mine[path] = setLine(w.mine[path], line, fmt.Sprintf("user %d", n))
	case 2:
		path := userFiles[w.rand.IntN(len(userFiles))]
		text := fmt.Sprintf("user %d\n", n)
		w.write(path, text)
		w.mine[path] = "-rw-r--r-- " + text
	case 3:
		w.made++
		path := fmt.Sprintf("src/user-%d", w.made)
		w.write(path, "u\n")
		w.mine[path] = "-rw-r--r-- u\n"
	}
}

func setLine(text string, line int, to string) string {
	lines := strings.SplitAfter(text, "\n")
	lines[line] = to + "\n"
	return strings.Join(lines, "")
}

// calls returns what the agent does in one step.
func (w *undoWorld) calls() []tool.Call {
	n := w.rand.IntN(1000)
	shared := sharedFiles[w.rand.IntN(len(sharedFiles))]
	own := agentFiles[w.rand.IntN(len(agentFiles))]
	line := 4*w.rand.IntN(5) + 1 // of the agent's, for sed
	w.made++
	call := func(name string, args any) tool.Call {
		b, err := json.Marshal(args)
		w.do(err)
		return tool.Call{Tool: name, Args: b}
	}
	type m = map[string]any
	bash := func(format string, a ...any) []tool.Call {
		return []tool.Call{call("Bash", m{"command": fmt.Sprintf(format, a...)})}
	}
	switch w.rand.IntN(12) {
	case 0, 1:
		b, err := os.ReadFile(w.at(shared))
		w.do(err)
		old := strings.SplitAfter(string(b), "\n")[line-1]
		return []tool.Call{
			call("Read", m{"path": shared}),
			call("Edit", m{"path": shared, "old": old, "new": fmt.Sprintf("agent %d %d\n", n, w.made)}),
		}
	case 2:
		return []tool.Call{call("Read", m{"path": own}), call("Write", m{"path": own, "content": fmt.Sprintf("all new %d\n", n)})}
	case 3:
		return []tool.Call{call("Write", m{"path": fmt.Sprintf("new-%d/deep/f", w.made), "content": "n\n"})}
	case 4:
		return bash("sed -i '%ds/.*/sed %d %d/' %s", line, n, w.made, shared)
	case 5:
		return bash("rm -f %s; exit 3", own)
	case 6:
		return bash("chmod 7%d0 %s", w.rand.IntN(8), own)
	case 7:
		return bash("mkdir -p made-%d/x && printf '\\000%d' > made-%d/x/blob && cp blob made-%d/", w.made, n, w.made, w.made)
	case 8:
		return bash("printf '\\377\\000%d' >> blob; echo %d >> %s", n, n, own)
	case 9:
		return bash("mv %s moved-%d 2>/dev/null; true", own, w.made)
	case 10:
		return bash("mkdir -p src/deep; echo anew %d > %s", n, own)
	default:
		return bash("rm -rf moved-* made-*")
	}
}

// Stream has the agent do something, or end its turn; the user does something
// meanwhile.
func (w *undoWorld) Stream(context.Context, *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for range w.rand.IntN(3) {
			w.user()
		}
		reply := model.Reply{Stop: model.End, Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "done"}}}}
		if w.rand.IntN(5) > 0 {
			reply.Stop = model.Calls
			for _, c := range w.calls() {
				reply.Message.Parts = append(reply.Message.Parts, model.Call{Call: c})
			}
		}
		yield(reply, nil)
	}
}

func (w *undoWorld) open(session string) {
	w.t.Helper()
	var err error
	w.rig, err = w.sys.open(w.t.Context(), openOptions{
		runOptions: runOptions{mode: "full", quiet: true}, session: session, interrupts: listen(), provider: w,
		info: model.Info{Name: "test/random"}, asked: true,
	})
	w.do(err)
}

func (w *undoWorld) run() {
	w.open("")
	for range 1 + w.rand.IntN(4) {
		for range w.rand.IntN(3) {
			w.user()
		}
		w.do(w.rig.agent.Turn(w.t.Context(), agent.Input{Text: "go"}))
		if w.rand.IntN(3) == 0 { // another process
			id := w.rig.id
			w.do(w.rig.close())
			w.open(id)
		}
	}
	w.user()
	all := w.tree()
	for w.undo(undo.Scope{}) {
	}
	if diff := cmp.Diff(w.mine, w.tree()); diff != "" {
		w.t.Fatalf("undo (-want +got):\n%s", diff)
	}
	for w.undo(undo.Scope{Redo: true}) {
	}
	if diff := cmp.Diff(all, w.tree()); diff != "" {
		w.t.Fatalf("redo (-want +got):\n%s", diff)
	}
	w.do(w.rig.close())
}

// undo reports whether there was something to take back.
func (w *undoWorld) undo(s undo.Scope) bool {
	w.t.Helper()
	b, err := json.Marshal(s)
	w.do(err)
	r, err := w.rig.agent.Do(w.t.Context(), tool.Call{Tool: undo.Tool, Args: b})
	w.do(err)
	if r.Failure != nil && r.Failure.Kind == tool.NoChange {
		return false
	}
	if r.Status != tool.Success {
		w.do(errors.New(r.Text))
	}
	return true
}

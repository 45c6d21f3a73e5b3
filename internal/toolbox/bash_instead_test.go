package toolbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// R148, R149: what another tool covers is answered with its call, ready to use.
func TestR149_ACommandThatAToolCoversIsAnsweredWithItsCall(t *testing.T) {
	for command, want := range map[string]string{
		"cat a.txt":                       `Read {"path":"a.txt"}`,
		"cat -n 'my dir/a.txt' b":         `Read {"path":"my dir/a.txt"}; Read {"path":"b"}`,
		"head a.txt":                      `Read {"limit":10,"path":"a.txt"}`,
		"head -n 20 a.txt":                `Read {"limit":20,"path":"a.txt"}`,
		"head -20 a.txt":                  `Read {"limit":20,"path":"a.txt"}`,
		"head -n20 a.txt":                 `Read {"limit":20,"path":"a.txt"}`,
		"tail -n 5 ./a.txt":               `Read {"limit":5,"offset":-5,"path":"./a.txt"}`,
		"ls":                              `LS {}`,
		"ls -la src":                      `LS {"path":"src"}`,
		"grep -rn foo src":                `Grep {"path":"src","pattern":"foo"}`,
		"grep -rniw foo . ":               `Grep {"path":".","pattern":"(?i)\\bfoo\\b"}`,
		"grep -F 'a.b(c' a.txt":           `Grep {"path":"a.txt","pattern":"a\\.b\\(c"}`,
		"grep -rn --include='*.go' foo .": `Grep {"file_pattern":"*.go","path":".","pattern":"foo"}`,
		"rg -C3 foo":                      `Grep {"context":3,"pattern":"foo"}`,
		"find . -name '*.go' -type f":     `Glob {"pattern":"**/*.go"}`,
		"find src/x -type f -name a.c":    `Glob {"path":"src/x","pattern":"**/a.c"}`,
	} {
		if got := spelled(covered(command)); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

func spelled(calls []tool.Call) string {
	var all []string
	for _, c := range calls {
		all = append(all, fmt.Sprintf("%s %s", c.Tool, c.Args))
	}
	return strings.Join(all, "; ")
}

// R150: what no tool covers runs, and so does a filter behind another command.
func TestR150_WhatNoToolCoversRuns(t *testing.T) {
	for _, command := range []string{
		"go test ./... | tail -5", "git status", "cat", "cat -", "cat /etc/passwd", "cat ../a", "cat a.txt > b.txt", "cat $F", "cat *.go",
		"cat <<X\nhi\nX", "head -c 20 a", "head -n -3 a", "tail -f log", "tail -n +3 a", "head a b", "ls -R", "ls -lt", "ls a b", "ls ~",
		"grep foo", "grep 'a.*b' a.txt", "grep -c foo a.txt", "grep -v foo a.txt", "grep -rl foo .", "grep -P foo a", "grep -r foo a b",
		"find . -delete", "find . -name a -exec rm {} +", "find .", "find / -name x", "find . -mtime 1", "find . -newer a -name b",
		"wc -l a.txt", "ls | wc -l", "cat a.txt && make", "echo hi", "X=1 cat a.txt", "time ls", "sed -n 1,3p a.txt",
	} {
		if got := covered(command); got != nil {
			t.Errorf("%s: %s", command, spelled(got))
		}
	}
}

// The calls are valid, and show what the command would have shown.
func TestR149_TheCallsSayWhatTheCommandsSay(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 50 {
		fmt.Fprintf(&lines, "line %d of a.b(c\n", i)
	}
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", "src/b.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plain, refusing := bashIn(t, dir, BashOptions{}), bashIn(t, dir, BashOptions{Instead: true})
	w := opened(t, dir)
	tools := map[string]tool.Tool{"Read": Read(w), "LS": LS(w), "Grep": grep(w), "Glob": Glob(w)}
	for _, command := range []string{
		"cat a.txt", "head -n 3 a.txt", "tail -2 src/b.go", "ls", "grep -rn 'of' src", "grep -nF 'a.b(c' a.txt", "find . -name '*.go'",
	} {
		t.Run(command, func(t *testing.T) {
			ran, _ := bashWith(t, plain, tool.Env{}, bashArgs{Command: command})
			action, err := refusing.Prepare(t.Context(), bashCall(t, bashArgs{Command: command}))
			if err != nil {
				t.Fatal(err)
			}
			_, err = action.Do(t.Context(), tool.Env{})
			calls := covered(command)
			if f, ok := errors.AsType[*tool.Failure](err); !ok || f.Kind != tool.Invalid || !strings.HasSuffix(f.Hint, spelled(calls)) {
				t.Fatal(err)
			}
			if action, err = tools[calls[0].Tool].Prepare(t.Context(), tool.Input{Call: "c2", Args: calls[0].Args}); err != nil {
				t.Fatal(err)
			}
			got, err := action.Do(t.Context(), tool.Env{})
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(strings.TrimSuffix(ran.Text, "exit status 0")) {
				fields := strings.SplitN(strings.TrimPrefix(strings.TrimSpace(line), "./"), ":", 3)
				if last := fields[len(fields)-1]; !strings.Contains(got.Text, last) {
					t.Errorf("%q is not in\n%s", last, got.Text)
				}
			}
		})
	}
}

package toolbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/contract/tool/tooltest"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// put makes a file below dir.
func put(t testing.TB, dir, path, content string) {
	t.Helper()
	at := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// opened returns the workspace in dir.
func opened(t testing.TB, dir string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

const greeting = "package greet\n\nfunc Hello() string { return \"helo\" }\n"

// on is a case of make in a small tree, of which the model knows a.go.
func on(make func(*workspace.Workspace) tool.Tool, args string, c tooltest.Case) tooltest.Case {
	c.Open = func(t testing.TB, dir string) (tool.Tool, tool.Input) {
		put(t, dir, "a.go", greeting)
		put(t, dir, "sub/b.go", "package sub\r\n")
		put(t, dir, "blob", "\x00\x01")
		put(t, dir, ".hidden", "secret\n")
		if err := os.Chmod(filepath.Join(dir, "sub/b.go"), 0o755); err != nil {
			t.Fatal(err)
		}
		return make(opened(t, dir)), tool.Input{
			Args: json.RawMessage(args),
			Seen: map[string]string{"a.go": edit.Digest([]byte(greeting)), "sub/b.go": strings.Repeat("0", 64)},
		}
	}
	return c
}

func grep(w *workspace.Workspace) tool.Tool { return Grep(w, nil, nil) }

// Every tool keeps each claim of its contract (see package tooltest): the
// schema is strict, Prepare changes nothing, Do touches what was declared, the
// result is whole, a second run does nothing more, Settle finds the outcome, a
// cancelled call stops.
func TestR047_R053_ToolsKeepTheirContracts(t *testing.T) {
	for name, c := range map[string]tooltest.Case{
		"LS":               on(LS, `{}`, tooltest.Case{}),
		"LS missing":       on(LS, `{"path":"nowhere"}`, tooltest.Case{Status: tool.Error, Kind: tool.NotFound}),
		"Glob":             on(Glob, `{"pattern":"**/*.go"}`, tooltest.Case{}),
		"Glob nothing":     on(Glob, `{"pattern":"*.rs"}`, tooltest.Case{}),
		"Grep":             on(grep, `{"pattern":"package","context":1}`, tooltest.Case{}),
		"Grep bad pattern": on(grep, `{"pattern":"("}`, tooltest.Case{Status: tool.Error, Kind: tool.Invalid}),
		"Read":             on(Read, `{"path":"a.go"}`, tooltest.Case{}),
		"Read part":        on(Read, `{"path":"a.go","offset":2,"limit":1}`, tooltest.Case{Status: tool.Partial}),
		"Read binary":      on(Read, `{"path":"blob"}`, tooltest.Case{Status: tool.Error, Kind: tool.Binary}),
		"Write new":        on(Write, `{"path":"x/y/new.go","content":"package y\n"}`, tooltest.Case{}),
		"Write empty":      on(Write, `{"path":"empty","content":""}`, tooltest.Case{}),
		"Write over":       on(Write, `{"path":"a.go","content":"package greet\n"}`, tooltest.Case{}),
		"Edit":             on(Edit, `{"path":"a.go","old":"helo","new":"hello"}`, tooltest.Case{}),
		"MultiEdit":        on(MultiEdit, `{"path":"a.go","edits":[{"old":"helo","new":"hello"},{"old":"hello","new":"hi"}]}`, tooltest.Case{}),
		"Patch":            on(Patch, `{"patch":"--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n package greet\n \n-func Hello() string { return \"helo\" }\n+func Hello() string { return \"hello\" }\n"}`, tooltest.Case{}),
		"Patch many":       on(Patch, `{"patch":"*** Begin Patch\n*** Update File: a.go\n*** Move to: x/b.go\n@@\n-package greet\n+package hi\n*** Add File: y/c.go\n+package y\n*** End Patch"}`, tooltest.Case{}),
		"Patch remove":     on(Patch, `{"patch":"*** Begin Patch\n*** Delete File: a.go\n*** End Patch"}`, tooltest.Case{}),
		"Rename":           on(Rename, `{"path":"a.go","symbol":"Hello","to":"Hi"}`, tooltest.Case{}),
		"Todo":             on(func(*workspace.Workspace) tool.Tool { return Todo() }, `{"items":[{"text":"look","state":"active"}]}`, tooltest.Case{}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tooltest.Test(t, c)
		})
	}
}

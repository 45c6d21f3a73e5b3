package policy

import (
	"encoding/json"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func TestR254_ANameIsKnownInOtherWords(t *testing.T) {
	for _, tt := range []struct {
		text, name string
		want       int
	}{
		{`import "github.com/mattn/go-sqlite3"`, "sqlite", 1},
		{"modernc.org/sqlite v1.29.0", "sqlite", 1},
		{"better-sqlite3 and sqlite", "sqlite", 2},
		{"sqlitefoo, mysqlite, sqlite3x, my_sqlite", "sqlite", 0},
		{"redisson, my_redis", "redis", 0},
		{"go-redis, redis-py", "redis", 2},
		{"python311 is python3", "python3", 1},
		{"new  Function(a)", "new Function", 1},
		{"renew Function", "new Function", 0},
		{"用sqlite保存", "sqlite", 1},
	} {
		if got := mentions(tt.text, tt.name); got != tt.want {
			t.Errorf("%q mentions %q %d times, want %d", tt.text, tt.name, got, tt.want)
		}
	}
}

// TestR254_WhatAShellWritesIsWritten holds that a name is not written by way of a
// redirection either.
func TestR254_WhatAShellWritesIsWritten(t *testing.T) {
	write := effect.Set{{Kind: effect.Write, On: "kinds.go"}, {Kind: effect.Process}}
	for _, tt := range []struct {
		command string
		parts   []tool.Part
		want    Verdict
	}{
		{`printf 'import "reflect"\n' > kinds.go`, []tool.Part{{Name: "> kinds.go", Effects: write}, {Name: `printf 'import "reflect"\n'`}}, Deny},
		{`echo 'import "reflect"' >> kinds.go`, []tool.Part{{Name: ">> kinds.go", Effects: write}, {Name: `echo 'import "reflect"'`}}, Deny},
		{`echo 'import "sort"' >> kinds.go`, []tool.Part{{Name: ">> kinds.go", Effects: write}, {Name: `echo 'import "sort"'`}}, Allow},
		{`grep reflect a.go > kinds.go`, []tool.Part{{Name: "> kinds.go", Effects: write}, {Name: "grep reflect a.go", Effects: effect.Set{{Kind: effect.Read, On: "a.go"}}}}, Allow},
		{`echo reflect`, []tool.Part{{Name: "echo reflect"}}, Allow},
	} {
		args, err := json.Marshal(map[string]string{"command": tt.command})
		if err != nil {
			t.Fatal(err)
		}
		rule, err := Ban{Ban: tool.Ban{Text: "reflect"}, ID: "n1", Words: "no reflect"}.Rule(FromConstraint)
		if err != nil {
			t.Fatal(err)
		}
		p := Policy{Mode: ModeFull, Rules: []Rule{rule}}.About(tool.Call{Tool: "Bash", Args: args}, &tool.Action{Parts: tt.parts})
		if got := p.Decide(tool.Spec{Name: "Bash", Effects: []effect.Kind{effect.Process, effect.Write, effect.Read}}, tt.parts).Verdict; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.command, got, tt.want)
		}
	}
}

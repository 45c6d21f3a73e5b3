package prompt

import (
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// TestR254_ABanOfANoteIsNeverForAllWork: whatever spelling a model finds for it, a
// note does not stop the work, and no pattern of one takes long to match.
func TestR254_ABanOfANoteIsNeverForAllWork(t *testing.T) {
	wide := []string{
		"Edit(**/*a*)", "Edit([!q]*/**)", "Edit(**/[a-z]*)", "Edit({*,x})", "Edit({**,api.go})", "Edit(*{,.go})", "Edit(**/*.{go,js})", "Edit(a*)", `Edit(\**)`,
		"Edit({api,{src,**}}/**)", "Edit(src/**)", "Read(internal/**)", "Edit(./**)", "Edit(.*)", "Edit(**/.*/**)",
		"Edit(" + strings.Repeat("{a,a}", 40) + "b)", "Edit(" + strings.Repeat("a", 400) + ")",
		"Bash(go [a-z]* **)", "Bash(go {test,build})", "Bash(go ?* **)", "Bash({go,npm} test)", "Bash(/usr/bin/go test)", `Bash("go" test)`, `Bash(\go test)`,
		"Bash(GO111MODULE=on go **)", "Bash($x)", "Bash(|)", "Bash(;)", "Bash(>)", "Bash(find **)", "Bash(rg **)", "Bash(X=1)", "Test(./...)",
	}
	for _, rule := range wide {
		r, err := policy.ParseRule(rule, policy.Deny, policy.FromConstraint)
		if err == nil && !tooWide(r) {
			t.Errorf("%s is taken", rule)
		}
	}
	for _, rule := range []string{
		"Edit(api.go)", "Edit(a)", "Edit(src/main.go)", "Edit(internal/lexer/**)", "Edit(**/legacy_*.go)", "Edit({api,lexer}.go)", "Edit(.github/**)", "Edit(数据/**)",
		"Bash(npm install left-pad)", "Bash(go test -race ./...)", "Bash(git commit **)", "Bash(go generate **)", "Bash(tsc **)", "Bash(python gen.py)",
	} {
		r, err := policy.ParseRule(rule, policy.Deny, policy.FromConstraint)
		if err != nil || tooWide(r) {
			t.Errorf("%s is refused: %v", rule, err)
		}
	}
	for text, want := range map[string]bool{
		"err != nil": true, "func main()": true, "func(": true, "fmt.Println(": true, "return nil": true, "测试": true,
		"new Error(": true, "func Test": true, "t.Errorf(": true, "class": true, "Function": true,
		"new Function": false, "new Data": false, "t.Skip(": false, "sync.Map": false, "import unsafe": false,
		"left-pad": false, "github.com/pkg/errors": false, "api.go": false, "sync.Pool": false,
	} {
		if got := allCommon(text); got != want {
			t.Errorf("%q is in all work: %v", text, got)
		}
	}
}

// TestR254_NoNoteBringsBackWhatAPersonLifted, in whatever words: they would lift it
// after each compaction.
func TestR254_NoNoteBringsBackWhatAPersonLifted(t *testing.T) {
	r := worked(t)
	for _, tt := range []struct {
		text   string
		forbid forbid
		lift   bool
		banned int
	}{
		{"no left-pad", forbid{Text: "left-pad"}, false, 1},
		{"still no left-pad", forbid{Text: "left-pad"}, true, 1},
		{"left-pad is out", forbid{Text: "left-pad"}, false, 0},
		{"not the API", forbid{Rule: "Edit(api.go)"}, true, 1},
		{"keep the API", forbid{Rule: "Edit(./api.go)"}, false, 0},
		{"the API stays", forbid{Rule: "Edit(lib/../api.go)"}, false, 0},
		{"no fuzzing", forbid{Rule: "Bash(go test -fuzz **)"}, true, 1},
		{"without fuzzing", forbid{Rule: "Bash(go  test -fuzz  **)"}, false, 0},
	} {
		r.add(event.Asked{Text: "left-pad?"})
		got := ReadHandoff(&r.State, r.Seq(), answered(note(map[string]any{"kind": "decision", "status": "rejected", "text": tt.text, "forbids": []forbid{tt.forbid}})))
		if len(got.Notes) != 1 || len(got.Notes[0].Bans) != tt.banned || len(got.Complaints) > 0 {
			t.Errorf("of %q there are %+v", tt.text, got)
		}
		r.add(event.Stopped{Reason: "end"})
		r.judged(2_000, got.Notes...)
		for _, n := range r.RuledOut() {
			if tt.lift {
				r.add(event.Constrained{ID: n.ID, Lifted: true, By: event.ByPerson})
			}
		}
	}
}

package toolbox

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/process"
)

var update = flag.Bool("update", false, "rewrite docs/tools.md")

// all returns the built-in tools in a workspace of their own.
func all(t testing.TB) []tool.Tool {
	t.Helper()
	h, err := process.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	dir := t.TempDir()
	o := Options{Workspace: opened(t, dir), Host: h, Bash: BashOptions{Root: dir}}
	tools := All(o)
	o.Patch = true
	for _, tl := range All(o) { // what is offered in the place of others comes last
		if tl.Spec().Name == "Patch" {
			tools = append(tools, tl)
		}
	}
	return tools
}

func TestR012_R020_R028_R029_R054_AllToolsAreValidAndInOrder(t *testing.T) {
	tools := all(t)
	if err := tool.ValidateAll(tools); err != nil {
		t.Error(err)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Spec().Name)
	}
	want := []string{"LS", "Glob", "Grep", "Read", "Write", "Edit", "MultiEdit", "Rename", "Bash", "Process", "Test", "Todo", "Patch"}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
}

// One way of changing parts of files is offered, whichever it is.
func TestR106_R109_PatchIsInThePlaceOfEdit(t *testing.T) {
	for patch, want := range map[bool][]string{
		false: {"LS", "Glob", "Grep", "Read", "Write", "Edit", "MultiEdit", "Rename", "Bash", "Process", "Test", "Todo"},
		true:  {"LS", "Glob", "Grep", "Read", "Write", "Patch", "Rename", "Bash", "Process", "Test", "Todo"},
	} {
		h, err := process.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		dir := t.TempDir()
		var names []string
		for _, tl := range All(Options{Workspace: opened(t, dir), Host: h, Bash: BashOptions{Root: dir}, Patch: patch}) {
			names = append(names, tl.Spec().Name)
		}
		if d := cmp.Diff(want, names); d != "" {
			t.Errorf("tools with patch %t (-want +got):\n%s", patch, d)
		}
	}
}

// The interface stays small: few arguments, and the same in every workspace.
func TestR011_R031_R056_ContractsAreSmallAndFixed(t *testing.T) {
	const most = 7
	here, there := all(t), all(t)
	for i, tl := range here {
		s := tl.Spec()
		if d := cmp.Diff(s, there[i].Spec()); d != "" {
			t.Errorf("the contract of %s depends on where it works:\n%s", s.Name, d)
		}
		if names := order(s.Input); len(names) > most {
			t.Errorf("%s has %d arguments, more than %d: %v", s.Name, len(names), most, names)
		}
	}
}

// A change is one part that names one file, whatever way leads there; so it can
// be judged by itself, and two changes of one file never overlap.
func TestR022_R049_AChangeIsOfOneFile(t *testing.T) {
	d := newDesk(t, map[string]string{"a/f": "one two", "b/f": "one two"})
	if err := os.Symlink("a", filepath.Join(d.dir, "link")); err != nil {
		t.Fatal(err)
	}
	d.ok("Read", args{"path": "a/f"})
	d.ok("Read", args{"path": "b/f"})
	effects := func(name string, a args) effect.Set {
		t.Helper()
		action, err := d.prepare(name, a)
		if err != nil {
			t.Fatal(err)
		}
		if len(action.Parts) != 1 || len(action.Edits) != 1 || action.Edits[0].Path != action.Parts[0].Name {
			t.Errorf("%s(%v) has the parts %+v and the edits %+v, want one of each", name, a, action.Parts, action.Edits)
		}
		return action.Effects()
	}
	first := effects("Edit", args{"path": "a/f", "old": "one", "new": "1"})
	for _, same := range []effect.Set{
		effects("Edit", args{"path": "./a/../a/f", "old": "two", "new": "2"}),
		effects("MultiEdit", args{"path": "link/f", "edits": []args{{"old": "two", "new": "2"}}}),
		effects("Write", args{"path": filepath.Join(d.dir, "a/f"), "content": "2"}),
	} {
		if !first.Conflicts(same) {
			t.Errorf("%v and %v are of one file, and may run at once", first, same)
		}
	}
	if other := effects("Edit", args{"path": "b/f", "old": "one", "new": "1"}); first.Conflicts(other) {
		t.Errorf("%v and %v are of two files, and wait for each other", first, other)
	}
}

// function is a tool as the OpenAI API takes it, which is the longest form.
type function struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func TestR030_SchemasFitTheirTokenBudget(t *testing.T) {
	const budget = 2_000
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	count := func(v any) int {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		ids, _, err := codec.Encode(string(b))
		if err != nil {
			t.Fatal(err)
		}
		return len(ids)
	}
	var list []function
	for _, tool := range all(t) { // Patch too, which is never there with all the others
		s := tool.Spec()
		f := function{Type: "function"}
		f.Function.Name, f.Function.Description, f.Function.Parameters = s.Name, s.Description, s.Input
		list = append(list, f)
		t.Logf("%-9s %4d tokens", s.Name, count(f))
	}
	total := count(list)
	t.Logf("all       %4d tokens", total)
	if total >= budget {
		t.Errorf("the schemas take %d tokens, the budget is %d", total, budget)
	}
}

// Each description says what the tool touches and what may run beside it, in
// words that agree with the contract.
func TestR016_DescriptionsSayWhatIsTouched(t *testing.T) {
	for _, tl := range all(t) {
		s := tl.Spec()
		says := func(words ...string) {
			t.Helper()
			for _, w := range words {
				if !strings.Contains(s.Description, w) {
					t.Errorf("the description of %s does not say %q: %s", s.Name, w, s.Description)
				}
			}
		}
		switch {
		case s.Name == "MultiEdit":
			says("like Edit")
		case s.Name == "Todo":
			says("Changes nothing else")
		case s.Name == "Bash":
			says("can touch anything", "runs alone")
		case s.Name == "Process":
			says("touches nothing", "allowed")
		case s.Name == "Test":
			says("can touch anything", "like a Bash call")
		case s.Idempotency == tool.ReadOnly:
			says("Only reads", "parallel")
		case s.Name == "Patch", s.Name == "Rename":
			says("Writes the files", "parallel")
		default:
			says("Writes one file", "parallel")
		}
	}
}

// docs/tools.md is generated from the contracts: run this test with -update.
func TestR047_R052_ToolsAreDocumented(t *testing.T) {
	const path = "../../docs/tools.md"
	var b bytes.Buffer
	b.WriteString(`# Tools

What the model is offered, in this order; Patch only where ` + "`edit_format`" + ` is ` + "`patch`" + `,
and then in the place of Edit and MultiEdit ([editing.md](editing.md)). This page is generated from the contracts in
` + "`internal/toolbox`" + `; ` + "`belay tool show NAME`" + ` prints one. Every call answers with the same
envelope: status, text, data, error, artifacts, metrics and context. Failure kinds are
in [failures.md](failures.md).

One rule for what is hidden or ignored holds for LS, Glob and Grep; it and the patterns of
Grep are in [search.md](search.md).
`)
	for _, tl := range all(t) {
		document(&b, tl)
	}
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b.String(), string(got)); d != "" {
		t.Errorf("%s is not what -update writes (-want +got):\n%s", path, d)
	}
}

func document(b *bytes.Buffer, tl tool.Tool) {
	s := tl.Spec()
	var effects []string
	for _, k := range s.Effects {
		effects = append(effects, string(k))
	}
	if len(effects) == 0 {
		effects = []string{"none"}
	}
	recovery := "a person is asked"
	switch _, ok := tl.(tool.Settler); {
	case ok && s.Idempotency == tool.CompareAndSwap:
		recovery = "the file's digest tells"
	case ok:
		recovery = "the record of its end tells, or a person is asked"
	case s.Idempotency == tool.ReadOnly:
		recovery = "nothing to recover"
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", s.Name, s.Description)
	fmt.Fprintf(b, "| version | effects | second run | risk | inline | timeout | after a crash |\n|---|---|---|---|---|---|---|\n")
	fmt.Fprintf(b, "| %d | %s | %s | %s | %d bytes | %s | %s |\n\n", s.Version, strings.Join(effects, ", "), s.Idempotency, s.Risk, s.Inline, s.Timeout, recovery)
	var schema struct {
		Properties map[string]struct {
			Type        string   `json:"type"`
			Description string   `json:"description"`
			Enum        []string `json:"enum"`
			Minimum     *float64 `json:"minimum"`
			Maximum     *float64 `json:"maximum"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(s.Input, &schema); err != nil {
		panic(err)
	}
	fmt.Fprintf(b, "| argument | type | meaning |\n|---|---|---|\n")
	for _, name := range order(s.Input) {
		p := schema.Properties[name]
		kind := p.Type
		if p.Minimum != nil && p.Maximum != nil {
			kind += fmt.Sprintf(" %v..%v", *p.Minimum, *p.Maximum)
		} else if p.Minimum != nil {
			kind += fmt.Sprintf(" from %v", *p.Minimum)
		}
		if !slices.Contains(schema.Required, name) {
			kind += ", optional"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, kind, p.Description)
	}
}

// order returns the names of a schema's properties as they are written.
func order(schema json.RawMessage) []string {
	var s struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		panic(err)
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	var names []string
	for depth, first := 0, true; ; {
		token, err := d.Token()
		if err != nil {
			return names
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
			first = true
		case string:
			if depth == 1 && first {
				names = append(names, v)
			}
			first = !first || depth > 1
		default:
			first = true
		}
	}
}

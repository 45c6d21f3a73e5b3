package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A target is a file that is to be changed: as it is now, and as the model knows
// it.
type target struct {
	workspace.Text
	known string // digest
	base  string // Content
}

// target reads a file that is to be changed. It refuses one that the model has
// not read, or that has changed since and is not remembered as it was.
func (f *changer) target(ctx context.Context, path string, seen map[string]string) (target, error) {
	text, err := f.w.Read(path)
	if err != nil {
		return target{}, failed(ctx, f.w, path, err)
	}
	t := target{Text: text, known: seen[text.Path], base: text.Content}
	switch t.known {
	case text.Digest:
		f.shown.put(text.Digest, text.Content)
		return t, nil
	case "":
		return target{}, t.of(&tool.Failure{
			Kind: tool.NotRead, Message: "File not read. You must read before editing.",
			Hint: "read " + text.Path + ", then send the call again",
		})
	}
	base, ok := f.base(t.known)
	if !ok {
		return target{}, t.stale()
	}
	t.base = base
	return t, nil
}

// base returns what a file with that digest is shown as, if it is remembered, or
// is what a change left and the workspace has kept.
func (f *changer) base(digest string) (string, bool) {
	if f.shown == nil {
		return "", false
	}
	if content, ok := f.shown.get(digest); ok {
		return content, true
	}
	raw, err := f.w.Image(digest)
	if err != nil || edit.Digest(raw) != digest {
		return "", false
	}
	text, err := workspace.Decode(raw)
	return text.Content, err == nil
}

func (t target) stale() *tool.Failure {
	return t.of(&tool.Failure{
		Kind: tool.Stale, Message: "File changed since last read: " + t.Path,
		Hint: readAgain, Detail: staleDetail(t.known, t.Digest),
	})
}

// revise is the revision that splices of the base come to in the file as it is
// now. One that has no regions changes nothing.
func (t target) revise(splices []splice, settle settler) (revision, error) {
	v := revision{Intent: edit.Intent{Path: t.Path, Base: t.Digest}, before: t.Content, known: true}
	if t.known != t.Digest {
		merged, err := t.merge(splices, settle)
		if err != nil {
			return v, err
		}
		splices, v.theirs = merged, unified(t.Path, t.base, t.Content)
	}
	for _, s := range splices {
		r, err := t.Region(s.start, s.end, s.text)
		if err != nil {
			return v, err
		}
		if r.Start < r.End || r.Len > 0 {
			v.Regions = append(v.Regions, r)
		}
	}
	v.after = spliced(t.Content, splices)
	return v, nil
}

// merge carries splices of the base over to the file as it is now.
func (t target) merge(splices []splice, settle settler) ([]splice, error) {
	mine := edit.Intent{Path: t.Path, Base: edit.Digest([]byte(t.base))}
	for _, s := range splices {
		mine.Regions = append(mine.Regions, edit.Region{
			Start: s.start, End: s.end, Len: len(s.text), Old: []byte(t.base[s.start:s.end]), New: []byte(s.text),
		})
	}
	var conflicts []edit.Conflict
	carry := func(choose func(edit.Conflict) []byte) ([]splice, error) {
		got, err := mine.Resolve([]byte(t.base), []byte(t.Content), choose)
		if err != nil {
			return nil, err
		}
		var out []splice
		for _, r := range got.Regions {
			out = append(out, splice{r.Start, r.End, string(r.New)})
		}
		return out, nil
	}
	out, err := carry(func(c edit.Conflict) []byte {
		conflicts = append(conflicts, c)
		return c.Theirs
	})
	if err != nil || len(conflicts) == 0 {
		return out, err
	}
	choose, err := settle(t, conflicts)
	if err != nil {
		return nil, err
	}
	return carry(choose)
}

// spliced returns text with splices made.
func spliced(text string, splices []splice) string {
	var b strings.Builder
	at := 0
	for _, s := range splices {
		b.WriteString(text[at:s.start] + s.text)
		at = s.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// unified returns what differs between two contents of a file.
func unified(path, before, after string) string {
	var edits []udiff.Edit
	for _, r := range edit.Between([]byte(before), []byte(after)) {
		edits = append(edits, udiff.Edit{Start: r.Start, End: r.End, New: string(r.New)})
	}
	out, err := udiff.ToUnified("a/"+path, "b/"+path, before, edits, 3)
	if err != nil || out == "" {
		return fmt.Sprintf("--- a/%s\n+++ b/%s\n(line endings or encoding only)\n", path, path)
	}
	return out
}

// A settler says what is to stand where the model and someone else have changed
// a file in different ways, or why nothing is to be done.
type settler func(t target, conflicts []edit.Conflict) (func(edit.Conflict) []byte, error)

// refuse leaves the file as it is, and shows both sides.
func refuse(t target, conflicts []edit.Conflict) (func(edit.Conflict) []byte, error) {
	f := t.stale()
	f.Message += "\n" + sides(t, conflicts)
	type side struct {
		Line  int    `json:"line"` // in the file now
		Base  string `json:"as_read"`
		File  string `json:"as_it_is"`
		Agent string `json:"as_the_call_makes_it"`
	}
	detail := struct {
		Expected  string `json:"expected_sha256"`
		Actual    string `json:"actual_sha256"`
		Conflicts []side `json:"conflicts"`
	}{Expected: t.known, Actual: t.Digest}
	for _, c := range conflicts[:min(len(conflicts), maxSides)] {
		detail.Conflicts = append(detail.Conflicts, side{
			lineAt(t.Content, c.Start), oneSide(c.Base), oneSide(c.Theirs), oneSide(c.Mine),
		})
	}
	f.Detail = data(detail)
	return nil, f
}

// maxSides is how many conflicts are shown, and maxOneSide how many bytes of a side.
const (
	maxSides   = 5
	maxOneSide = 1 << 10
)

func oneSide(b []byte) string {
	short, _ := tool.Excerpt(string(b), maxOneSide, "")
	return short
}

// sides shows the conflicts to whoever has to decide.
func sides(t target, conflicts []edit.Conflict) string {
	var b strings.Builder
	for _, c := range conflicts[:min(len(conflicts), maxSides)] {
		fmt.Fprintf(&b, "%s line %d\n", t.Path, lineAt(t.Content, c.Start))
		for _, s := range []struct {
			name string
			text []byte
		}{{"as it was read", c.Base}, {"as someone has changed it", c.Theirs}, {"as this call would have it", c.Mine}} {
			fmt.Fprintf(&b, "%s:\n", s.name)
			if len(s.text) == 0 {
				b.WriteString("  (nothing)\n")
			}
			for line := range strings.Lines(oneSide(s.text)) {
				b.WriteString("  " + strings.TrimSuffix(line, "\n") + "\n")
			}
		}
	}
	if more := len(conflicts) - maxSides; more > 0 {
		fmt.Fprintf(&b, "and %d more places\n", more)
	}
	return b.String()
}

// The answers of a person to a conflict.
const (
	keepMine   = "mine"
	keepTheirs = "theirs"
	keepBoth   = "both"
)

var keepSchema = json.RawMessage(`{"type":"object","properties":{"keep":{"type":"string","enum":["mine","theirs","both"]}},"required":["keep"],"additionalProperties":false}`)

// asking asks a person.
func asking(ctx context.Context, ask func(context.Context, json.RawMessage, string) (json.RawMessage, error)) settler {
	return func(t target, conflicts []edit.Conflict) (func(edit.Conflict) []byte, error) {
		text := "The agent changes lines of " + t.Path + " that have been changed since it read them.\n" + sides(t, conflicts) +
			"Keep mine (as the file is now), theirs (as the agent would have it), or both (one after the other, marked)?"
		b, err := ask(ctx, keepSchema, text)
		if err != nil {
			return nil, err
		}
		var answer struct{ Keep string }
		if err := json.Unmarshal(b, &answer); err != nil {
			return nil, fmt.Errorf("read the answer about %s: %w", t.Path, err)
		}
		switch answer.Keep {
		case keepTheirs:
			return func(c edit.Conflict) []byte { return c.Mine }, nil
		case keepBoth:
			return both, nil
		}
		_, err = refuse(t, conflicts)
		f := err.(*tool.Failure)
		f.Kind, f.Hint = tool.Denied, "the user keeps their own lines: read the file again and go on from there"
		return nil, f
	}
}

// both returns both sides, marked as version control marks them.
func both(c edit.Conflict) []byte {
	var b strings.Builder
	side := func(mark string, text []byte) {
		b.WriteString(mark + "\n")
		b.Write(text)
		if len(text) > 0 && text[len(text)-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	side("<<<<<<< user", c.Theirs)
	side("=======", c.Mine)
	b.WriteString(">>>>>>> agent\n")
	return []byte(b.String())
}

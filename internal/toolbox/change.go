package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// maxDiff is how many bytes of a diff the result of a change shows, and maxTries
// how often a change is worked out afresh because someone else was faster.
const (
	maxDiff  = 8 << 10
	maxTries = 5
)

// A changer is what the tools that change files work with. One without shown
// merges nothing.
type changer struct {
	w       *workspace.Workspace
	shown   *shown
	parting func(path string) bool // whether a rule lets a file be parted from its other names; may be nil
}

// A revision is one file of a change: what is done to it, and how it is shown
// before and after.
type revision struct {
	edit.Intent
	before, after string // Content
	theirs        string // what someone else has changed since the model saw it, as a diff; "" for nothing
	known         bool   // the model knows it afterwards
}

// A change is what a call comes to, worked out and not yet made.
type change struct {
	verb         string // Edit a.go
	done         string // edited a.go
	replacements int
	notes        []string // for the model, a line each
	revisions    []revision
	reads        []string          // directories that it was worked out from
	many         bool              // the data are of several files
	asks         bool              // a person has to settle it first
	names        map[string]uint64 // of files with hard links, as whoever approves sees it
}

// A maker works out a change of the files as they are now. Conflicts with what
// someone else has changed are put to settle.
type maker func(ctx context.Context, s settler) (change, error)

func (c change) intents() []edit.Intent {
	out := make([]edit.Intent, len(c.revisions))
	for n, r := range c.revisions {
		out[n] = r.Intent
	}
	return out
}

// action is the action of making what work works out.
func (f *changer) action(ctx context.Context, in tool.Input, work maker) (*tool.Action, error) {
	work = unmarked(work)
	asks, settle := false, settler(refuse)
	if in.Asks {
		settle = func(target, []edit.Conflict) (func(edit.Conflict) []byte, error) {
			asks = true
			return func(c edit.Conflict) []byte { return c.Mine }, nil // the most that can come of it
		}
	}
	c, err := work(ctx, settle)
	if err != nil {
		return nil, err
	}
	intents := c.intents()
	diff, err := f.w.Diff(intents)
	if err != nil {
		return nil, failed(ctx, f.w, intents[0].Path, err)
	}
	c.asks, c.names = asks, diff.Names
	var parts []tool.Part
	for n := range intents {
		intents[n].Result = diff.Digests[intents[n].Path]
		c.revisions[n].Result = intents[n].Result
		parts = append(parts, changing(intents[n].Path))
	}
	for _, dir := range c.reads {
		parts = append(parts, tool.Part{Name: dir, Effects: effect.Set{{Kind: effect.Read, On: dir, Tree: true}}})
	}
	temp := workspace.Temp()
	a := &tool.Action{
		Parts: parts, Preview: previewed(diff.Unified), Edits: intents,
		Summary:     oneLine(fmt.Sprintf("%s (+%d -%d)%s", c.verb, diff.Added, diff.Removed, parting(diff.Names))),
		Fingerprint: data(fingerprintOf(temp, intents)),
		Do: func(ctx context.Context, env tool.Env) (tool.Result, error) {
			if err := ctx.Err(); err != nil {
				return ended(err), nil
			}
			return f.do(ctx, temp, c, work, env)
		},
	}
	if c.asks {
		a.Summary = oneLine(c.verb + " (you changed the same lines: you will be asked)")
	}
	return a, nil
}

// changing is what a change of a file does.
func changing(path string) tool.Part {
	return tool.Part{Name: path, Effects: effect.Set{{Kind: effect.Read, On: path}, {Kind: effect.Write, On: path}}}
}

// of says of f that a change of t failed by it.
func (t target) of(f *tool.Failure) *tool.Failure {
	f.Parts = []tool.Part{changing(t.Path)}
	return f
}

// do makes c. If a file is not as c was made against, it is worked out afresh:
// what can be merged with the change of someone else is. But what a person
// approved is made exactly as they saw it, or is stale.
//
// After a crash in such a second attempt the fingerprint does not fit, and the
// answer is that the file is neither as before nor as planned.
func (f *changer) do(ctx context.Context, temp string, c change, work maker, env tool.Env) (tool.Result, error) {
	settle := settler(refuse)
	if env.Ask != nil {
		settle = asking(ctx, env.Ask)
	}
	declared, shown := c.intents(), c.names
	parted := make(map[string]bool)
	part := func(path string) bool {
		return parted[path] || env.Approved && shown[path] > 0 || f.parting != nil && f.parting(path)
	}
	for tries := 0; ; tries++ {
		if c.asks {
			next, err := work(ctx, settle)
			if err != nil {
				return tool.Result{}, err
			}
			c = next
			if err := within(c.intents(), declared); err != nil {
				return tool.Result{}, err
			}
		}
		diff, err := f.w.WriteWith(workspace.WriteOptions{Temp: temp, BreakLinks: part}, c.intents())
		if err == nil {
			return f.result(c, diff), nil
		}
		if linked, ok := errors.AsType[*workspace.LinkedError](err); ok && !parted[linked.Path] && mayPart(ctx, env, linked) {
			parted[linked.Path] = true
			continue
		}
		stale, ok := errors.AsType[*workspace.StaleError](err)
		if _, kept := errors.AsType[*workspace.KeptError](err); kept || !ok || stale.Want == "" || tries == maxTries || ctx.Err() != nil || f.shown == nil || env.Approved && !c.asks {
			return tool.Result{}, failed(ctx, f.w, c.revisions[0].Path, err)
		}
		c.asks = true
	}
}

// maxPreview is how many bytes of a change are kept in its plan.
const maxPreview = 8 << 20

// previewed is diff as a plan shows it. One that is too long is cut in the middle,
// and names the digest of all of it: whoever approves it approves no other.
func previewed(diff string) string {
	if len(diff) <= maxPreview {
		return diff
	}
	head, tail := diff[:maxPreview/2], diff[len(diff)-maxPreview/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n[... %d of %d bytes of the change left out; SHA-256 of all: %s ...]\n",
		len(diff)-len(head)-len(tail), len(diff), edit.Digest([]byte(diff))) + strings.ToValidUTF8(tail, "")
}

// parting says of files with other names that those keep the old content.
func parting(names map[string]uint64) string {
	var others uint64
	for _, n := range names {
		others += n - 1
	}
	if others == 0 {
		return ""
	}
	return fmt.Sprintf(", parted from %s that will keep the old content", counted(int(others), "other name"))
}

// mayPart asks the person, if there is one, whether a file may be parted from its
// other names.
func mayPart(ctx context.Context, env tool.Env, e *workspace.LinkedError) bool {
	if env.Ask == nil {
		return false
	}
	const schema = `{"type":"object","properties":{"part":{"enum":["yes","no"]}},"required":["part"]}`
	answer, err := env.Ask(ctx, json.RawMessage(schema), fmt.Sprintf(
		"%s has %d names (hard links). The change would part it from the others, which keep the old content.", e.Path, e.Names))
	var said struct {
		Part string `json:"part"`
	}
	return err == nil && json.Unmarshal(answer, &said) == nil && said.Part == "yes"
}

// within refuses a change of files that nobody was told of.
func within(now, declared []edit.Intent) error {
	for _, i := range now {
		if !slices.ContainsFunc(declared, func(d edit.Intent) bool { return d.Path == i.Path }) {
			return &tool.Failure{
				Kind: tool.Stale, Message: "the change would reach " + i.Path + " too since other files changed meanwhile",
				Hint: "send the call again", Retry: true,
			}
		}
	}
	return nil
}

type changeData struct {
	Path         string  `json:"path"`
	Added        int     `json:"added"`
	Removed      int     `json:"removed"`
	Replacements int     `json:"replacements,omitempty"`
	Created      bool    `json:"created"`
	Gone         bool    `json:"gone,omitempty"` // removed, or moved away
	Digest       string  `json:"digest"`
	Names        uint64  `json:"names,omitempty"`   // hard links it had: it is parted from the others
	Inexact      string  `json:"inexact,omitempty"` // how the match was loosened
	Merged       bool    `json:"merged,omitempty"`  // with a change of someone else
	Syntax       *syntax `json:"syntax,omitempty"`  // where it cannot be parsed
	Truncated    bool    `json:"truncated"`         // the diff in the text
}

type changesData struct {
	Files     []changeData `json:"files"`
	Added     int          `json:"added"`
	Removed   int          `json:"removed"`
	Truncated bool         `json:"truncated"`
}

// result says what was changed. A file that was created is not shown again to
// the model that has just sent it.
func (f *changer) result(c change, diff workspace.Diff) tool.Result {
	r := tool.Result{Status: tool.Success, Seen: make(map[string]string)}
	var text strings.Builder
	fmt.Fprintf(&text, "%s (+%d -%d)\n", c.done, diff.Added, diff.Removed)
	for _, n := range c.notes {
		fmt.Fprintf(&text, "(%s)\n", n)
	}
	var files []changeData
	for n := range c.revisions {
		v := &c.revisions[n]
		v.Result, v.Was, v.Parents = diff.Digests[v.Path], diff.Was[v.Path], diff.Parents[v.Path]
		v.WasAttrs = diff.WasAttrs[v.Path]
		d := changeData{
			Path: v.Path, Created: v.Base == "", Gone: v.Remove, Digest: v.Result, Inexact: v.Inexact,
			Names: diff.Names[v.Path], Merged: v.theirs != "",
		}
		name := "it"
		if c.many {
			d.Added, d.Removed = tally(v.before, v.after)
			name = v.Path
		}
		if d.Names > 0 {
			fmt.Fprintf(&text, "(%s had %d names (hard links) and is parted from the others, which keep the old content)\n", name, d.Names)
		}
		if !v.Remove {
			if d.Syntax = broken(v.Path, d.Created, v.before, v.after); d.Syntax.news() {
				fmt.Fprintf(&text, "(warning: %s can no longer be parsed: %s)\n", name, d.Syntax.Error)
			}
		}
		if v.known {
			r.Seen[v.Path] = v.Result
			if !v.Remove {
				f.shown.put(v.Result, v.after)
			}
		}
		files = append(files, d)
	}
	short, cut := "", false
	if c.many || !files[0].Created {
		short, cut = tool.Excerpt(diff.Unified, maxDiff, "")
		text.WriteString(short)
	}
	for n := range c.revisions {
		f.merged(&text, &c.revisions[n], &r)
	}
	r.Text, r.Edits = text.String(), c.intents()
	if c.many {
		r.Data = data(changesData{Files: files, Added: diff.Added, Removed: diff.Removed, Truncated: cut})
		return r
	}
	d := files[0]
	d.Added, d.Removed, d.Replacements, d.Truncated = diff.Added, diff.Removed, c.replacements, cut
	r.Data = data(d)
	return r
}

// merged shows what someone else had changed. Only if that is all shown does the
// model know the file.
func (f *changer) merged(text *strings.Builder, v *revision, r *tool.Result) {
	if v.theirs == "" {
		return
	}
	fmt.Fprintf(text, "(merged: someone else had changed %s since you read it, as follows)\n", v.Path)
	short, cut := tool.Excerpt(v.theirs, maxDiff, "")
	text.WriteString(short)
	if cut {
		delete(r.Seen, v.Path)
		text.WriteString("(not all is shown: read it again)\n")
	}
}

// tally returns how many lines a change adds and removes.
func tally(before, after string) (added, removed int) {
	for _, r := range edit.Between([]byte(before), []byte(after)) {
		added += lineCount(string(r.New))
		removed += lineCount(string(r.Old))
	}
	return added, removed
}

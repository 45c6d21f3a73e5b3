package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// maxDiff is how many bytes of a diff the result of a change shows.
const maxDiff = 8 << 10

// A changed file is described by these words and figures.
type changed struct {
	verb         string // Edit
	done         string // edited
	replacements int
}

type changeData struct {
	Path         string `json:"path"`
	Added        int    `json:"added"`
	Removed      int    `json:"removed"`
	Replacements int    `json:"replacements,omitempty"`
	Created      bool   `json:"created"`
	Digest       string `json:"digest"`
	Detached     bool   `json:"detached,omitempty"` // from its other hard links
	Truncated    bool   `json:"truncated"`          // the diff in the text
}

// A fingerprint is what settling a change needs: the file, its digest before and
// after, and the name of what may be left beside it.
type fingerprint struct {
	Path    string        `json:"path"`
	Pre     string        `json:"pre"` // "" for no file
	Want    string        `json:"want"`
	Regions []edit.Region `json:"regions"`
	Temp    string        `json:"temp,omitempty"`
}

func (f fingerprint) intent() edit.Intent {
	return edit.Intent{Path: f.Path, Base: f.Pre, Result: f.Want, Regions: f.Regions}
}

// changing is the action of making i.
func changing(ctx context.Context, w *workspace.Workspace, i edit.Intent, c changed) (*tool.Action, error) {
	diff, err := w.Diff([]edit.Intent{i})
	if err != nil {
		return nil, failed(ctx, w, i.Path, err)
	}
	i.Result = diff.Digests[i.Path]
	temp := workspace.Temp()
	return &tool.Action{
		Parts: []tool.Part{{Name: i.Path, Effects: effect.Set{
			{Kind: effect.Read, On: i.Path}, {Kind: effect.Write, On: i.Path},
		}}},
		Summary:     oneLine(fmt.Sprintf("%s %s (+%d -%d)", c.verb, i.Path, diff.Added, diff.Removed)),
		Preview:     diff.Unified,
		Edits:       []edit.Intent{i},
		Fingerprint: data(fingerprint{Path: i.Path, Pre: i.Base, Want: i.Result, Regions: i.Regions, Temp: temp}),
		Do: func(ctx context.Context, _ tool.Env) (tool.Result, error) {
			if err := ctx.Err(); err != nil {
				return ended(err), nil
			}
			diff, err := w.WriteAs(temp, []edit.Intent{i})
			if err != nil {
				return tool.Result{}, failed(ctx, w, i.Path, err)
			}
			return c.result(i, diff), nil
		},
	}, nil
}

// result says what was changed. A file that was created is not shown again to
// the model that has just sent it.
func (c changed) result(i edit.Intent, diff workspace.Diff) tool.Result {
	d := changeData{
		Path: i.Path, Added: diff.Added, Removed: diff.Removed, Replacements: c.replacements,
		Created: i.Base == "", Digest: i.Result, Detached: len(diff.Detached) > 0,
	}
	text := fmt.Sprintf("%s %s (+%d -%d)\n", c.done, i.Path, d.Added, d.Removed)
	if d.Detached {
		text += "(it had other hard links, which keep the old content)\n"
	}
	if !d.Created {
		short, cut := tool.Excerpt(diff.Unified, maxDiff, "")
		text += short
		d.Truncated = cut
	}
	return tool.Result{
		Status: tool.Success, Text: text, Data: data(d),
		Seen: map[string]string{i.Path: i.Result}, Edits: []edit.Intent{i},
	}
}

// A settler is a tool that changes one file, and finds out from the file how a
// call ended.
type settler struct {
	tool.Tool
	w *workspace.Workspace
}

func settling(w *workspace.Workspace, t tool.Tool) tool.Tool { return settler{t, w} }

// Settle compares the file with what it was and what it should have become, and
// removes what the change left beside it.
func (s settler) Settle(ctx context.Context, _ tool.Plan, b json.RawMessage) (*tool.Result, error) {
	var f fingerprint
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("settle: read the fingerprint: %w", err)
	}
	if f.Temp != "" {
		if err := s.w.Clear(f.Temp, []edit.Intent{f.intent()}); err != nil {
			r := tool.Failed(failed(ctx, s.w, f.Path, err))
			return &r, nil
		}
	}
	have := ""
	text, err := s.w.Read(f.Path)
	switch {
	case err == nil:
		have = text.Digest
	case !errors.Is(err, fs.ErrNotExist):
		r := tool.Failed(failed(ctx, s.w, f.Path, err))
		return &r, nil
	}
	switch have {
	case f.Want:
		return &tool.Result{
			Status: tool.Success, Text: f.Path + " holds the change: it was made before the interruption",
			Seen: map[string]string{f.Path: f.Want}, Edits: []edit.Intent{f.intent()},
		}, nil
	case f.Pre:
		return nil, nil
	}
	r := tool.Failed(&tool.Failure{
		Kind:    tool.Stale,
		Message: fmt.Sprintf("%s is neither as it was before the change nor as the change makes it", f.Path),
		Hint:    readAgain, Detail: staleDetail(f.Want, have),
	})
	return &r, nil
}

package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/undo"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// An undoPrint is what settling an undo needs.
type undoPrint struct {
	Temp   string            `json:"temp"`
	Edits  []edit.Intent     `json:"edits"`
	Prune  map[string]int    `json:"prune,omitempty"`
	Seen   map[string]string `json:"seen,omitempty"`
	Report undo.Report       `json:"report"`
}

// An undoSettler is Undo, which finds out from the files how a call ended.
type undoSettler struct {
	tool.Tool
	w *workspace.Workspace
}

// Settle says which files were taken back before the crash. They are, and the
// others can be taken back by another call.
func (s undoSettler) Settle(ctx context.Context, _ tool.Plan, b json.RawMessage) (*tool.Result, error) {
	var p undoPrint
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("settle: read the fingerprint: %w", err)
	}
	if err := s.w.Clear(p.Temp, p.Edits); err != nil {
		r := tool.Failed(failed(ctx, s.w, p.Edits[0].Path, err))
		return &r, nil
	}
	u := undoing{w: s.w, prune: p.Prune, seen: p.Seen, report: undo.Report{Redo: p.Report.Redo, Left: p.Report.Left, More: p.Report.More, Uncovered: p.Report.Uncovered}}
	undone := make(map[string]bool)
	for _, i := range p.Edits {
		now, err := u.look(i.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			r := tool.Failed(failed(ctx, s.w, i.Path, err))
			return &r, nil
		}
		if holds(i, now) {
			u.edits = append(u.edits, i)
			continue
		}
		undone[i.Path] = true
		delete(u.prune, i.Path)
		delete(u.seen, i.Path)
		u.report.Left = append(u.report.Left, undo.Left{Path: i.Path, Why: "it was not reached before the interruption"})
	}
	if len(u.edits) == 0 && len(p.Edits) > 0 {
		return nil, nil
	}
	u.report.Taken = slices.DeleteFunc(p.Report.Taken, func(r undo.Ref) bool { return undone[r.Path] })
	r := u.result()
	return &r, u.tidy()
}

// holds reports whether the file is as i makes it.
func holds(i edit.Intent, now undo.File) bool {
	if i.Remove || !now.Exists {
		return i.Remove && !now.Exists
	}
	if i.Base == i.Result && i.Mode == "" && i.Attrs != now.Attrs {
		return false // there is nothing else that it changes
	}
	return edit.Digest(now.Bytes) == i.Result && (i.Mode == "" || i.Mode == now.Mode)
}

package cli

import (
	"context"
	"path/filepath"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/decide/undo"
	"github.com/belay-agent/belay/internal/toolbox"
	"github.com/belay-agent/belay/internal/world/snapshot"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// openUndo has everything that changes files keep what undo needs, in the
// session's directory. Where that cannot be, it is said, and work goes on.
func (s System) openUndo(r *rig) {
	if !r.kept {
		return
	}
	dir := filepath.Join(s.store().path(r.id), "undo")
	w, err := workspace.OpenWith(r.workspace.Root(), workspace.Options{Undo: dir})
	if err != nil {
		r.ui.Say("undo is off: " + err.Error())
		return
	}
	r.workspace, r.images = w, dir
	r.closers = append(r.closers, w.Close)
	r.snapshots, err = snapshot.Open(snapshot.Options{Workspace: w, Dir: dir})
	if err != nil {
		r.ui.Say("undo will not cover commands: " + err.Error())
		return
	}
	r.closers = append(r.closers, r.snapshots.Close)
}

// reversible adds to options what takes changes back, and what finds out what
// commands change.
func (r *rig) reversible(o *agent.Options) {
	if !r.kept {
		return
	}
	o.Own = append(o.Own, toolbox.Undo(r.workspace, r.history))
	if r.snapshots == nil {
		return
	}
	o.Before = func(ctx context.Context, call string, e effect.Set) error {
		if scope, ok := e.Commanded(); ok {
			defer r.ui.Doing("keeping what files are like before " + call)()
			_ = r.snapshots.Before(ctx, call, scope) // After says so in the result
		}
		return nil
	}
	o.After = func(call string, e effect.Set) agent.Aftermath {
		if _, ok := e.Commanded(); !ok {
			return agent.Aftermath{}
		}
		defer r.ui.Doing("looking what " + call + " changed")()
		return agent.Aftermath(r.snapshots.After(call))
	}
}

// history returns the changes of the session so far.
func (r *rig) history() (*undo.History, error) {
	h := new(undo.History)
	for e, err := range r.journal.Since(0) {
		if err != nil {
			return nil, err
		}
		h.Add(e)
	}
	return h, nil
}

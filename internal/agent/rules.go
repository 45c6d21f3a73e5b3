package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/rulefile"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// Bounds of the rule files that are below the root of the workspace, together: a
// request is to be about the work. Those of the root and above it always have a place.
const (
	ruledFiles  = 64
	ruledTokens = 48_000
	ruledShare  = 25 // of what the model takes
)

// rulesFor returns the rule files that hold for paths, where tasks may have been at
// work, and are not as the session knows them.
func (a *Agent) rulesFor(ctx context.Context, paths []string, tasks []*task) ([]event.Body, error) {
	if a.Rules == nil {
		return nil, nil
	}
	files, err := a.Rules(ctx, paths)
	if err != nil {
		return nil, err
	}
	known := make(map[string]event.Ruled)
	for _, f := range a.state.RuleFiles() {
		known[f.Path] = f
	}
	there := make(map[string]bool)
	var news []event.Ruled
	for _, f := range files {
		there[f.Path] = true
		f = a.doubted(f, tasks)
		if was, has := known[f.Path]; !has || was.Digest != f.Digest || was.Left != f.Left {
			news = append(news, f)
			delete(known, f.Path)
		}
	}
	for _, f := range a.state.RuleFiles() {
		looked := !rulefile.Nested(f.Path) || slices.ContainsFunc(paths, func(p string) bool { return rulefile.Holds(f.Path, p) })
		if looked && !there[f.Path] {
			if gone := a.missed(f, tasks); gone != f {
				news = append(news, gone)
				delete(known, f.Path)
			}
		}
	}
	return a.roomFor(news, known), nil
}

// What leaves out the text of a rule file that a command wrote, and keeps that of one
// that a command removed. Rules outrank what a person says, and nothing keeps commands
// from changing all of them: so what the session knew before still holds.
const (
	wroteIt   = "a command wrote it ("
	removedIt = "a command removed it ("
	untilNext = "); that counts in sessions that begin after this one"
)

// doubted leaves out the text of f where a command of this session wrote it, as tasks
// or the facts say. What the session knows it as, it stays.
func (a *Agent) doubted(f event.Ruled, tasks []*task) event.Ruled {
	was := a.state.RuleFile(f.Path)
	switch {
	case f.Text == was.Text:
		return f
	case was.Digest == f.Digest && (was.Left == f.Left || strings.HasPrefix(was.Left, wroteIt) || f.Digest == "" && strings.HasPrefix(was.Left, removedIt)):
		return was
	}
	by := a.commanded(tasks, func(path, now string) bool {
		return f.Digest != "" && now == f.Digest || f.Digest == "" && path == f.Path // by any name: it may be a link
	})
	if by == "" && (was.Gone() || was.Digest != f.Digest) && a.watched(f.Path, tasks) {
		by = a.unexplained(tasks, func(e edit.Intent) bool { return e.Result == f.Digest })
	}
	if by != "" {
		f.Text, f.Left = was.Text, wroteIt+by+untilNext
	}
	return f
}

// missed returns what there is to know of f, which is there no more.
func (a *Agent) missed(f event.Ruled, tasks []*task) event.Ruled {
	if f.Text == "" {
		return event.Ruled{Path: f.Path}
	}
	if f.Digest == "" && strings.HasPrefix(f.Left, removedIt) {
		return f
	}
	by := a.commanded(tasks, func(path, now string) bool { return path == f.Path && now == "" })
	if by == "" {
		by = a.unexplained(tasks, func(e edit.Intent) bool { return e.Path == f.Path && e.Remove })
	}
	if by != "" {
		return event.Ruled{Path: f.Path, Text: f.Text, Left: removedIt + by + untilNext}
	}
	return event.Ruled{Path: f.Path}
}

// commanded returns the newest command that changed a file so that it is one that fits
// by its path and its digest, "" where it is gone; "" if none did.
func (a *Agent) commanded(tasks []*task, fits func(path, now string) bool) (call string) {
	for _, t := range tasks {
		for _, e := range t.result.Edits {
			if fits(e.Path, e.Result) && a.commands(t.call.Tool) {
				call = t.call.ID
			}
		}
	}
	if call != "" {
		return call
	}
	for _, c := range a.state.Facts().Files.All {
		if fits(c.Path, c.Now) && a.commands(c.Tool) {
			call = c.By[len(c.By)-1]
		}
	}
	return call
}

// watched reports whether the session knew before tasks what there is at the path of a
// rule file: so what is new there came to be during these.
func (a *Agent) watched(path string, tasks []*task) bool {
	if !rulefile.Nested(path) || !a.state.RuleFile(path).Gone() {
		return true
	}
	now := worked(tasks)
	for seen := range a.state.Seen() {
		if rulefile.Holds(path, seen) && !slices.Contains(now, seen) {
			return true
		}
	}
	return false
}

// unexplained returns the newest command among tasks, unless one of their edits
// explains what there is now. What git ignores is in no command's edits, whether it is
// the rule file or what that leads to.
func (a *Agent) unexplained(tasks []*task, explains func(edit.Intent) bool) (call string) {
	for _, t := range tasks {
		if t.started && a.commands(t.call.Tool) {
			call = t.call.ID
		}
		if slices.ContainsFunc(t.result.Edits, explains) {
			return ""
		}
	}
	return call
}

// commands reports whether a tool runs programs, as one does that is not known.
func (a *Agent) commands(name string) bool {
	t := a.tools[name]
	return t == nil || slices.Contains(t.Spec().Effects, effect.Process)
}

// roomFor returns what is new of rule files as facts: beside those that are known and
// stay as they are a nested one may find no room, and has no text then.
func (a *Agent) roomFor(news []event.Ruled, known map[string]event.Ruled) []event.Body {
	files, tokens := ruledFiles, ruledTokens
	if most := a.room(); most > 0 {
		tokens = min(tokens, share(most, ruledShare))
	}
	for _, f := range known {
		if rulefile.Nested(f.Path) && f.Text != "" {
			files, tokens = files-1, tokens-tool.EstimateTokens(f.Text)
		}
	}
	var bodies []event.Body
	for _, f := range news {
		if takes := tool.EstimateTokens(f.Text); rulefile.Nested(f.Path) && f.Text != "" {
			if files <= 0 || takes > tokens {
				f.Text, f.Left = "", noRoom
			} else {
				files, tokens = files-1, tokens-takes
			}
		}
		if was := a.state.RuleFile(f.Path); f != was {
			bodies = append(bodies, f)
		}
	}
	return bodies
}

const noRoom = "there is no room for more rule files below the root; read it before you work there"

// places returns where the session is at work: what the model knows of files, what
// the person names now, and where rule files are known.
func (a *Agent) places(named []string) []string {
	places := slices.Clone(named)
	for path := range a.state.Seen() {
		places = append(places, path)
	}
	for _, f := range a.state.RuleFiles() {
		if rulefile.Nested(f.Path) {
			places = append(places, rulefile.Folder(f.Path))
		}
	}
	return places
}

// worked returns where calls have been at work.
func worked(tasks []*task) (paths []string) {
	for _, t := range tasks {
		for _, e := range t.plan.Effects() {
			if e.On != "" && (e.Kind == effect.Read || e.Kind == effect.Write) {
				paths = append(paths, e.On)
			}
		}
		for path := range t.result.Seen {
			paths = append(paths, path)
		}
		for _, e := range t.result.Edits {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// obey records the rule files of where calls have been at work, so that the next
// request has them.
func (a *Agent) obey(ctx context.Context, tasks []*task) error {
	bodies, err := a.rulesFor(ctx, worked(tasks), tasks)
	if err != nil {
		return err
	}
	return a.record(bodies...)
}

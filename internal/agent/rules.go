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
		if rulefile.Nested(f.Path) {
			f = a.doubted(f, tasks)
		}
		if was, has := known[f.Path]; !has || was.Digest != f.Digest || was.Left != f.Left {
			news = append(news, f)
			delete(known, f.Path)
		}
	}
	for _, f := range a.state.RuleFiles() {
		looked := !rulefile.Nested(f.Path) || slices.ContainsFunc(paths, func(p string) bool { return rulefile.Holds(f.Path, p) })
		if looked && !there[f.Path] {
			news = append(news, event.Ruled{Path: f.Path})
			delete(known, f.Path)
		}
	}
	return a.roomFor(news, known), nil
}

// wroteIt begins why the text of a rule file is left out that a command wrote.
const wroteIt = "a command wrote it ("

// doubted leaves out the text of f where a command of this session wrote it, as tasks
// or the facts say: nothing keeps commands from doing so, and rules outrank what a
// person says. What the session knows it as, it stays.
func (a *Agent) doubted(f event.Ruled, tasks []*task) event.Ruled {
	if f.Left != "" {
		return f
	}
	by := ""
	switch was := a.state.RuleFile(f.Path); {
	case was.Digest == f.Digest && was.Text != "":
		return f
	case was.Digest == f.Digest && strings.HasPrefix(was.Left, wroteIt):
		return was
	}
	for _, t := range tasks {
		if a.commands(t.call.Tool) && slices.ContainsFunc(t.result.Edits, func(i edit.Intent) bool { return i.Result == f.Digest }) {
			by = t.call.ID
		}
	}
	for _, c := range a.state.Facts().Files.All { // by any name: it may be a link
		if by == "" && c.Now == f.Digest && a.commands(c.Tool) {
			by = c.By[len(c.By)-1]
		}
	}
	if by != "" {
		f.Text, f.Left = "", wroteIt+by+"); it counts in sessions that begin after this one"
	}
	return f
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
		if rulefile.Nested(f.Path) && f.Left == "" {
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

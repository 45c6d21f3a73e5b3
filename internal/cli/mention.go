package cli

import (
	"path"
	"strings"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/decide/mention"
	"github.com/belay-agent/belay/internal/ui/terminal"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// said is text with the files that it names by @. What was plainly meant as a
// file of the workspace and is none is said.
func (r *rig) said(text string) agent.Input {
	in := agent.Input{Text: text}
	found, missing := mention.Find(text, r.lookup())
	for _, m := range found {
		in.Mentions = append(in.Mentions, m.String())
	}
	for _, name := range missing {
		r.ui.Say(terminal.Safe("@" + name + " names nothing in the workspace and was sent as it is"))
	}
	return in
}

// maxSpelled is for how many names of one text other spellings are looked for,
// which lists directories.
const maxSpelled = 32

// lookup says what stands in the workspace at a path as a person wrote it. A name
// that is not there may be there in another spelling, unless it is a bare word,
// which can be anything.
func (r *rig) lookup() mention.Lookup {
	tried := 0
	return func(written string) (canonical string, dir, ok bool) {
		canonical, dir, ok = r.stands(written)
		if ok || !strings.ContainsAny(written, "./") || tried == maxSpelled {
			return canonical, dir, ok
		}
		tried++
		if other := r.spelled(path.Clean(written)); other != "" {
			return r.stands(other)
		}
		return "", false, false
	}
}

// stands looks up a path that is spelled as the directory has it.
func (r *rig) stands(written string) (canonical string, dir, ok bool) {
	canonical, err := r.workspace.Resolve(written)
	if err != nil {
		return "", false, false
	}
	info, err := r.workspace.Stat(canonical)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return "", false, false
	}
	return canonical, info.IsDir(), true
}

// spelled returns the one path of the workspace that differs from written in case,
// or in how letters and accents are put together, and "" if there are none or
// several.
func (r *rig) spelled(written string) string {
	at := "."
	for element := range strings.SplitSeq(written, "/") {
		entries, err := r.workspace.List(at)
		if err != nil {
			return ""
		}
		same := ""
		for _, e := range entries {
			if name := path.Base(e.Path); workspace.Folded(name) == workspace.Folded(element) {
				if same != "" {
					return ""
				}
				same = name
			}
		}
		if same == "" {
			return ""
		}
		at = path.Join(at, same)
	}
	return at
}

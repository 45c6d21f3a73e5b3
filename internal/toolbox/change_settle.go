package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A fingerprint is what settling a change needs: each file, its digest before and
// after, and the name of what may be left beside it.
type fingerprint struct {
	filePrint
	Temp string      `json:"temp,omitempty"`
	Also []filePrint `json:"also,omitempty"` // the other files of one change
}

type filePrint struct {
	Path    string        `json:"path"`
	Pre     string        `json:"pre"`  // "" for no file
	Want    string        `json:"want"` // "" for no file
	Regions []edit.Region `json:"regions"`
	Remove  bool          `json:"remove,omitempty"`
	Mode    string        `json:"mode,omitempty"`
}

func fingerprintOf(temp string, intents []edit.Intent) fingerprint {
	f := fingerprint{Temp: temp}
	for n, i := range intents {
		p := filePrint{i.Path, i.Base, i.Result, i.Regions, i.Remove, i.Mode}
		if n == 0 {
			f.filePrint = p
		} else {
			f.Also = append(f.Also, p)
		}
	}
	return f
}

func (p filePrint) intent() edit.Intent {
	return edit.Intent{Path: p.Path, Base: p.Pre, Result: p.Want, Regions: p.Regions, Remove: p.Remove, Mode: p.Mode}
}

// A settling tool is one that changes files, and finds out from them how a call
// ended.
type settling struct {
	tool.Tool
	w *workspace.Workspace
}

// Settle compares the files with what they were and what they should have become,
// and removes what the change left beside them.
func (s settling) Settle(ctx context.Context, _ tool.Plan, b json.RawMessage) (*tool.Result, error) {
	var f fingerprint
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("settle: read the fingerprint: %w", err)
	}
	prints := append([]filePrint{f.filePrint}, f.Also...)
	var intents []edit.Intent
	for _, p := range prints {
		intents = append(intents, p.intent())
	}
	if f.Temp != "" {
		if err := s.w.Clear(f.Temp, intents); err != nil {
			r := tool.Failed(failed(ctx, s.w, f.Path, err))
			return &r, nil
		}
	}
	var before, after, neither []string
	r := tool.Result{Status: tool.Success, Seen: make(map[string]string)}
	for _, p := range prints {
		have, err := s.digest(p.Path)
		if err != nil {
			r := tool.Failed(failed(ctx, s.w, p.Path, err))
			return &r, nil
		}
		switch have {
		case p.Pre:
			before = append(before, p.Path)
		case p.Want:
			after = append(after, p.Path)
			r.Seen[p.Path] = p.Want
			r.Edits = append(r.Edits, p.intent())
		default:
			neither = append(neither, p.Path)
			f.filePrint = p
		}
	}
	switch {
	case len(before) == len(prints):
		return nil, nil
	case len(after) == len(prints):
		r.Text = strings.Join(after, ", ") + " holds the change: it was made before the interruption"
		if len(after) > 1 {
			r.Text = strings.Join(after, ", ") + " hold the change: it was made before the interruption"
		}
		return &r, nil
	}
	if len(after) == 0 {
		r.Seen = nil
	}
	r.Status, r.Failure = tool.Error, partly(before, after, neither)
	if len(prints) == 1 {
		have, _ := s.digest(f.Path)
		r.Failure.Detail = staleDetail(f.Want, have)
	}
	r.Text = r.Failure.Message
	return &r, nil
}

// digest returns the digest of a file, "" if there is none.
func (s settling) digest(path string) (string, error) {
	text, err := s.w.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return text.Digest, err
}

// partly says which files a change that was cut off has changed, and which not.
func partly(before, after, neither []string) *tool.Failure {
	var says []string
	if len(neither) == 1 {
		says = append(says, neither[0]+" is neither as it was before the change nor as the change makes it")
	} else if len(neither) > 1 {
		says = append(says, strings.Join(neither, ", ")+" are neither as they were before the change nor as the change makes them")
	}
	if len(after) > 0 {
		says = append(says, "changed: "+strings.Join(after, ", "))
	}
	if len(before) > 0 {
		says = append(says, "not changed: "+strings.Join(before, ", "))
	}
	return &tool.Failure{
		Kind: tool.Stale, Message: strings.Join(says, "; "), Hint: "read the files again, then change what they hold now",
		Detail: data(struct {
			Changed    []string `json:"changed"`
			NotChanged []string `json:"not_changed"`
			Neither    []string `json:"neither"`
		}{after, before, neither}),
	}
}

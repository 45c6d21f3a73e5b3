package toolbox

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed patch.md
var patchDescription string

type patchArgs struct {
	Patch string `json:"patch"`
}

// maxPatch is how many bytes a patch may have.
const maxPatch = 4 << 20

// Patch returns the tool that changes files by a patch, all of it or nothing. It
// is offered in the place of Edit and MultiEdit. Like Edit, it merges nothing
// when it is made alone.
func Patch(w *workspace.Workspace) tool.Tool { return (&changer{w: w}).patch() }

func (f *changer) patch() tool.Tool {
	return settling{tool.New(changes("Patch", patchDescription), func(ctx context.Context, args patchArgs, in tool.Input) (*tool.Action, error) {
		if len(args.Patch) > maxPatch {
			return nil, &tool.Failure{Kind: tool.TooLarge, Message: fmt.Sprintf("the patch has %d bytes, and %d are the most", len(args.Patch), maxPatch), Hint: "send it in parts"}
		}
		files, err := parsePatch(args.Patch)
		if err != nil {
			return nil, err
		}
		return f.action(ctx, in, func(ctx context.Context, settle settler) (change, error) {
			return f.patched(ctx, files, in.Seen, settle)
		})
	}), f.w}
}

// patched is what files come to. Nothing is done unless all of it can be.
func (f *changer) patched(ctx context.Context, files []filePatch, seen map[string]string, settle settler) (change, error) {
	c := change{many: true}
	used := make(map[string]bool)
	for _, p := range files {
		revisions, notes, err := f.patchedFile(ctx, p, seen, settle)
		if err != nil {
			failure := failed(ctx, f.w, p.path, err)
			failure.Message = fmt.Sprintf("patch of %s: %s; nothing was changed", p.path, failure.Message)
			return change{}, failure
		}
		for _, v := range revisions {
			if used[v.Path] {
				return change{}, invalid("name each file once, with all its hunks in order", "the patch names %s twice", v.Path)
			}
			used[v.Path] = true
		}
		c.revisions = append(c.revisions, revisions...)
		c.notes = append(c.notes, notes...)
	}
	c.verb, c.done = "Patch "+c.revisions[0].Path, "patched "+c.revisions[0].Path
	if n := len(c.revisions); n > 1 {
		c.verb, c.done = fmt.Sprintf("Patch %d files: %s", n, names(c.revisions)), fmt.Sprintf("patched %d files", n)
	}
	return c, nil
}

func names(revisions []revision) string {
	var all []string
	for _, v := range revisions {
		all = append(all, v.Path)
	}
	return strings.Join(all, ", ")
}

// patchedFile is what p comes to: one revision, or for a move two.
func (f *changer) patchedFile(ctx context.Context, p filePatch, seen map[string]string, settle settler) ([]revision, []string, error) {
	if p.op == addFile {
		v, err := f.added(p)
		return []revision{v}, nil, err
	}
	if link, _, err := f.w.Link(p.path); err == nil && (p.op == removeFile || p.to != "") {
		return nil, nil, invalid("name the file that it leads to, or remove the link with a command", "%s is a link", link)
	}
	t, err := f.target(ctx, p.path, seen)
	if err != nil {
		return nil, nil, err
	}
	splices, rungs, notes, failure := p.land(t.base)
	if failure != nil {
		return nil, nil, t.of(failure)
	}
	if p.op == removeFile {
		v, err := removed(t, p, splices)
		return []revision{v}, notes, err
	}
	v, err := t.revise(splices, settle)
	if err != nil {
		return nil, nil, err
	}
	v.Inexact, v.Mode = strings.Join(rungs, ", "), modeOf(p.mode, t.Mode)
	if p.to != "" {
		all, err := f.moved(t, p, v)
		return all, notes, err
	}
	if len(v.Regions) == 0 && v.Mode == "" {
		return nil, nil, unchanged(t, "it leaves the file as it is")
	}
	return []revision{v}, notes, nil
}

// added makes a file that is not there yet; whether one is shows when the change
// is checked as a whole.
func (f *changer) added(p filePatch) (revision, error) {
	if strings.Contains(p.content, "\x00") {
		return revision{}, noText("the patch")
	}
	at, err := f.name(p.path)
	if err != nil {
		return revision{}, err
	}
	v := created(at, p.content)
	v.Mode = modeOf(p.mode, 0o644)
	return v, nil
}

// removed takes a file away. One that is not as the model read it stays, and so
// does one of which the patch does not remove all.
func removed(t target, p filePatch, splices []splice) (revision, error) {
	if t.known != t.Digest {
		return revision{}, t.stale()
	}
	if left := spliced(t.Content, splices); len(p.hunks) > 0 && left != "" {
		return revision{}, &tool.Failure{
			Kind: tool.NoMatch, Message: fmt.Sprintf("it removes the file, and leaves %d lines of it", lineCount(left)),
			Hint: "remove every line, or update the file instead",
		}
	}
	return revision{Intent: edit.Intent{Path: t.Path, Base: t.Digest, Remove: true}, before: t.Content, known: true}, nil
}

// moved puts the file as v leaves it under another name.
func (f *changer) moved(t target, p filePatch, v revision) ([]revision, error) {
	if t.known != t.Digest {
		return nil, t.stale()
	}
	to, err := f.name(p.to)
	if err != nil {
		return nil, failed(context.Background(), f.w, p.to, err)
	}
	if to == t.Path {
		return nil, invalid("leave the move out; a command can change how a name is spelled", "it moves the file to where it is, %s", to)
	}
	if _, err := f.w.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return nil, &tool.Failure{Kind: tool.Stale, Message: "File exists already: " + to, Hint: "move to a name that is free"}
	}
	bytes, err := v.Apply(t.Bytes())
	if err != nil {
		return nil, err
	}
	made := revision{
		Intent: edit.Intent{Path: to, Mode: v.Mode, Inexact: v.Inexact}, after: v.after, known: true,
	}
	if made.Mode == "" {
		made.Mode = fmt.Sprintf("%04o", t.Mode.Perm())
	}
	if made.Attrs, err = f.attributes(t.Path); err != nil {
		return nil, failed(context.Background(), f.w, t.Path, err)
	}
	if len(bytes) > 0 {
		made.Regions = []edit.Region{{Len: len(bytes), New: bytes}}
	}
	gone := revision{Intent: edit.Intent{Path: t.Path, Base: t.Digest, Remove: true}, before: t.Content, known: true}
	return []revision{gone, made}, nil
}

// attributes returns the digest of what a file has beside its bytes and permissions,
// "" if that is nothing.
func (f *changer) attributes(path string) (string, error) {
	raw, err := f.w.OpenRaw(path)
	if err != nil {
		return "", err
	}
	defer raw.Close()
	if attrs := raw.Attributes(); attrs != workspace.Plain {
		return edit.Digest([]byte(attrs)), nil
	}
	return "", nil
}

// modeOf returns the permission bits that a file of a mode is to have after a
// patch that names another, in git's terms; "" if none does. Only whether it can
// be executed is git's to say: by whom follows from who can read it.
func modeOf(git string, have fs.FileMode) string {
	switch perm := have.Perm(); git {
	case "100755":
		return modeText(perm|perm&0o444>>2, perm)
	case "100644":
		return modeText(perm&^0o111, perm)
	}
	return ""
}

func modeText(mode, have fs.FileMode) string {
	if mode == have {
		return ""
	}
	return fmt.Sprintf("%04o", mode)
}

package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/repo"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// conditions are what the workspace reports, the kind of failure that each is to
// the model, and what to do about it. The first that matches counts.
var conditions = []struct {
	err  error
	kind tool.Kind
	hint string
}{
	{workspace.ErrStale, tool.Stale, readAgain},
	{workspace.ErrLinked, tool.NeedsApproval, "ask the user whether the other names may keep the old content; a command that writes in place changes all of them"},
	{workspace.ErrOutside, tool.OutsideWorkspace, "use a path inside the workspace, relative to its root"},
	{workspace.ErrIsDirectory, tool.IsDirectory, "list it with LS, or name a file in it"},
	{workspace.ErrNotDirectory, tool.NotFound, "a file has no entries: name a directory, or the file itself"},
	{workspace.ErrNotRegular, tool.NotRegular, "only regular files can be used"},
	{workspace.ErrBinary, tool.Binary, "use a command that understands the format"},
	{workspace.ErrTooLarge, tool.TooLarge, "use a command that takes out the part that matters"},
	{workspace.ErrUndecodable, tool.Invalid, "keep each U+FFFD character where it is, or leave those lines out of the change"},
	{workspace.ErrUnencodable, tool.Invalid, "use characters that the file's encoding has, or convert the file with a command first"},
	{repo.ErrPattern, tool.Invalid, "write a glob: *, ?, **, [a-z], {a,b}"},
	{fs.ErrNotExist, tool.NotFound, ""},
	{fs.ErrPermission, tool.NoPermission, "the operating system does not allow it: use another path, or ask the user"},
	{syscall.EROFS, tool.NoPermission, "the file system is read-only: use another path, or ask the user"},
	{fs.ErrInvalid, tool.Invalid, "give a path relative to the root of the workspace"},
	{syscall.ENAMETOOLONG, tool.Invalid, "use a shorter path"},
	{syscall.ELOOP, tool.Invalid, "the path runs in a circle of links: use another"},
	{edit.ErrInvalid, tool.Internal, ""},
	{edit.ErrMismatch, tool.Internal, ""},
	{edit.ErrRange, tool.Internal, ""},
	{edit.ErrOverlap, tool.Internal, ""},
}

const readAgain = "read the file again, then change what it holds now"

// failed returns the failure that err, from a call about p, is to the model.
func failed(ctx context.Context, w *workspace.Workspace, p string, err error) *tool.Failure {
	if f, ok := errors.AsType[*tool.Failure](err); ok {
		return f
	}
	f := &tool.Failure{Kind: tool.IO, Message: err.Error(), Hint: "check the disk; the same call may succeed later", Retry: true}
	for _, c := range conditions {
		if errors.Is(err, c.err) {
			f.Kind, f.Hint, f.Retry = c.kind, c.hint, false
			break
		}
	}
	if e, ok := errors.AsType[*workspace.StaleError](err); ok {
		f.Message = "File changed since last read: " + e.Path
		if e.Want == "" {
			f.Message, f.Hint = "File exists already: "+e.Path, "read it, then change what it holds"
		}
		f.Detail = staleDetail(e.Want, e.Have)
	}
	if e, ok := errors.AsType[*workspace.KeptError](err); ok && !strings.Contains(f.Message, e.At) {
		f.Message += "; what it held for a moment is in " + e.At
	}
	if f.Kind == tool.NotFound && f.Hint == "" {
		f.Message = "no such file or directory: " + p
		f.Hint = "find it with Glob or LS"
		if near := nearNames(ctx, w, p); len(near) > 0 {
			f.Hint = "did you mean " + strings.Join(near, " or ") + "?"
		}
	}
	return f
}

func staleDetail(want, have string) []byte {
	return data(struct {
		Expected string `json:"expected_sha256"`
		Actual   string `json:"actual_sha256"`
	}{want, have})
}

// ended is the result of a call whose context has ended before it was done.
func ended(err error) tool.Result {
	why := "cancelled before it was done; nothing was changed"
	if errors.Is(err, context.DeadlineExceeded) {
		why = "out of time before it was done; nothing was changed"
	}
	return tool.Result{
		Status: tool.Interrupted, Text: why,
		Failure: &tool.Failure{Kind: tool.Cancelled, Message: why, Retry: true},
	}
}

// maxNear is how many names are suggested for one that does not exist, and
// maxWalk how many files are looked at for them.
const (
	maxNear = 3
	maxWalk = 20_000
)

// nearNames returns paths in w that p may have been meant to be: names like its
// own in its directory, else files of its name anywhere.
func nearNames(ctx context.Context, w *workspace.Workspace, p string) []string {
	at, err := w.Resolve(p)
	if err != nil {
		return nil
	}
	var near []string
	entries, _ := w.List(path.Dir(at)) // none, if that does not exist either
	name := path.Base(at)
	for _, e := range entries {
		if len(near) < maxNear && alike(path.Base(e.Path), name) {
			near = append(near, e.Path)
		}
	}
	if len(near) > 0 {
		return near
	}
	walked := 0
	for f, err := range w.Files(ctx, ".") {
		if walked++; walked > maxWalk || len(near) == maxNear || ctx.Err() != nil {
			break
		}
		if err == nil && strings.EqualFold(path.Base(f.Path), name) {
			near = append(near, f.Path)
		}
	}
	return near
}

// alike reports whether a could be a misspelling of b: but for case, they differ
// in at most two places, and in less than half of the shorter.
func alike(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return distance(a, b, 2) <= min(2, (min(len(a), len(b))-1)/2)
}

// distance returns how many bytes must be added, removed or replaced to make b
// of a, or more than limit if more than that.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// invalid returns a failure of arguments that fit the schema and make no sense.
func invalid(hint, format string, a ...any) *tool.Failure {
	return &tool.Failure{Kind: tool.Invalid, Message: fmt.Sprintf(format, a...), Hint: hint}
}

// oneLine makes text fit for a summary: one line that is not too long.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	if r := []rune(text); len(r) > 200 {
		text = string(r[:199]) + "…"
	}
	return text
}

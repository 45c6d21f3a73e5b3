package toolbox

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/undo"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed undo.md
var undoDescription string

type undoArgs struct {
	Turn int    `json:"turn,omitempty" min:"0" jsonschema:"a turn, by its number"`
	Call string `json:"call,omitempty" jsonschema:"a call, by its id"`
	File string `json:"file,omitempty" jsonschema:"a file, in the whole session"`
	Redo bool   `json:"redo,omitempty" jsonschema:"take back the newest undo instead"`
}

// Undo returns the tool that takes changes back. It is never offered to a model.
// History returns what the session knows; the bytes are the images of w.
func Undo(w *workspace.Workspace, history func() (*undo.History, error)) tool.Tool {
	s := changes(undo.Tool, undoDescription)
	t := tool.New(s, func(ctx context.Context, args undoArgs, in tool.Input) (*tool.Action, error) {
		scope, err := args.scope(ctx, w)
		if err != nil {
			return nil, err
		}
		h, err := history()
		if err != nil {
			return nil, err
		}
		found, err := h.Select(scope)
		if at, _, e := w.Link(args.File); e == nil && errors.Is(err, undo.ErrNothing) { // the link, not what it leads to
			scope.File = at
			found, err = h.Select(scope)
		}
		if errors.Is(err, undo.ErrNothing) {
			message := strings.Join(append([]string{err.Error()}, h.Uncovered(scope, nil)...), "\nnot covered by undo, ")
			return nil, &tool.Failure{Kind: tool.NoChange, Message: message, Hint: "belay log shows what was changed"}
		}
		if err != nil {
			return nil, err
		}
		u := undoing{w: w, prune: make(map[string]int), report: undo.Report{Redo: scope.Redo, Taken: []undo.Ref{}}}
		if !scope.Redo {
			u.report.Uncovered = h.Uncovered(scope, found)
		}
		u.plan(found)
		u.know(in.Seen, found)
		return u.action(ctx, scope)
	})
	return undoSettler{t, w}
}

// scope checks that args name one thing at most.
func (a undoArgs) scope(ctx context.Context, w *workspace.Workspace) (undo.Scope, error) {
	named := 0
	for _, set := range []bool{a.Turn > 0, a.Call != "", a.File != "", a.Redo} {
		if set {
			named++
		}
	}
	if named > 1 {
		return undo.Scope{}, &tool.Failure{
			Kind: tool.Invalid, Message: "of turn, call, file and redo more than one is given", Hint: "give one of them, or none",
		}
	}
	if a.File != "" {
		at, err := w.Resolve(a.File)
		if err != nil {
			return undo.Scope{}, failed(ctx, w, a.File, err)
		}
		a.File = at
	}
	return undo.Scope(a), nil
}

// An undoing is changes being taken back.
type undoing struct {
	w      *workspace.Workspace
	edits  []edit.Intent
	prune  map[string]int    // directories that were made for a file that goes
	seen   map[string]string // what the model knows afterwards
	report undo.Report
}

// maxUndone is how many files one call takes back or leaves: they must fit into
// one event. maxLeft is how many of the latter its text names.
const (
	maxUndone = 1500
	maxLeft   = 20
)

// plan works out what takes found back, file by file.
func (u *undoing) plan(found []undo.Change) {
	of := make(map[string][]undo.Change)
	for _, c := range found {
		of[c.Edit.Path] = append(of[c.Edit.Path], c)
	}
	paths := undo.Paths(found)
	same := spellings(paths)
	for _, path := range paths {
		if len(u.edits)+len(u.report.Left) == maxUndone {
			u.report.More++
			continue
		}
		if other := same[path]; other != "" && u.one(path, other) {
			u.leave(path, of[path], "it and "+other+" are one file here: only how the name is spelled was changed, or that too")
			continue
		}
		u.planFile(path, of[path])
	}
}

// spellings returns, of paths that others are another spelling of, one of those.
func spellings(paths []string) map[string]string {
	first, same := make(map[string]string), make(map[string]string)
	for _, path := range paths {
		folded := workspace.Folded(path)
		if other := first[folded]; other != "" {
			same[path], same[other] = other, path
			continue
		}
		first[folded] = path
	}
	return same
}

// one reports whether two paths lead to one file.
func (u *undoing) one(path, other string) bool {
	a, err := u.w.Resolve(path)
	b, e := u.w.Resolve(other)
	return err == nil && e == nil && a == b
}

// leave says why changes of a file stay.
func (u *undoing) leave(path string, changes []undo.Change, why string) {
	u.report.Left = append(u.report.Left, undo.Left{Path: path, Call: changes[0].Call, Why: why})
}

func (u *undoing) planFile(path string, changes []undo.Change) {
	leave := func(why string) { u.leave(path, changes, why) }
	now, err := u.look(path)
	if err != nil {
		leave(err.Error())
		return
	}
	i, changed, left := undo.Back(changes, now, u.w.Image)
	if left != nil {
		u.report.Left = append(u.report.Left, *left)
		return
	}
	if changed {
		if err := u.allowed(i); err != nil {
			leave(err.Error())
			return
		}
		u.edits = append(u.edits, i)
	}
	for _, c := range changes {
		if i.Remove && c.Edit.Parents > 0 {
			u.prune[path] = max(u.prune[path], c.Edit.Parents)
		}
		u.report.Taken = append(u.report.Taken, undo.Ref{Call: c.Call, Path: path})
	}
}

// know works out what the model knows afterwards: a file that is gone, or again as
// it was when the model last knew it. Any other it must read again.
func (u *undoing) know(seen map[string]string, found []undo.Change) {
	u.seen = make(map[string]string)
	for _, i := range u.edits {
		_, known := seen[i.Path]
		if known && (i.Remove || slices.ContainsFunc(found, func(c undo.Change) bool {
			return c.Edit.Path == i.Path && c.Edit.Base == i.Result
		})) {
			u.seen[i.Path] = i.Result
		}
	}
}

// allowed says why i cannot be made, if it cannot. One file must not keep the
// others from coming back.
func (u *undoing) allowed(i edit.Intent) error {
	d, err := u.w.Diff([]edit.Intent{i})
	if names := d.Names[i.Path]; err == nil && names > 1 {
		err = &workspace.LinkedError{Path: i.Path, Names: names}
	}
	return err
}

// look returns what is at path now.
func (u *undoing) look(file string) (undo.File, error) {
	if at, target, err := u.w.Link(file); err == nil && at == file {
		return undo.File{Exists: true, Bytes: target, Mode: edit.Link}, nil
	}
	f, err := u.w.OpenRaw(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return undo.File{}, u.moved(file)
	case err != nil:
		return undo.File{}, err
	}
	defer f.Close()
	if err := u.moved(file); err != nil {
		return undo.File{}, err
	}
	if f.Size > workspace.MaxFile {
		return undo.File{}, workspace.ErrTooLarge
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, workspace.MaxFile))
	attrs := edit.Digest([]byte(f.Attributes()))
	return undo.File{Exists: true, Bytes: b, Mode: fmt.Sprintf("%04o", f.Mode.Perm()), Attrs: attrs}, err
}

// moved says that a file is not where its path leads now, if it is not.
func (u *undoing) moved(file string) error {
	at, err := u.w.Resolve(file)
	switch {
	case err != nil:
		return err
	case at != file && workspace.Folded(at) == workspace.Folded(file):
		return fmt.Errorf("it is spelled %s now", at)
	case at != file:
		return fmt.Errorf("a directory of it is a link now, it would be %s", at)
	}
	return nil
}

// action is the action of taking back what was planned.
func (u *undoing) action(ctx context.Context, scope undo.Scope) (*tool.Action, error) {
	if len(u.report.Taken) == 0 {
		return nil, &tool.Failure{
			Kind: tool.Stale, Message: "nothing was taken back:" + u.left(),
			Hint: "what is left can be mended by hand; belay log shows what was changed", Detail: data(u.report),
		}
	}
	diff, err := u.w.Diff(u.edits)
	if err != nil {
		return nil, failed(ctx, u.w, u.edits[0].Path, err)
	}
	var parts []tool.Part
	for n, i := range u.edits {
		u.edits[n].Parents, u.edits[n].WasAttrs = diff.Parents[i.Path], diff.WasAttrs[i.Path]
		e := effect.Set{{Kind: effect.Read, On: i.Path}, {Kind: effect.Write, On: i.Path}}
		dir := i.Path
		for range u.prune[i.Path] {
			dir = path.Dir(dir)
			e = append(e, effect.Effect{Kind: effect.Write, On: dir})
		}
		parts = append(parts, tool.Part{Name: i.Path, Effects: e})
	}
	temp := workspace.Temp()
	preview := previewed(diff.Unified)
	if u.partial() {
		preview += "left as it is:" + u.left() + "\n"
	}
	return &tool.Action{
		Parts: parts, Preview: preview, Edits: u.edits,
		Summary:     oneLine(fmt.Sprintf("%s (+%d -%d)", u.title(scope), diff.Added, diff.Removed)),
		Fingerprint: data(undoPrint{Temp: temp, Edits: u.edits, Prune: u.prune, Seen: u.seen, Report: u.report}),
		Do: func(ctx context.Context, _ tool.Env) (tool.Result, error) {
			if err := ctx.Err(); err != nil {
				return ended(err), nil
			}
			if _, err := u.w.WriteAs(temp, u.edits); err != nil {
				return tool.Result{}, failed(ctx, u.w, u.edits[0].Path, err)
			}
			return u.result(), u.tidy()
		},
	}, nil
}

// tidy removes the directories that were made for files that are gone, deepest
// first.
func (u *undoing) tidy() error {
	paths := slices.Sorted(maps.Keys(u.prune))
	for _, p := range slices.Backward(paths) {
		if err := u.w.Prune(p, u.prune[p]); err != nil {
			return err
		}
	}
	return nil
}

// title says in a few words what is taken back.
func (u *undoing) title(scope undo.Scope) string {
	what := "Undo "
	if scope.Redo {
		what = "Redo "
	}
	switch files := len(u.edits); files {
	case 0:
		return what + "(nothing is left to change)"
	case 1:
		return what + u.edits[0].Path
	default:
		return what + fmt.Sprintf("%d files", files)
	}
}

// result says what was taken back.
func (u *undoing) result() tool.Result {
	u.bare()
	r := tool.Result{Status: tool.Success, Edits: u.edits, Seen: u.seen, Data: data(u.report)}
	var text strings.Builder
	fmt.Fprintf(&text, "took back what %s changed", strings.Join(u.calls(), ", "))
	if u.report.Redo {
		text.Reset()
		text.WriteString("did again what was taken back")
	}
	var paths []string
	for _, i := range u.edits {
		paths = append(paths, i.Path)
	}
	if more := len(paths) - maxLeft; more > 0 {
		paths = append(paths[:maxLeft], fmt.Sprintf("and %d more files", more))
	}
	if paths == nil {
		paths = []string{"it was so already"}
	}
	text.WriteString(": " + strings.Join(paths, ", "))
	if u.partial() {
		r.Status = tool.Partial
		text.WriteString("\nleft as it is:" + u.left())
	}
	if n := len(u.report.Bare); n > 0 {
		r.Status = tool.Partial
		fmt.Fprintf(&text, "\nwithout the owner, attributes or access list that it had: %s", strings.Join(u.report.Bare[:min(n, maxLeft)], ", "))
		if n > maxLeft {
			fmt.Fprintf(&text, " and %d more", n-maxLeft)
		}
	}
	r.Text = text.String()
	return r
}

// calls returns whose changes are taken back, each once, oldest first.
func (u *undoing) calls() []string {
	calls := make(map[string]bool)
	for _, r := range u.report.Taken {
		calls[r.Call] = true
	}
	return slices.SortedFunc(maps.Keys(calls), func(a, b string) int { // c9 before c10
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
}

func (u *undoing) partial() bool {
	return u.report.Left != nil || u.report.More > 0 || u.report.Uncovered != nil
}

// bare finds the files that have not got the attributes that they were to have.
func (u *undoing) bare() {
	for _, i := range u.edits {
		if i.Attrs == "" {
			continue
		}
		if now, err := u.look(i.Path); err == nil && now.Attrs != i.Attrs {
			u.report.Bare = append(u.report.Bare, i.Path)
		}
	}
}

// left says what is not taken back, a line each.
func (u *undoing) left() string {
	var b strings.Builder
	for n, l := range u.report.Left {
		if n == maxLeft {
			fmt.Fprintf(&b, "\n  and %d more", len(u.report.Left)-n)
			break
		}
		fmt.Fprintf(&b, "\n  %s: %s", l.Path, l.Why)
		for n, s := range l.Lines {
			word := ", "
			if n == 0 {
				word = "; lines "
			}
			fmt.Fprintf(&b, "%s%d-%d", word, s.First, s.Last)
		}
	}
	for _, what := range u.report.Uncovered {
		fmt.Fprintf(&b, "\n  not covered by undo, %s", what)
	}
	if u.report.More > 0 {
		fmt.Fprintf(&b, "\n  %d files more than one undo takes back: undo again", u.report.More)
	}
	return b.String()
}

package tooltest

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// checkAction checks what Prepare returned against the contract.
func (w *world) checkAction(a *tool.Action) {
	w.t.Helper()
	s := w.tool.Spec()
	if a.Summary == "" || strings.ContainsAny(a.Summary, "\n\r") || !utf8.ValidString(a.Summary) {
		w.t.Errorf("summary %q is not one line", a.Summary)
	}
	if a.Timeout < 0 || a.Timeout > s.Timeout {
		w.t.Errorf("the action asks for %s, the contract allows %s", a.Timeout, s.Timeout)
	}
	if len(a.Fingerprint) > 0 && !json.Valid(a.Fingerprint) {
		w.t.Errorf("the fingerprint is no JSON: %q", a.Fingerprint)
	}
	for _, e := range a.Effects() {
		if !slices.Contains(s.Effects, e.Kind) {
			w.t.Errorf("the action has the effect %s, the contract knows %v", e.Kind, s.Effects)
		}
		if (e.Kind == effect.Read || e.Kind == effect.Write) && !clean(e.On) {
			w.t.Errorf("the effect %s is on %q, which is not a resolved path", e.Kind, e.On)
		}
	}
	for _, e := range a.Edits {
		if !writes(a.Effects(), e.Path) {
			w.t.Errorf("the action has an edit of %s, which it does not declare to write", e.Path)
		}
	}
}

func clean(p string) bool {
	return p != "" && path.Clean(p) == p && p != ".." && !strings.HasPrefix(p, "../")
}

// checkTouched checks that each changed path was declared.
func (w *world) checkTouched(a *tool.Action, changed []string) {
	w.t.Helper()
	readOnly := w.tool.Spec().Idempotency == tool.ReadOnly
	for _, p := range changed {
		switch {
		case readOnly:
			w.t.Errorf("Do changed %s, and the contract says that it only reads", p)
		case !writes(a.Effects(), p):
			w.t.Errorf("Do changed %s, which the action did not declare", p)
		}
	}
}

// writes reports whether s permits to write p. A directory on the way to a path
// that may be written may be made.
func writes(s effect.Set, p string) bool {
	return slices.ContainsFunc(s, func(e effect.Effect) bool {
		switch {
		case e.Kind == effect.Anything:
			return true
		case e.Kind != effect.Write:
			return false
		case e.On == p || strings.HasPrefix(e.On, p+"/"):
			return true
		}
		return e.Tree && (e.On == "." && !path.IsAbs(p) || strings.HasPrefix(p, e.On+"/"))
	})
}

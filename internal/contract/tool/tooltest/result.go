package tooltest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// failed reports whether a result of this status needs a failure.
func failed(s tool.Status) (needed, known bool) {
	switch s {
	case tool.Success, tool.Partial:
		return false, true
	case tool.Error, tool.Interrupted, tool.Unknown:
		return true, true
	}
	return false, false
}

// checkResult checks r by itself and against the files.
func (w *world) checkResult(a *tool.Action, r tool.Result) {
	w.t.Helper()
	if needed, known := failed(r.Status); !known {
		w.t.Errorf("status %q is not on the list", r.Status)
	} else if needed != (r.Failure != nil) {
		w.t.Errorf("status %s with the failure %v", r.Status, r.Failure)
	}
	if r.Failure != nil {
		w.checkFailure(r.Failure)
	}
	if limit := w.tool.Spec().Inline; len(r.Text) > limit {
		w.t.Errorf("the text has %d bytes, over the limit of %d", len(r.Text), limit)
	}
	if lines := strings.Count(r.Text, "\n"); lines > tool.MaxLines {
		w.t.Errorf("the text has %d lines, over the limit of %d", lines, tool.MaxLines)
	}
	if strings.TrimSpace(r.Text) == "" {
		w.t.Error("the text says nothing")
	}
	w.checkSeen(r)
	for _, e := range r.Edits {
		if !writes(a.Effects(), e.Path) {
			w.t.Errorf("the result has an edit of %s, which the action does not declare", e.Path)
		}
	}
}

func (w *world) checkFailure(f *tool.Failure) {
	w.t.Helper()
	if !slices.Contains(tool.Kinds, f.Kind) {
		w.t.Errorf("failure kind %q is not on the list", f.Kind)
	}
	if f.Message == "" {
		w.t.Errorf("failure %s has no message", f.Kind)
	}
	if f.Retry && f.Kind.ByArguments() {
		w.t.Errorf("failure %s is said to be retryable, and comes back for the same arguments", f.Kind)
	}
}

// checkSeen compares the digests that r reports with the files.
func (w *world) checkSeen(r tool.Result) {
	w.t.Helper()
	now := w.snap()
	for p, claimed := range r.Seen {
		if actual := now[p].digest; claimed != actual {
			w.t.Errorf("the result says that the model knows %s as %q; its digest is %q", p, claimed, actual)
		}
	}
	for _, e := range r.Edits {
		if actual := now[e.Path].digest; e.Result != actual {
			w.t.Errorf("the result's edit ends in %q; the digest of %s is %q", e.Result, e.Path, actual)
		}
	}
}

// checkEnvelope marshals r as programs get it.
func (w *world) checkEnvelope(r tool.Result) {
	w.t.Helper()
	r.Metrics = &tool.Metrics{Milliseconds: 1, OutputBytes: int64(len(r.Text))}
	b, err := json.Marshal(tool.Envelope{Result: r, Context: tool.Context{
		Dir: ".", Args: w.in.Args, Call: w.in.Call, Version: w.tool.Spec().Version,
	}})
	if err != nil {
		w.t.Errorf("the result is no JSON: %v", err)
		return
	}
	var back map[string]json.RawMessage
	if err := json.Unmarshal(b, &back); err != nil {
		w.t.Errorf("the envelope is no JSON object: %v", err)
	}
	for _, key := range []string{"status", "text", "metrics", "context"} {
		if _, ok := back[key]; !ok {
			w.t.Errorf("the envelope has no %s: %s", key, b)
		}
	}
	if data, ok := back["data"]; ok && !bytes.HasPrefix(data, []byte("{")) {
		w.t.Errorf("data is no object: %s", data)
	}
}

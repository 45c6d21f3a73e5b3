package prompt

import (
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// A Pruning says how far the talk is shortened.
type Pruning struct {
	Tokens int // what the next request has now ...
	Target int // ... and what it is to come down to
	Last   int // tokens that the results and arguments of the newest calls may have; 0 leaves them alone

	// Keep stores a text and returns its handle. Where it fails the text stays in
	// the talk.
	Keep func(name, text string) (handle string, err error)
}

// Why something was shortened: a Pruned's Why.
const (
	whyRepeated = "repeated" // the same text stands elsewhere
	whyNoise    = "noise"    // nothing that a reader needs is gone
	whyTests    = "tests"    // what failed is left
	whyStored   = "stored"   // the whole is an artifact
	whyReread   = "reread"   // the file has it
)

const (
	worthPruning = 100 // tokens: what is shorter stays as it is
	worthStoring = 300 // tokens
	longArgument = 600 // bytes of a string among arguments that are left
)

// Prune returns how the calls in the talk are shortened, so that the next request
// comes down to p.Target, in this order: what is repeated or noise; of tests what
// failed; then, oldest first and only as far as it takes, what is stored elsewhere.
// The newest calls stay as they are: the model has not answered them yet. They are
// cut only to p.Last.
func Prune(s *session.State, p Pruning) []event.Pruned {
	w := pruner{Pruning: p, done: make(map[string]event.Pruned)}
	w.collect(s.Talk())
	w.repeated()
	w.quiet()
	w.store()
	if p.Last > 0 {
		w.cutLast()
	}
	var pruned []event.Pruned
	for _, i := range w.items {
		if d, ok := w.done[i.call.ID]; ok {
			pruned = append(pruned, d)
		}
	}
	return pruned
}

// An item is a call in the talk with its result.
type item struct {
	call   tool.Call
	result tool.Result // as it will be
	full   string      // its text before
	handle string      // under which that is kept
	last   bool        // it is of the newest that the model made
}

type pruner struct {
	Pruning
	items []item
	done  map[string]event.Pruned
}

func (w *pruner) collect(talk []session.Exchange) {
	newest := -1
	for i, x := range talk {
		if len(x.Results) > 0 {
			newest = i
		}
	}
	for i, x := range talk {
		for n, c := range x.Message.Calls() {
			if r := x.Results[n]; r != nil {
				w.items = append(w.items, item{call: c, result: *r, full: r.Text, last: i == newest})
			}
		}
	}
}

// shorten takes text in place of a result's, if that is shorter.
func (w *pruner) shorten(i *item, text, why string) {
	saved := tool.EstimateTokens(i.result.Text) + imageTokens*len(i.result.Media) - tool.EstimateTokens(text)
	if saved <= 0 {
		return
	}
	w.Tokens -= saved
	d := w.done[i.call.ID]
	d.Call, d.Text, d.Why = i.call.ID, text, why
	w.done[i.call.ID] = d
	i.result.Text, i.result.Media = text, nil
}

// imageTokens is what an image counts for.
var imageTokens = model.EstimateParts([]model.Part{model.Image{}})

// repeated leaves of texts that are the same the newest: it stays in the talk
// longest.
func (w *pruner) repeated() {
	newest := make(map[string]string)
	for n := len(w.items) - 1; n >= 0; n-- {
		i := &w.items[n]
		if len(i.result.Media) > 0 || tool.EstimateTokens(i.result.Text) < worthPruning {
			continue
		}
		if at, ok := newest[i.result.Text]; ok {
			w.shorten(i, fmt.Sprintf("[the same as the result of %s, which follows]", at), whyRepeated)
			continue
		}
		newest[i.result.Text] = i.call.ID
	}
}

// quiet drops what nobody reads of an output, and of tests what did not fail.
func (w *pruner) quiet() {
	for n := range w.items {
		i := &w.items[n]
		if i.last || tool.EstimateTokens(i.result.Text) < worthPruning {
			continue
		}
		if text := withoutNoise(i.result.Text); text != i.result.Text {
			w.shorten(i, text, whyNoise)
		}
		run, ok := session.RunOf(i.call, i.result)
		if !ok {
			continue
		}
		text, why := failures(run, i.result.Text), whyTests
		if run.Outcome == "passed" || run.Outcome == "succeeded" {
			why = whyNoise
		}
		if handle := w.whole(i); handle != "" {
			w.shorten(i, text+"\n[the whole is in "+handle+"]", why)
		}
	}
}

// store puts a reference in the place of what is long, oldest first, until the
// target is reached.
func (w *pruner) store() {
	for n := range w.items {
		i := &w.items[n]
		if w.Tokens <= w.Target {
			return
		}
		if i.last {
			continue
		}
		w.shortenArgs(i, longArgument)
		if tool.EstimateTokens(i.result.Text)+imageTokens*len(i.result.Media) < worthStoring {
			continue
		}
		if i.call.Tool == "Read" && len(i.result.Media) == 0 {
			w.shorten(i, "[what was read is left out: read it again where it is needed]", whyReread)
			continue
		}
		if handle := w.whole(i); handle != "" {
			w.shorten(i, reference(i, handle), whyStored)
		}
	}
}

// reference stands for a result that is stored.
func reference(i *item, handle string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(i.result.Text), "\n")
	text := clipped(first, 200)
	if lines := strings.Count(i.result.Text, "\n"); lines > 0 {
		text += fmt.Sprintf("\n[%d lines (%d bytes) are left out here", lines, len(i.result.Text))
	} else {
		text += fmt.Sprintf("\n[%d bytes are left out here", len(i.result.Text))
	}
	for _, m := range i.result.Media {
		text += "; an image is in " + m.Handle
	}
	return text + "; the whole is in " + handle + ": Read or Grep it where it is needed]"
}

// whole returns the handle under which all of a result is kept, "" if it cannot
// be kept.
func (w *pruner) whole(i *item) string {
	for _, a := range i.result.Artifacts {
		if strings.HasPrefix(a.Type, "text/") {
			return a.Handle
		}
	}
	if i.handle == "" && w.Keep != nil {
		if handle, err := w.Keep("result of "+i.call.ID, i.full); err == nil {
			i.handle = handle
		}
	}
	return i.handle
}

// cutLast cuts the newest calls and their results so that they fit.
func (w *pruner) cutLast() {
	var last []*item
	size := 0
	for n := range w.items {
		if i := &w.items[n]; i.last {
			last = append(last, i)
			size += tool.EstimateTokens(i.result.Text) + imageTokens*len(i.result.Media) + tool.EstimateTokens(string(i.call.Args))
		}
	}
	if size <= w.Last {
		return
	}
	room := max(w.Last/len(last), worthPruning)
	for _, i := range last {
		w.shortenArgs(i, min(longArgument, 3*room))
		if tool.EstimateTokens(i.result.Text)+imageTokens*len(i.result.Media) <= room {
			continue
		}
		handle := w.whole(i)
		if handle == "" {
			continue
		}
		text := excerptOf(i.result.Text, room, handle)
		for _, m := range i.result.Media {
			text += "\n[an image is left out here: it is " + m.Handle + "]"
		}
		w.shorten(i, text, whyStored)
	}
}

// excerptOf cuts text to about so many tokens.
func excerptOf(text string, tokens int, handle string) string {
	for bytes := 3 * tokens; ; bytes = bytes * 2 / 3 {
		short, _ := tool.Excerpt(text, bytes, handle)
		if tool.EstimateTokens(short) <= tokens || bytes < 200 {
			return short
		}
	}
}

// shortenArgs cuts long strings in the arguments of a call, such as what it wrote.
func (w *pruner) shortenArgs(i *item, most int) {
	short, cut := shortArgs(i.call.Args, most)
	if !cut {
		return
	}
	saved := tool.EstimateTokens(string(i.call.Args)) - tool.EstimateTokens(string(short))
	if saved < worthPruning {
		return
	}
	w.Tokens -= saved
	d := w.done[i.call.ID]
	if d.Call == "" {
		d = event.Pruned{Call: i.call.ID, Why: whyReread}
	}
	d.Args = short
	w.done[i.call.ID] = d
	i.call.Args = short
}

// tokensOf returns how many tokens an exchange has, roughly.
func tokensOf(x session.Exchange) int {
	n := x.Message.Estimate()
	for _, r := range x.Results {
		if r != nil {
			n += model.EstimateParts([]model.Part{model.CallResult{Text: r.Text, Media: r.Media}})
		}
	}
	return n
}

package uptake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A seen is a call, those before it whose results the model knew when it asked for
// it, and those that it asked for along with it and before it.
type seen struct {
	done
	before, along []done
}

// judge looks whether d shows that a result before it was not taken up. It shows no
// more than one.
func (f *Fold) judge(d seen) {
	for _, rule := range []func(seen) (Miss, bool){sameCall, notReadAgain, notInstead, restUnseen, askedAgain} {
		if m, ok := rule(d); ok {
			m.At, m.Turn, m.Reply = d.ID, f.turn, d.reply
			f.misses = append(f.misses, m)
			return
		}
	}
}

// like returns the newest equal call before d, and what came after it.
func (d seen) like() (p done, since []done, ok bool) {
	for i, p := range slices.Backward(d.before) {
		if p.sign == d.sign {
			return p, d.before[i+1:], true
		}
	}
	return done{}, nil, false
}

func sameCall(d seen) (Miss, bool) {
	p, _, ok := d.like()
	if !ok || p.epoch != d.epoch || p.kind() == "" || p.result.Failure.Retry {
		return Miss{}, false
	}
	if d.kind() != tool.Repeated && (d.kind() != p.kind() || d.result.Failure.Message != p.result.Failure.Message) {
		return Miss{}, false
	}
	return Miss{Kind: SameCall, Of: p.ID, What: fmt.Sprintf("%s failed (%s), nothing had changed, and it was called again", p.name(), p.kind())}, true
}

// byContent are failures of an edit that a look at the file is the answer to.
var byContent = []tool.Kind{tool.Stale, tool.NotRead, tool.NoMatch, tool.Ambiguous}

func notReadAgain(d seen) (Miss, bool) {
	if d.at == "" || !slices.Contains(byContent, d.kind()) || slices.ContainsFunc(d.along, d.shown) {
		return Miss{}, false
	}
	for _, p := range slices.Backward(d.before) {
		switch {
		case d.shown(p), p.words != d.words:
			return Miss{}, false
		case p.at == d.at && slices.Contains(byContent, p.kind()):
			return Miss{Kind: NotReadAgain, Of: p.ID, What: fmt.Sprintf("%s failed (%s), and the file was not looked at before the next try", p.name(), p.kind())}, true
		}
	}
	return Miss{}, false
}

// shown reports whether p may have shown, or changed, the file that d is about.
func (d done) shown(p done) bool {
	_, read := p.result.Seen[d.at]
	return p.kind() == "" && (read || p.at == d.at || strings.Contains(string(p.Args), d.at))
}

func notInstead(d seen) (Miss, bool) {
	named := instead(d.done)
	if len(named) == 0 {
		return Miss{}, false
	}
	used := func(q done) bool { return q.Tool == named[0].Tool }
	if slices.ContainsFunc(d.along, used) {
		return Miss{}, false
	}
	same := func(a, b tool.Call) bool { return a.Signature() == b.Signature() }
	for _, p := range slices.Backward(d.before) {
		switch {
		case used(p):
			return Miss{}, false
		case slices.EqualFunc(instead(p), named, same):
			return Miss{Kind: NotInstead, Of: p.ID, What: fmt.Sprintf("%s was answered with the call to make, %s, and it was not made", p.name(), ended(named[0]).name())}, true
		}
	}
	return Miss{}, false
}

// instead returns the calls that d was answered with.
func instead(d done) []tool.Call {
	if d.result.Failure == nil {
		return nil
	}
	return tool.Instead(d.result.Failure)
}

func restUnseen(d seen) (Miss, bool) {
	p, since, ok := d.like()
	if !ok || len(p.result.Artifacts) == 0 || p.written != d.written {
		return Miss{}, false
	}
	looked := func(q done) bool {
		return slices.ContainsFunc(p.result.Artifacts, func(a tool.Artifact) bool { return strings.Contains(string(q.Args), a.Handle) })
	}
	if slices.ContainsFunc(since, looked) || slices.ContainsFunc(d.along, looked) {
		return Miss{}, false
	}
	return Miss{Kind: RestUnseen, Of: p.ID, What: fmt.Sprintf("the result of %s was cut short, its whole (%s) was not looked at, and it was called again", p.name(), p.result.Artifacts[0].Handle)}, true
}

func askedAgain(d seen) (Miss, bool) {
	p, since, ok := d.like()
	if !ok || !d.looks || p.epoch != d.epoch || p.kind() != "" || d.kind() != "" || p.result.Text != d.result.Text {
		return Miss{}, false
	}
	if slices.ContainsFunc(since, func(q done) bool { return q.kind() != "" }) { // to look again is what a failure asks for
		return Miss{}, false
	}
	return Miss{Kind: AskedAgain, Of: p.ID, What: fmt.Sprintf("%s had answered, nothing had changed, and it was called again and said the same", p.name())}, true
}

// end looks back at a turn that the model ended.
func (f *Fold) end() {
	changed, at := false, -1
	for i, d := range f.past {
		if i < f.from {
			continue
		}
		if changed && d.kind() != "" && len(failing(d)) > 0 {
			at = i
		}
		changed = changed || len(d.result.Edits) > 0
	}
	if at < 0 {
		return
	}
	d := f.past[at]
	for _, later := range f.past[at+1:] {
		if later.reply > d.reply && later.sign != d.sign && later.Tool != "Todo" {
			return
		}
	}
	names := failing(d)
	f.misses = append(f.misses, Miss{
		Kind: TestUnseen, Of: d.ID, Turn: f.turn, Reply: f.reply,
		What: fmt.Sprintf("%s failed after a change, and the turn ended with nothing else looked at or changed: not %s", d.name(), strings.Join(names[:min(3, len(names))], ", ")),
	})
}

// failing returns what the output of a check names: files or, where it names none,
// tests.
func failing(d done) []string {
	type named struct {
		Name string `json:"name"`
		File string `json:"file"`
	}
	type list struct {
		Failing  []named `json:"failing"`
		Problems []named `json:"problems"`
		Errors   int     `json:"errors"` // of the problems of a report, the others are warnings
	}
	var data struct {
		list
		Reports []list `json:"reports"`
	}
	if len(d.result.Data) == 0 || json.Unmarshal(d.result.Data, &data) != nil {
		return nil
	}
	files, names := make(map[string]bool), make(map[string]bool)
	take := func(all []named) {
		for _, n := range all {
			if n.File != "" {
				files[n.File] = true
			} else if n.Name != "" {
				names[n.Name] = true
			}
		}
	}
	take(data.Failing)
	take(data.Problems)
	for _, r := range data.Reports {
		take(r.Failing)
		if r.Errors > 0 {
			take(r.Problems)
		}
	}
	if len(files) == 0 {
		files = names
	}
	return slices.Sorted(maps.Keys(files))
}

// ended returns c as a call of which nothing more is known.
func ended(c tool.Call) done { return done{Call: c, at: pathOf(c)} }

// maxAbout is how many characters of a command or a pattern name a call.
const maxAbout = 60

// name names a call.
func (d done) name() string {
	var args struct{ Path, Command, Pattern, Query string }
	if json.Unmarshal(d.Args, &args) != nil {
		return d.Tool
	}
	about := []rune(strings.Join(strings.Fields(cmp.Or(args.Path, args.Command, args.Pattern, args.Query)), " "))
	if len(about) > maxAbout {
		about = append(about[:maxAbout-1], '…')
	}
	return strings.TrimSpace(d.Tool + " " + string(about))
}

// pathOf returns the path that a call is about, "" if it is about none.
func pathOf(c tool.Call) string {
	var args struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(c.Args, &args) != nil {
		return ""
	}
	return strings.TrimPrefix(args.Path, "./")
}

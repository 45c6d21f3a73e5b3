package stats

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/pattern"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Failure is a call that failed, and what the model did about it.
type Failure struct {
	Session string    `json:"session,omitempty"` // filled in by whoever knows it
	Seq     int64     `json:"seq"`               // of its result
	Time    time.Time `json:"time"`
	Call    tool.Call `json:"call"`
	Kind    tool.Kind `json:"kind"`
	Message string    `json:"message"`
	Words   string    `json:"words,omitempty"` // of the model, next
	Then    []Next    `json:"then"`            // the calls after it, at most maxThen, within the task
	Mended  bool      `json:"mended"`          // the last of them is of the same tool and succeeded
}

// A Next is a call that followed a failure.
type Next struct {
	Tool string    `json:"tool"`
	Same bool      `json:"same,omitempty"` // an equal call
	Kind tool.Kind `json:"kind,omitempty"` // how it failed, "" if it did not
}

// maxThen is how many calls after a failure are looked at: what comes later has
// other reasons.
const maxThen = 4

// Signature is equal for failures of one kind: the tool, the kind, and the
// message without what differs from case to case.
func (f Failure) Signature() string {
	message, _, _ := strings.Cut(f.Message, "\n")
	for _, n := range []struct {
		find *regexp.Regexp
		put  string
	}{{quoted(), "…"}, {pathLike(), "…"}, {number(), "N"}} {
		message = n.find.ReplaceAllString(message, n.put)
	}
	if r := []rune(message); len(r) > maxSignature {
		message = string(r[:maxSignature]) + "…"
	}
	return fmt.Sprintf("%s %s: %s", f.Call.Tool, f.Kind, message)
}

// maxSignature is how many characters of a message tell its kind.
const maxSignature = 100

var (
	quoted   = pattern.Later("\"[^\"]*\"|'[^']*'|`[^`]*`")
	pathLike = pattern.Later(`[^\s:,;()]*[/.][^\s:,;()]*[A-Za-z0-9_]`)
	number   = pattern.Later(`\b[0-9a-f]{7,}\b|[0-9]+`)
)

// Way names what was done about f: the calls up to the one that succeeded, or to
// the last.
func (f Failure) Way() string {
	if len(f.Then) == 0 {
		return "nothing: the task ended"
	}
	var steps []string
	for _, n := range f.Then {
		step := n.Tool
		if n.Same {
			step = "the same call again"
		}
		if n.Kind != "" {
			step += " (" + string(n.Kind) + ")"
		}
		steps = append(steps, step)
	}
	return strings.Join(steps, ", ")
}

// failures collects what fails, and keeps those open that calls may still follow.
type failures struct {
	calls map[string]asked
	all   []Failure
	open  []int // of all: still followed
}

// An asked is a call and the event that asked for it.
type asked struct {
	tool.Call
	seq int64
}

func (f *failures) add(e event.Event) {
	switch b := e.Body.(type) {
	case event.Asked, event.Stopped:
		f.open = nil
	case event.Replied:
		for _, i := range f.open {
			if f.all[i].Words == "" {
				f.all[i].Words = b.Message.Text()
			}
		}
		for _, c := range b.Message.Calls() {
			put(&f.calls, c.ID, asked{c, e.Seq})
		}
	case event.Finished:
		if c, ok := f.calls[b.Call]; ok {
			delete(f.calls, b.Call)
			f.finished(e, c, b.Result)
		}
	}
}

func (f *failures) finished(e event.Event, c asked, r tool.Result) {
	next := Next{Tool: c.Tool}
	if r.Failure != nil {
		next.Kind = r.Failure.Kind
	}
	f.open = slices.DeleteFunc(f.open, func(i int) bool {
		x := &f.all[i]
		if c.seq < x.Seq { // it was asked for before the failure was known
			return false
		}
		next.Same = c.Tool == x.Call.Tool && string(c.Args) == string(x.Call.Args)
		x.Then = append(x.Then, next)
		x.Mended = c.Tool == x.Call.Tool && r.Failure == nil
		return x.Mended || len(x.Then) == maxThen
	})
	if r.Failure != nil {
		f.open = append(f.open, len(f.all))
		f.all = append(f.all, Failure{Seq: e.Seq, Time: e.Time, Call: c.Call, Kind: r.Failure.Kind, Message: r.Failure.Message, Then: []Next{}})
	}
}

func (f *failures) ended() []Failure { return slices.Clone(f.all) }

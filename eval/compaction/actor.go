package compaction

import (
	"context"
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// An actor stands in for the model that goes on with the work. It is a function
// of the request: it looks for what is still to be done and was not done yet, and
// does it. Of two requests in which the same can be seen, the same comes.
type actor struct {
	first *model.Request // that it answered
	acted []tool.Call
}

// goOn is what the user says to have it go on.
const goOn = "Go on with what is left to do."

func (a *actor) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if a.first == nil {
			a.first = req
		}
		m := model.Message{Role: model.Assistant}
		stop := model.Calls
		if c, ok := act(req); ok {
			a.acted = append(a.acted, c)
			m.Parts = []model.Part{model.Call{Call: c}}
		} else {
			m.Parts = []model.Part{model.Text{Text: "That is done."}}
			stop = model.End
		}
		yield(model.Reply{Message: m, Usage: model.Usage{Input: req.Estimate(), Output: 50, Estimated: true}, Stop: stop}, nil)
	}
}

// next returns the first thing that a doer of this kind did, "" if nothing.
func (a *actor) next() string {
	if len(a.acted) == 0 {
		return ""
	}
	return a.acted[0].Tool + " " + string(a.acted[0].Args)
}

var (
	pendingRE = regexp.MustCompile(`(?m)^\[\d+/\d+\](.*)$`)
	leftRE    = regexp.MustCompile(`(?i)still to do|what is left|next step|next:|is next|not export|export next|还没|剩下|下一步`)
	endRE     = regexp.MustCompile(`[.;!?]\s|[。；！？\n]`)
	pathRE    = regexp.MustCompile(`[\w/.-]*\w\.(go|js|md|mod)\b`)
	madeRE    = regexp.MustCompile(`([\w/.-]*\w\.(?:go|js|md|mod))\W+(?:was |were )?(?:created|changed|written|edited)`)
	appendRE  = regexp.MustCompile(`>>? ?([\w/.-]+)`)
)

// act returns the next call: it reads the file that comes next, then makes its
// change, and then is done.
func act(req *model.Request) (tool.Call, bool) {
	if path, text, ok := readJustNow(req); ok {
		if line := unique(text); line != "" {
			return called("Edit", map[string]any{"path": path, "old": line, "new": line + "\n"}), true
		}
	}
	if edited(req) {
		return tool.Call{}, false
	}
	path := pending(req)
	if path == "" {
		return tool.Call{}, false
	}
	return called("Read", map[string]any{"path": path}), true
}

func called(name string, args map[string]any) tool.Call {
	text, err := json.Marshal(args)
	if err != nil {
		panic("compaction: arguments are always JSON: " + err.Error())
	}
	return tool.Call{Tool: name, Args: text}
}

// pending returns the first file that something is still to be done with: by the
// list at the end of the request, or else by what was said last of what is left.
func pending(req *model.Request) string {
	text := rendered(req)
	_, talk, _ := strings.Cut(text, "[workspace ")
	done := changedIn(req, talk)
	var wanted []string
	if all := pendingRE.FindAllString(talk, -1); len(all) > 0 {
		wanted = pathRE.FindAllString(all[len(all)-1], -1)
	}
	for _, said := range slices.Backward(endRE.Split(talk, -1)) {
		if leftRE.MatchString(said) {
			wanted = append(wanted, pathRE.FindAllString(said, -1)...)
		}
	}
	for _, path := range wanted {
		if !done[path] {
			return path
		}
	}
	return ""
}

// changedIn returns the files that can be seen to have been changed.
func changedIn(req *model.Request, talk string) map[string]bool {
	done := map[string]bool{}
	for _, m := range req.Messages {
		for _, c := range m.Calls() {
			var args struct{ Path, Command string }
			if json.Unmarshal(c.Args, &args) != nil {
				continue
			}
			switch c.Tool {
			case "Write", "Edit", "MultiEdit":
				done[args.Path] = true
			case "Bash":
				for _, to := range appendRE.FindAllStringSubmatch(args.Command, -1) {
					done[to[1]] = true
				}
			}
		}
	}
	for _, made := range madeRE.FindAllStringSubmatch(talk, -1) {
		done[made[1]] = true
	}
	return done
}

// lastAnswer returns the calls of the newest reply, and their results, if the
// user has said nothing since.
func lastAnswer(req *model.Request) (calls []tool.Call, results []model.CallResult) {
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == model.Assistant {
			return m.Calls(), results
		}
		for _, p := range m.Parts {
			if r, ok := p.(model.CallResult); ok {
				results = append(results, r)
			}
		}
	}
	return nil, nil
}

func readJustNow(req *model.Request) (path, text string, ok bool) {
	calls, results := lastAnswer(req)
	if len(calls) != 1 || calls[0].Tool != "Read" || len(results) != 1 || results[0].Error {
		return "", "", false
	}
	var args struct{ Path string }
	if json.Unmarshal(calls[0].Args, &args) != nil {
		return "", "", false
	}
	return args.Path, results[0].Text, true
}

func edited(req *model.Request) bool {
	calls, results := lastAnswer(req)
	return len(calls) == 1 && calls[0].Tool == "Edit" && len(results) == 1
}

// unique returns a line of what Read showed that stands there once.
func unique(shown string) string {
	var lines []string
	count := map[string]int{}
	for line := range strings.Lines(shown) {
		_, text, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if ok {
			lines = append(lines, text)
			count[text]++
		}
	}
	whole := strings.Join(lines, "\n")
	for _, line := range lines {
		if len(line) > 25 && strings.Count(whole, line) == 1 {
			return line
		}
	}
	return ""
}

// A troupe sends each request to whom it is for, once all servers take it.
type troupe struct {
	wire  wire
	notes model.Provider // what is written at a compaction
	steps model.Provider

	sent    int
	asked   int // requests for notes
	refused []error
}

func (t *troupe) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	p := t.steps
	if req.Purpose == model.Handoff {
		t.asked++
		p = t.notes
	}
	t.sent++
	if err := t.wire.refuses(ctx, req); err != nil {
		t.refused = append(t.refused, err)
	}
	return strict{p}.Stream(ctx, req)
}

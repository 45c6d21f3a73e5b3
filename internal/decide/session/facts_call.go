package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/pattern"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// what says in a line what a call does.
func what(c *call) string {
	if c.Plan.Summary != "" {
		return line(c.Plan.Summary)
	}
	return line(c.Plan.Call.Tool + " " + string(c.Plan.Call.Args))
}

// line returns s as one line of at most maxLine bytes.
func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if short := headOf(s, maxLine); short != s {
		return short + "..."
	}
	return s
}

// A report is what results of commands and of tests say to programs, as far as it
// is needed here.
type report struct {
	Command string    `json:"command"`
	Outcome string    `json:"outcome"`
	Code    *int      `json:"exit_code"`
	Counts  *counts   `json:"counts"`
	Failing []finding `json:"failing"`
	Found   []finding `json:"problems"`
	More    int       `json:"more"`
	Broken  bool      `json:"broken"`
	Reports []report  `json:"reports"`
}

type counts struct{ Passed, Failed, Skipped int }

type finding struct {
	Name, Suite, File, Message, Severity string
	Line                                 int
}

func (f finding) String() string {
	at := f.File
	if at != "" && f.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, f.Line)
	}
	name := f.Name
	if f.Suite != "" {
		name = f.Suite + " " + name
	}
	parts := slices.DeleteFunc([]string{strings.TrimSpace(name), at, f.Message}, func(s string) bool { return s == "" })
	return line(strings.Join(parts, ": "))
}

// RunOf returns what the result of c says of tests or a build, if it ran any. A
// command that succeeded and of which nothing says that it tests is none.
func RunOf(c tool.Call, result tool.Result) (Run, bool) {
	var r report
	if len(result.Data) == 0 || json.Unmarshal(result.Data, &r) != nil {
		return Run{}, false
	}
	run := Run{Command: line(r.Command), Outcome: r.Outcome, Call: c.ID, Times: 1}
	all := append([]report{r}, r.Reports...)
	if run.Outcome == "" { // a command
		var args struct {
			Command string `json:"command"`
		}
		if json.Unmarshal(c.Args, &args) != nil || args.Command == "" || r.Code == nil {
			return Run{}, false
		}
		run.Command = line(args.Command)
		switch {
		case *r.Code == 0 && testsRE().MatchString(args.Command):
			run.Outcome = "succeeded"
		case *r.Code != 0 && (len(r.Reports) > 0 || testsRE().MatchString(args.Command)):
			run.Outcome = fmt.Sprintf("failed with exit status %d", *r.Code)
		default:
			return Run{}, false
		}
	}
	for _, r := range all {
		if r.Counts != nil && run.Counts == "" {
			run.Counts = fmt.Sprintf("%d failed, %d passed, %d skipped", r.Counts.Failed, r.Counts.Passed, r.Counts.Skipped)
		}
		run.More += r.More
		for _, f := range append(slices.Clone(r.Failing), r.Found...) {
			switch {
			case f.Severity == "warning":
			case len(run.Failing) < maxFailing:
				run.Failing = append(run.Failing, f.String())
			default:
				run.More++
			}
		}
	}
	return run, true
}

// troubleRE knows the lines of an output that say what went wrong.
var troubleRE = pattern.Later(`(?i)\b(error|err!|fatal|exception|panic|failed|failure|cannot|can't|unable|denied|refused|undefined|invalid|missing|traceback)\b|not found|no such|\bE[A-Z]{3,}[A-Z0-9]*\b|错误|失败|异常|无法|找不到`)

// maxTrouble is how many such lines make the signature of an error.
const maxTrouble = 2

// wentWrong returns what an output says went wrong, on one line: its first lines that
// do, else its last. Lines in brackets are the program's own.
func wentWrong(text string) string {
	var found []string
	last := ""
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '[' && l[len(l)-1] == ']' {
			continue
		}
		last = l
		if len(found) < maxTrouble && troubleRE().MatchString(l) {
			found = append(found, headOf(l, maxLine/maxTrouble))
		}
	}
	if found == nil {
		return line(last)
	}
	return line(strings.Join(found, " | "))
}

// testsRE knows the commands whose success says something about the code.
var testsRE = pattern.Later(`\b(tests?|pytest|jest|vitest|mocha|ctest|tox|build|vet|check|lint|clippy|tsc|mypy|ruff|eslint|golangci-lint|verify)\b`)

// commitRE is how git says that it made a commit.
var commitRE = pattern.Later(`(?m)^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] (.+)$`)

// committed returns the commits that a call made.
func committed(c *call, b event.Finished) (made []Made) {
	changesGit := slices.ContainsFunc(c.Plan.Parts, func(p tool.Part) bool {
		return slices.ContainsFunc(p.Effects, func(e effect.Effect) bool {
			return e.Kind == effect.Git || e.Kind == effect.Anything
		})
	})
	if !changesGit || !strings.Contains(string(c.Plan.Call.Args), "commit") {
		return nil
	}
	for _, m := range commitRE().FindAllStringSubmatch(b.Result.Text, 10) {
		made = append(made, Made{Hash: m[1], Subject: line(m[2]), Call: b.Call})
	}
	return made
}

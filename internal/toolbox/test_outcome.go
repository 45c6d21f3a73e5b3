package toolbox

import (
	"fmt"
	"path"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/toolbox/diagnostic"
)

// testTextMax is how many bytes are said of what failed.
const testTextMax = 16 << 10

// Outcomes of a run beside those of a report.
const (
	stoppedRun diagnostic.Outcome = "stopped" // it was ended before it was over
	brokenRun  diagnostic.Outcome = "error"   // it failed, and not because a test did
)

// testFacts is what a result says to programs. A report that names the run as
// what verified a change needs no more than Outcome, Command, Code and Counts.
type testFacts struct {
	Command  string               `json:"command"` // exactly what was run
	Tool     string               `json:"tool,omitempty"`
	Outcome  diagnostic.Outcome   `json:"outcome"`
	Counts   *diagnostic.Counts   `json:"counts,omitempty"`
	Failing  []diagnostic.Case    `json:"failing,omitempty"`
	Problems []diagnostic.Problem `json:"problems,omitempty"` // errors of the build
	More     int                  `json:"more,omitempty"`     // cases and problems that are not listed
	bashFacts
}

// judge says in f what the reports and the way in which the command ended come
// to. The command's status alone never makes a run passed.
func (run testRun) judge(f *testFacts, reports []diagnostic.Report) {
	has := make(map[diagnostic.Outcome]bool)
	for _, r := range reports {
		has[r.Outcome()] = true
		has[diagnostic.BuildFailed] = has[diagnostic.BuildFailed] || r.Broken
		if f.Tool == "" || r.Counts != nil && f.Counts == nil {
			f.Tool = r.Tool
		}
		f.add(r)
	}
	for i := range f.Failing {
		c := &f.Failing[i]
		c.File = run.locate(c.File, c.Suite)
	}
	for i := range f.Problems {
		f.Problems[i].File = run.locate(f.Problems[i].File, "")
	}
	fine := f.Code != nil && *f.Code == 0
	switch {
	case f.TimedOut, f.Idle, f.Cancelled, f.Code == nil:
		f.Outcome = stoppedRun
	case has[diagnostic.Failed]:
		f.Outcome = diagnostic.Failed
	case has[diagnostic.BuildFailed] && !fine:
		f.Outcome = diagnostic.BuildFailed
	case has[diagnostic.Passed] && fine:
		f.Outcome = diagnostic.Passed
	case has[diagnostic.NoTests] && !has[diagnostic.Passed]:
		f.Outcome = diagnostic.NoTests
	case fine:
		f.Outcome = diagnostic.Untold
	default:
		f.Outcome = brokenRun
	}
}

// add adds what one tool reported.
func (f *testFacts) add(r diagnostic.Report) {
	f.Failing = append(f.Failing, r.Failing...)
	f.More += r.More
	for _, p := range r.Problems {
		if p.Severity == diagnostic.Error {
			f.Problems = append(f.Problems, p)
		}
	}
	if r.Counts == nil {
		return
	}
	if f.Counts == nil {
		f.Counts = &diagnostic.Counts{Unit: r.Counts.Unit}
	}
	f.Counts.Passed += r.Counts.Passed
	f.Counts.Failed += r.Counts.Failed
	f.Counts.Skipped += r.Counts.Skipped
}

// locate returns file, as a tool names it, as a path of the workspace where it
// is one. Go names a file of a test without its package.
func (run testRun) locate(file, suite string) string {
	if file == "" {
		return ""
	}
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(run.root, "/")+"/"); ok {
		return rest
	}
	if path.IsAbs(file) || strings.Contains(file, `:\`) {
		return file
	}
	if run.module != "" && !strings.Contains(file, "/") {
		if dir, ok := strings.CutPrefix(suite, run.module); ok && (dir == "" || dir[0] == '/') {
			file = path.Join(strings.TrimPrefix(dir, "/"), file)
		}
	}
	return path.Join(run.dir, file)
}

// say makes the result: what it came to first, then what failed, then the
// command, and the output itself where that says too little.
func (run testRun) say(r tool.Result, f testFacts) tool.Result {
	headline, failure := run.verdict(r, f)
	report := diagnostic.Report{Tool: f.Tool, Failing: f.Failing, Problems: f.Problems, Errors: len(f.Problems), Counts: f.Counts, More: f.More}
	var b strings.Builder
	b.WriteString(headline + "\n")
	if len(f.Failing)+len(f.Problems) > 0 {
		b.WriteString(diagnostic.Text([]diagnostic.Report{report}, testTextMax))
	}
	fmt.Fprintf(&b, "[ran: %s]\n", run.command)
	listed := len(f.Failing)+len(f.Problems) > 0 || f.Outcome == diagnostic.Passed || f.Outcome == diagnostic.NoTests
	switch {
	case !listed || f.Outcome == stoppedRun || len(r.Artifacts) == 0:
		r.Text = clipStart(r.Text, tool.DefaultInline-b.Len()-endingMax)
		b.WriteString(r.Text)
	default:
		if f.Held {
			b.WriteString("[something it started still runs]\n")
		}
		fmt.Fprintf(&b, "[exit status %d after %d ms; the whole output, %d lines, is in %s]", *f.Code, f.Milliseconds, r.Artifacts[0].Lines, r.Artifacts[0].Handle)
	}
	r.Text, r.Data, r.Failure = b.String(), data(f), failure
	if failure == nil {
		r.Status = tool.Success
	} else if r.Status != tool.Interrupted {
		r.Status = tool.Error
	}
	return r
}

// clipStart returns at most n bytes of s, its last.
func clipStart(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if _, rest, ok := strings.Cut(s, "\n"); ok {
		s = rest
	}
	return "[...]\n" + strings.ToValidUTF8(s, "\uFFFD")
}

// verdict says in a line what the run came to, and what is wrong with it.
func (run testRun) verdict(r tool.Result, f testFacts) (string, *tool.Failure) {
	var says string
	failure := &tool.Failure{Kind: tool.NonzeroExit}
	switch f.Outcome {
	case stoppedRun:
		return "The run was stopped before it was over: " + r.Failure.Message + ".", r.Failure
	case diagnostic.Passed:
		return fmt.Sprintf("Passed: %s.", tallied(f.Counts)), nil
	case diagnostic.Untold:
		return "The command succeeded. Its output does not say how many tests ran, if any did.", nil
	case diagnostic.Failed:
		says = fmt.Sprintf("Failed: %s.", tallied(f.Counts))
		if f.Counts == nil || f.Counts.Failed == 0 {
			says = fmt.Sprintf("Failed: %d failed.", len(f.Failing)+f.More)
		}
	case diagnostic.BuildFailed:
		says = "The build failed: tests of what was not built did not run, and none that ran failed."
	case diagnostic.NoTests:
		failure.Kind = tool.NotFound
		says = "No test ran: there is none. That is not a pass."
		if run.filter != "" || run.target != "" {
			says = fmt.Sprintf("No test ran: none matches %s. That is not a pass.", run.asked())
			failure.Hint = "look for the test's name with Grep, or run without a filter"
		}
		if f.Counts != nil && f.Counts.Skipped > 0 && run.filter == "" {
			says = fmt.Sprintf("No test ran: all were skipped (%d). That is not a pass.", f.Counts.Skipped)
		}
	default:
		says = "The command failed, and no test that failed was recognised in its output."
		if r.Failure != nil {
			failure.Hint = r.Failure.Hint
		}
	}
	failure.Message = strings.TrimSuffix(says, ".")
	return says, failure
}

// tallied says "2 failed, 3 passed, 1 skipped".
func tallied(c *diagnostic.Counts) string {
	if c == nil {
		return "nothing was counted"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Failed, "failed"}, {c.Passed, "passed"}, {c.Skipped, "skipped"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// asked names what was asked for.
func (run testRun) asked() string {
	switch {
	case run.filter == "":
		return fmt.Sprintf("%q", run.target)
	case run.target == "":
		return fmt.Sprintf("the filter %q", run.filter)
	}
	return fmt.Sprintf("the filter %q in %q", run.filter, run.target)
}

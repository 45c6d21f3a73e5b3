// Package diagnostic reads what build and test tools print.
//
// Every line of an output is offered to one parser for each tool. A parser
// recognises its tool by lines that no other prints, and an output that none
// recognises gives no report: a wrong report is worse than none. The time is
// linear in the length of the output, and what is kept of it is bounded.
package diagnostic

import "slices"

// What a report keeps at most. What is left out of it is counted.
const (
	maxCases    = 100
	maxProblems = 100 // of each severity
	maxName     = 300 // bytes, of a name or a path
	maxMessage  = 800 // bytes
)

// A Report is what one tool said in an output.
type Report struct {
	Tool     string    `json:"tool"`               // go, pytest, jest, vitest, cargo, maven, gradle, ctest, gcc, clang, cc, tsc, eslint
	Counts   *Counts   `json:"counts,omitempty"`   // nil where it did not say
	Failing  []Case    `json:"failing,omitempty"`  // in the order of the output
	Problems []Problem `json:"problems,omitempty"` // errors first, else in the order of the output
	Errors   int       `json:"errors,omitempty"`   // of the problems, also those left out
	Warnings int       `json:"warnings,omitempty"` // likewise
	More     int       `json:"more,omitempty"`     // cases and problems that were left out
	Broken   bool      `json:"broken,omitempty"`   // something was not built or loaded, so that tests of it cannot have run
}

// Counts are of tests, or of what else the tool counts.
type Counts struct {
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Skipped int    `json:"skipped"`
	Unit    string `json:"unit"` // tests or packages
}

// A Case is a test that failed.
type Case struct {
	Name    string `json:"name"`
	Suite   string `json:"suite,omitempty"` // its package, class or file, where the tool names one
	File    string `json:"file,omitempty"`  // as the tool names it, which for Go and Java is without its directory
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message,omitempty"`
}

// A Problem is what a compiler, a linker or a linter complains of.
type Problem struct {
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`
	Severity Severity `json:"severity"`
	Code     string   `json:"code,omitempty"` // such as E0308 or no-undef
	Message  string   `json:"message"`
}

// A Severity is error or warning.
type Severity string

// The closed list of severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// An Outcome is what a report comes to.
type Outcome string

// The closed list of outcomes.
const (
	Passed      Outcome = "passed"       // tests ran, and none failed
	Failed      Outcome = "failed"       // at least one test failed
	BuildFailed Outcome = "build_failed" // no test failed, but something did not build or load
	NoTests     Outcome = "no_tests"     // it was all right, and ran nothing
	Untold      Outcome = "untold"       // the output does not say
)

// Outcome returns what r comes to. Tests that were skipped did not run.
func (r Report) Outcome() Outcome {
	switch {
	case len(r.Failing) > 0, r.Counts != nil && r.Counts.Failed > 0:
		return Failed
	case r.Broken:
		return BuildFailed
	case r.Counts == nil:
		return Untold
	case r.Counts.Passed > 0:
		return Passed
	}
	return NoTests
}

// A parser knows one tool.
type parser interface {
	// line takes the next line of the output, cleaned.
	line(s string)
	// end returns what was found, if it was the tool's output.
	end() (Report, bool)
}

// parsers returns one for each tool, for the output of command.
func parsers(command string) []parser {
	return []parser{
		newGo(), &pytest{}, &jest{}, &vitest{}, &cargo{}, &maven{}, &gradle{}, &ctest{},
		&cc{command: command}, &tsc{}, &eslint{},
	}
}

// A found collects what a parser finds, within the limits.
type found struct {
	report   Report
	warnings []Problem
}

func (f *found) fail(c Case) {
	if len(f.report.Failing) == maxCases {
		f.report.More++
		return
	}
	c.Name, c.Suite, c.File = clip(c.Name, maxName), clip(c.Suite, maxName), clip(c.File, maxName)
	c.Message = message(c.Message)
	f.report.Failing = append(f.report.Failing, c)
}

func (f *found) problem(p Problem) {
	p.File, p.Code, p.Message = clip(p.File, maxName), clip(p.Code, maxName), message(p.Message)
	list, count := &f.report.Problems, &f.report.Errors
	if p.Severity == Warning {
		list, count = &f.warnings, &f.report.Warnings
	}
	*count++
	if len(*list) == maxProblems {
		f.report.More++
		return
	}
	*list = append(*list, p)
}

// count returns the counts, which there are from now on.
func (f *found) count() *Counts {
	if f.report.Counts == nil {
		f.report.Counts = &Counts{Unit: "tests"}
	}
	return f.report.Counts
}

// end returns the report of tool.
func (f *found) end(tool string) Report {
	r := f.report
	r.Tool = tool
	r.Problems = slices.Concat(r.Problems, f.warnings)
	return r
}

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/pattern"
	"github.com/belay-agent/belay/internal/decide/task"
)

// find lists what verification found. Checks that fail say something of a change
// only if there is one. What was changed outside of what was named is told, but is
// no finding: a file is also named as an example, or to be read.
func (r *Report) find() {
	if len(r.Changes) > 0 {
		for _, c := range r.Checks {
			if c.Current && c.fails() {
				r.Findings = append(r.Findings, fmt.Sprintf("%s (%s) fails after the last change", short(c.Command), c.Call))
			}
		}
	}
	for _, b := range r.Broken {
		r.Findings = append(r.Findings, fmt.Sprintf("%s is changed (%s) against %s: %q", b.Path, b.Call, b.Constraint, short(b.Words)))
	}
	for _, w := range r.Tests {
		if !w.Asked {
			r.Findings = append(r.Findings, fmt.Sprintf("%s: %s", w.Path, w.What))
		}
	}
}

// Shown is how many things of one kind Lines tells of, unless all are wanted.
const Shown = 6

// A Line is a claim in words. One that is Bad is unverified, open, or a finding.
type Line struct {
	Text string
	Bad  bool
}

// Lines tells the report in words, a line each: in few or, if all is wanted, in
// full.
func (r Report) Lines(all bool) (lines []Line) {
	add := func(bad bool, format string, a ...any) {
		lines = append(lines, Line{fmt.Sprintf(format, a...), bad})
	}
	most := Shown
	if all {
		most = 1 << 30
	}
	for i, c := range r.Changes {
		if i == most {
			add(false, "and %d more files", len(r.Changes)-i)
			break
		}
		add(false, "%s", c.line())
	}
	if len(r.Changes) > 0 && r.Task == task.Look {
		add(true, "your words were taken for a question, and yet files changed")
	}
	if len(r.Changes) == 0 && r.ran {
		add(false, "no file is changed")
	}
	r.verified(all, add)
	for _, w := range r.Tests {
		add(!w.Asked, "by its text, %s (%s): %s%s", w.Path, strings.Join(w.Calls, ", "), w.What, unless(!w.Asked, ", which your words speak of"))
	}
	r.scope(all, add)
	for i, what := range r.Uncovered {
		if i == most {
			add(true, "and %d more calls that may have changed files", len(r.Uncovered)-i)
			break
		}
		add(true, "may have changed, and undo does not cover: %s", what)
	}
	r.left(most, add)
	for _, c := range r.Constraints {
		switch {
		case !c.Enforced:
			add(true, "not enforced by code, %s: %q", c.ID, c.Words)
		case all:
			add(false, "enforced, %s: %q (%s)", c.ID, c.Words, strings.Join(c.Stops, ", "))
		}
	}
	return lines
}

// Quote is the model's own words, marked as what they are; false if it had none.
func (r Report) Quote() (Line, bool) {
	return Line{Text: "the model says, and nothing above rests on it: " + r.Answer}, r.Answer != ""
}

// passRE finds where an answer speaks of tests that pass.
var passRE = pattern.Later(`(?i)\btests? (?:(?:now|all|still|do|suite|cases?|also|then) )*(?:pass(?:es|ed|ing)?|(?:is|are) (?:passing|green)|succeed(?:s|ed)?)\b|测试(?:已经?|都|也|全部|均|现在)*通过`)

// overclaimed reports whether the model speaks of tests that pass where files
// changed and no test ended well after that.
func (r Report) overclaimed() bool {
	proved := slices.ContainsFunc(r.Checks, func(c Check) bool {
		return c.Current && c.Kind == "test" && (c.Outcome == passed || c.Outcome == untold)
	})
	return len(r.Changes) > 0 && !proved && passRE().MatchString(r.Answer)
}

func (c Change) line() string {
	name := c.Path
	if c.From != "" {
		name = c.From + " -> " + c.Path
	}
	amount := ""
	if c.Counted && c.Added+c.Removed > 0 {
		amount = fmt.Sprintf(" +%d -%d", c.Added, c.Removed)
	}
	return fmt.Sprintf("%s %s%s (%s)", c.Kind, name, amount, strings.Join(c.Calls, ", "))
}

// verified says what was tested, and what was not.
func (r Report) verified(all bool, add func(bool, string, ...any)) {
	for _, c := range r.Checks {
		if c.Current || all {
			when := ""
			switch {
			case r.again(c):
				when = ", and ran again later"
			case !c.Current:
				when = ", before something else changed"
			}
			add(c.Current && c.Outcome != passed && c.Outcome != untold, "%s: %s%s (%s)", short(c.Command), c.outcome(), when, c.Call)
			continue
		}
		if c.fails() && !r.again(c) {
			add(true, "unverified: %s failed (%s), and was not run again after what changed", short(c.Command), c.Call)
		}
	}
	var untested, built []string
	for _, c := range r.Changes {
		switch {
		case c.Tested != "":
		case c.Built != "":
			built = append(built, c.Path)
		default:
			untested = append(untested, c.Path)
		}
	}
	if len(built) > 0 {
		add(true, "unverified, but built: %s", some(built, all))
	}
	if r.overclaimed() {
		add(true, "unverified: the model speaks of tests that pass, and none ended well after the last change")
	}
	if len(untested) > 0 {
		add(true, "unverified: no test passed after the change of %s", some(untested, all))
	}
}

// again reports whether the command of c ran later.
func (r Report) again(c Check) bool {
	i := slices.IndexFunc(r.Checks, func(other Check) bool { return other.Call == c.Call })
	return slices.ContainsFunc(r.Checks[i+1:], func(later Check) bool { return later.Command == c.Command })
}

func (c Check) outcome() string {
	what := map[string]string{
		passed: "passed", failed: "FAILED", buildFailed: "THE BUILD FAILED", broken: "FAILED", noTests: "ran no test",
		untold: "ended well, its output was not recognised", stopped: "was stopped",
	}[c.Outcome]
	if what == "" {
		what = c.Outcome
	}
	var figures []string
	for _, f := range []struct {
		n    int
		what string
	}{{c.Failed, "failed"}, {c.Passed, "passed"}, {c.Skipped, "skipped"}} {
		if f.n > 0 {
			figures = append(figures, fmt.Sprintf("%d %s", f.n, f.what))
		}
	}
	return what + unless(len(figures) == 0, " ("+strings.Join(figures, ", ")+")")
}

func (r Report) scope(all bool, add func(bool, string, ...any)) {
	for i, b := range r.Broken {
		if i == Shown && !all {
			add(true, "and %d more files are changed against a constraint", len(r.Broken)-i)
			break
		}
		add(true, "not kept: %s is changed (%s) against %s: %q", b.Path, b.Call, b.Constraint, short(b.Words))
	}
	switch {
	case len(r.Outside) > 0:
		add(true, "outside of what was named (%s): %s", some(r.Named, all), some(r.Outside, all))
	case len(r.Changes) > 0 && all && len(r.Named) > 0:
		add(false, "nothing changed outside of what was named (%s)", some(r.Named, all))
	case len(r.Changes) > 0 && all:
		add(false, "no path was named that bounds the work, so nothing counts as outside")
	}
}

// left says what was not done.
func (r Report) left(most int, add func(bool, string, ...any)) {
	for i, o := range r.Open {
		if i == most {
			add(true, "and %d more calls left open", len(r.Open)-i)
			break
		}
		how := o.Kind
		if strings.HasPrefix(o.Why, o.Kind) {
			how = o.Why
		} else if o.Why != "" {
			how += ": " + o.Why
		}
		add(true, "left open: %s (%s): %s", short(o.What), o.Call, short(how))
	}
	if len(r.Todo) > 0 {
		var items []string
		for _, t := range r.Todo {
			items = append(items, oneLine(t.Text))
		}
		add(true, "not done of the todo list: %s", some(items, most > Shown))
	}
}

// some writes a few of a list, or all.
func some(list []string, all bool) string {
	if all || len(list) <= Shown {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:Shown], ", "), len(list)-Shown)
}

// short cuts a command or a reason to what fits a line beside other words.
func short(s string) string {
	const most = 80
	s = oneLine(s)
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func unless(not bool, s string) string {
	if not {
		return ""
	}
	return s
}

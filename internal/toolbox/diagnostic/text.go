package diagnostic

import (
	"fmt"
	"strings"
)

// Text returns the reports as a block of lines of at most limit bytes, which
// says of each tool first what it comes to, then what failed: tests, errors and
// as far as there is room warnings. It is "" where there is nothing to say.
func Text(reports []Report, limit int) string {
	var b strings.Builder
	left := 0
	for _, r := range reports {
		left += r.More
		left += write(&b, limit-40, r.headline()+"\n")
		for _, c := range r.Failing {
			left += write(&b, limit-40, c.text())
		}
		for _, p := range r.Problems {
			left += write(&b, limit-40, p.text())
		}
	}
	if left > 0 && b.Len() > 0 {
		fmt.Fprintf(&b, "  (%d more)\n", left)
	}
	return b.String()
}

// write appends s if it fits, and returns 1 if it does not.
func write(b *strings.Builder, room int, s string) int {
	if b.Len()+len(s) > room {
		return 1
	}
	b.WriteString(s)
	return 0
}

// headline says in one line what a report comes to.
func (r Report) headline() string {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	if c := r.Counts; c != nil {
		unit := "test"
		if c.Unit == "packages" {
			unit = "package"
		}
		add(c.Failed, unit+" failed", unit+"s failed")
		add(c.Passed, "passed", "passed")
		add(c.Skipped, "skipped", "skipped")
	} else {
		add(len(r.Failing), "test failed", "tests failed")
	}
	add(r.Errors, "error", "errors")
	add(r.Warnings, "warning", "warnings")
	switch {
	case r.Outcome() == NoTests:
		parts = append(parts, "no tests ran")
	case r.Broken && r.Errors == 0:
		parts = append(parts, "something was not built")
	case len(parts) == 0:
		parts = append(parts, "nothing to report")
	}
	return r.Tool + ": " + strings.Join(parts, ", ")
}

func (c Case) text() string {
	name := c.Name
	if c.Suite != "" && !strings.HasPrefix(name, c.Suite) {
		name += " (" + c.Suite + ")"
	}
	return entry("FAIL", c.File, c.Line, c.Column, name, c.Message)
}

func (p Problem) text() string {
	m := p.Message
	if p.Code != "" {
		m = "[" + p.Code + "] " + m
	}
	return entry(string(p.Severity), p.File, p.Line, p.Column, "", m)
}

// entry returns "  FAIL name at file:3:5: message", of which further lines are
// indented.
func entry(kind, file string, line, column int, name, message string) string {
	var b strings.Builder
	b.WriteString("  " + kind)
	if name != "" {
		b.WriteString(" " + name)
	}
	if file != "" {
		if name != "" {
			b.WriteString(" at")
		}
		b.WriteString(" " + file)
		if line > 0 {
			fmt.Fprintf(&b, ":%d", line)
		}
		if line > 0 && column > 0 {
			fmt.Fprintf(&b, ":%d", column)
		}
	}
	if message != "" {
		b.WriteString(": " + strings.ReplaceAll(message, "\n", "\n      "))
	}
	b.WriteString("\n")
	return b.String()
}

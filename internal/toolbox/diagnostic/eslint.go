package diagnostic

import (
	"strings"
)

// An eslint reads what eslint prints in its usual form: the path of a file, and
// under it a line for each problem.
type eslint struct {
	found
	known bool
	file  string
	rows  []Problem // under no path: that was cut off, or they are not eslint's
	oops  bool      // eslint itself failed
	text  lines
}

var (
	eslintRow = lazy(`^  +(\d+):(\d+)  +(error|warning)  +(\S.*)$`)
	eslintSum = lazy(`^✖ \d+ problems? \(\d+ errors?, \d+ warnings?\)$`)
)

func (p *eslint) line(s string) {
	switch {
	case s == "Oops! Something went wrong! :(":
		p.oops = true
	case p.oops:
		if s != "" && !strings.HasPrefix(s, "ESLint: ") {
			p.text.add(s)
		}
	case strings.HasPrefix(s, "/") || len(s) > 2 && s[1] == ':' && s[2] == '\\':
		p.file = clip(s, maxName)
	case strings.HasPrefix(s, "✖ ") && eslintSum().MatchString(s):
		p.known = true
		for _, q := range p.rows {
			p.problem(q)
		}
		p.rows, p.file = nil, ""
	case strings.HasPrefix(s, "  "):
		if m := eslintRow().FindStringSubmatch(s); m != nil {
			p.row(m)
		}
	case s == "":
		p.file = ""
	}
}

func (p *eslint) row(m []string) {
	q := Problem{File: p.file, Severity: Severity(m[3]), Message: m[4]}
	q.Line, _ = number(m[1])
	q.Column, _ = number(m[2])
	if i := strings.LastIndex(q.Message, "  "); i >= 0 && !strings.Contains(q.Message[i+2:], " ") {
		q.Message, q.Code = q.Message[:i], q.Message[i+2:]
	}
	switch {
	case q.File != "":
		p.known = true
		p.problem(q)
	case len(p.rows) < maxProblems:
		p.rows = append(p.rows, q)
	}
}

func (p *eslint) end() (Report, bool) {
	if p.oops && p.text.n > 0 {
		p.known = true
		p.problem(Problem{Severity: Error, Message: p.text.String()})
	}
	return p.found.end("eslint"), p.known
}

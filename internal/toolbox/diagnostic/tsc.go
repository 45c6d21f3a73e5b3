package diagnostic

import (
	"strings"
)

// A tsc reads what the TypeScript compiler prints, plain or pretty.
type tsc struct {
	found
	last *Problem
	text lines
}

var tscLine = lazy(`^(?:(\S.*?)(?:\((\d+),(\d+)\): |:(\d+):(\d+) - ))?(error|warning) (TS\d+): (.+)$`)

func (p *tsc) line(s string) {
	if strings.Contains(s, " TS") || strings.HasPrefix(s, "error TS") {
		if m := tscLine().FindStringSubmatch(s); m != nil {
			p.flush()
			p.last = &Problem{File: m[1], Severity: Severity(m[6]), Code: m[7]}
			p.last.Line, _ = number(m[2] + m[4])
			p.last.Column, _ = number(m[3] + m[5])
			p.text.add(m[8])
			return
		}
	}
	if p.last != nil && strings.HasPrefix(s, "  ") && strings.TrimSpace(s) != "" {
		p.text.add(s)
		return
	}
	p.flush()
}

func (p *tsc) flush() {
	if p.last == nil {
		return
	}
	p.last.Message = p.text.String()
	p.report.Broken = p.report.Broken || p.last.Severity == Error
	p.problem(*p.last)
	p.last, p.text = nil, lines{}
}

func (p *tsc) end() (Report, bool) {
	p.flush()
	return p.found.end("tsc"), p.report.Errors+p.report.Warnings > 0
}

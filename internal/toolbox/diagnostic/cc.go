package diagnostic

import (
	"strings"
)

// A cc reads what gcc, clang and the linker under them print.
type cc struct {
	found
	command    string
	known      bool
	gcc, clang bool
}

const cFiles = ".c .cc .cpp .cxx .c++ .C .h .hh .hpp .hxx .inc .ipp .tcc .m .mm .cu .S .s .y .l "

var (
	ccFlag = lazy(` \[(-W[^\]]+)\]$`)
	ccLink = lazy(`^(?:\S*ld(?:\.\w+)?: )?(?:\S+: )?(.+\.\w+):(?:\(\.[\w.+]+\)|(\d+)): ((?:undefined reference to|multiple definition of) .+)$`)
	ccDone = lazy(`^(?:\d+ warnings?)?(?: and )?(?:\d+ errors?)? generated\.$`)
)

func (p *cc) line(s string) {
	switch {
	case strings.Contains(s, " generated.") && ccDone().MatchString(s), strings.HasPrefix(s, "clang: error: "):
		p.clang = true
	case strings.HasPrefix(s, "collect2: "), s == "compilation terminated.":
		p.gcc = true
	case strings.HasPrefix(strings.TrimLeft(s, " "), "| ") || strings.Contains(s, ": In function ") || strings.HasSuffix(s, ": At top level:"):
		p.gcc = p.gcc || p.known || strings.HasSuffix(s, ":")
	case strings.Contains(s, ": undefined reference to ") || strings.Contains(s, ": multiple definition of "):
		p.link(s)
	default:
		for _, severity := range []string{": fatal error: ", ": error: ", ": warning: "} {
			if at, text, ok := strings.Cut(s, severity); ok {
				p.place(at, text, severity == ": warning: ")
				return
			}
		}
	}
}

// place takes the parts of "main.c:5:21: error: expected ';'".
func (p *cc) place(at, text string, warns bool) {
	file, line, column, ok := position(at)
	header := strings.HasPrefix(file, "/") && !strings.Contains(file[strings.LastIndexByte(file, '/'):], ".") // such as <vector>
	if !ok || !header && !extension(file, cFiles) {
		return
	}
	q := Problem{File: strings.TrimPrefix(file, "./"), Line: line, Column: column, Severity: Error, Message: text}
	if warns {
		q.Severity = Warning
	} else {
		p.report.Broken = true
	}
	if m := ccFlag().FindStringSubmatch(text); m != nil {
		q.Code = m[1]
		q.Message = strings.TrimSuffix(text, m[0])
	}
	p.known = true
	p.problem(q)
}

// link takes "/usr/bin/ld: main.c:(.text+0x1b): undefined reference to `lost'".
func (p *cc) link(s string) {
	m := ccLink().FindStringSubmatch(s)
	if m == nil {
		return
	}
	q := Problem{File: m[1], Severity: Error, Code: "ld", Message: m[3]}
	q.Line, _ = number(m[2])
	p.known, p.report.Broken = true, true
	p.problem(q)
}

// tool says which of the two it was, or "cc" where nothing tells.
func (p *cc) tool() string {
	switch {
	case p.clang && !p.gcc, p.clang == p.gcc && strings.Contains(p.command, "clang"):
		return "clang"
	case p.gcc && !p.clang, p.clang == p.gcc && (strings.Contains(p.command, "gcc") || strings.Contains(p.command, "g++")):
		return "gcc"
	}
	return "cc"
}

func (p *cc) end() (Report, bool) { return p.found.end(p.tool()), p.known }

package toolbox

import (
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/world/repo"
)

// pageBytes bounds the lines that Grep shows.
const pageBytes = 24 << 10

// A page shows hits as path:line: text and lines around them as path-line- text,
// each line once.
type page struct {
	b     strings.Builder
	path  string
	shown int // the last line of path that is shown
	after []string
	full  bool
}

// add shows h, or reports that the page is full.
func (p *page) add(path string, h repo.Hit) bool {
	if p.full = p.full || p.b.Len()+len(path)+len(h.Text) > pageBytes; p.full {
		return false
	}
	if path != p.path {
		p.flush(0)
		p.path, p.shown = path, 0
	}
	p.flush(h.Line)
	for i, line := range h.Before {
		p.around(h.Line-len(h.Before)+i, line)
	}
	where := fmt.Sprintf("%s:%d:", onLine(path), h.Line)
	if h.Column > 0 {
		where += fmt.Sprintf("%d: ...", h.Column)
	} else {
		where += " "
	}
	p.b.WriteString(where + h.Text + "\n")
	p.shown, p.after = max(p.shown, h.Line), h.After
	return true
}

// flush shows the lines after the last hit, up to before, a line number; 0 is
// no limit.
func (p *page) flush(before int) {
	first := p.shown + 1
	for i, line := range p.after {
		if before == 0 || first+i < before {
			p.around(first+i, line)
		}
	}
	p.after = nil
}

func (p *page) around(number int, line string) {
	if number > p.shown && p.b.Len() < pageBytes {
		fmt.Fprintf(&p.b, "%s-%d- %s\n", onLine(p.path), number, line)
		p.shown = number
	}
}

func (p *page) text() string {
	p.flush(0)
	return p.b.String()
}

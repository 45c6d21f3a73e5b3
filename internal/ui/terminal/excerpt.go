package terminal

import (
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// What a question shows before a person asks for all of it. A flood of lines must
// not push what is decided about off the screen.
const (
	maxBody  = 200  // rows of what will be done; of more, the first two thirds and the last third
	maxParts = 16   // parts, those that do more than read before the others
	maxName  = 600  // cells of a part's name
	maxRules = 8    // that one answer may leave behind
	maxRule  = 1000 // bytes of each
	blanks   = 4    // lines that follow each other and show nothing, from where on they are counted instead
)

// A row is a line of a question.
type row struct {
	style style
	text  string
}

// body lays out text for a question, indented: in full, or an excerpt. It returns
// how many rows were left out.
func (v *view) body(text string, whole bool) (rows []row, left int) {
	for _, line := range unflooded(strings.Split(strings.TrimSuffix(text, "\n"), "\n")) {
		for _, piece := range wrap("  "+line, v.inFrame()) {
			rows = append(rows, row{diffStyle(line), piece})
		}
	}
	if whole || len(rows) <= maxBody {
		return rows, 0
	}
	head := maxBody * 2 / 3
	left = len(rows) - maxBody
	end := slices.Clone(rows[len(rows)-(maxBody-head):])
	rows = append(rows[:head], row{yellow, "  ... " + count(left, "more line") + " not shown ..."})
	return append(rows, end...), left
}

// unflooded counts lines that show nothing where many follow each other.
func unflooded(lines []string) (kept []string) {
	for i := 0; i < len(lines); {
		n := 0
		for i+n < len(lines) && strings.TrimSpace(lines[i+n]) == "" {
			n++
		}
		switch {
		case n >= blanks:
			kept = append(kept, "("+count(n, "empty line")+")")
		case n > 0:
			kept = append(kept, lines[i:i+n]...)
		default:
			kept = append(kept, lines[i])
		}
		i += max(n, 1)
	}
	return kept
}

// parts lays out what is decided about, and returns how many parts were left out or
// cut.
func (v *view) parts(parts []tool.Part, shown func(string) bool, whole bool) (rows []row, left int) {
	if !whole && len(parts) > maxParts {
		parts = slices.Clone(parts)
		slices.SortStableFunc(parts, func(a, b tool.Part) int { return reads(a) - reads(b) })
		left = len(parts) - maxParts
		parts = parts[:maxParts]
	}
	cutAway := 0
	for _, part := range parts {
		if shown(part.Name) {
			part.Name = "" // it stands above or below
		}
		if name := oneLine(part.Name); !whole && cells(name) > maxName {
			part.Name = cut(name, maxName)
			cutAway++
		}
		rows = append(rows, row{normal, "  " + strings.TrimSpace(oneLine(describe(part)))})
	}
	if left > 0 {
		rows = append(rows, row{yellow, "  ... " + count(left, "more part") + " not shown ..."})
	}
	return rows, left + cutAway
}

// reads is 1 for a part that only reads.
func reads(p tool.Part) int {
	if slices.ContainsFunc(p.Effects, func(e effect.Effect) bool { return e.Kind != effect.Read }) {
		return 0
	}
	return 1
}

// inFrame is how many cells a row of a question has.
func (v *view) inFrame() int {
	switch {
	case v.o.Width == 0:
		return 1 << 30
	case v.o.Width < 4:
		return max(v.o.Width-1, 1)
	}
	return v.o.Width - 2
}

// long reports whether a question of so many rows and its choices do not fit on the
// screen.
func (v *view) long(rows int) bool { return v.o.Height > 0 && rows+6 > v.o.Height }

// rememberable are the rules that an answer to a question may leave behind: all, or
// none where nobody would read them.
func rememberable(rules []string) []string {
	if len(rules) > maxRules || slices.ContainsFunc(rules, func(r string) bool { return len(r) > maxRule }) {
		return nil
	}
	return rules
}

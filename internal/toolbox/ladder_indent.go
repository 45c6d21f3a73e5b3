package toolbox

import "strings"

// An indenting says how blanks at the start of a line in a hunk stand for those
// in the text.
type indenting struct {
	rule  func(blanks string) (string, bool)
	plain bool // one level stands for one level
}

// shift returns h with its new lines indented as those of p are, if the lines of
// h.old at a line of p all differ from them in the same way.
func (h hunk) shift(p sheet, at int) (hunk, bool) {
	var have, sent []string
	for n, l := range h.old {
		if strings.TrimSpace(l) != "" {
			have, sent = append(have, indent(p.line(at+n))), append(sent, indent(l))
		}
	}
	var fit []indenting
	for _, i := range indentings(have[0], sent[0]) {
		if i.explains(have, sent) {
			fit = append(fit, i)
		}
	}
	for _, plain := range []bool{true, false} {
		var found *hunk
		for _, i := range fit {
			if i.plain != plain {
				continue
			}
			next, ok := i.applied(h)
			if found != nil && (!ok || !same(*found, next)) {
				return hunk{}, false // two readings, and they differ
			}
			if ok {
				found = &next
			}
		}
		if found != nil {
			return *found, true
		}
	}
	return hunk{}, false
}

func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// indentings returns the ways in which sent can stand for have.
func indentings(have, sent string) []indenting {
	var out []indenting
	if more, ok := strings.CutSuffix(have, sent); ok {
		out = append(out, indenting{rule: func(b string) (string, bool) { return more + b, true }})
	}
	if less, ok := strings.CutSuffix(sent, have); ok {
		out = append(out, indenting{rule: func(b string) (string, bool) { return strings.CutPrefix(b, less) }})
	}
	for _, width := range []int{2, 3, 4, 8} {
		if n, ok := tabs(have); ok && len(sent)%width == 0 {
			levels := n - len(sent)/width
			out = append(out, indenting{plain: levels == 0, rule: func(b string) (string, bool) {
				to := len(b)/width + levels
				if strings.Contains(b, "\t") || len(b)%width > 0 || to < 0 {
					return "", false
				}
				return strings.Repeat("\t", to), true
			}})
		}
		if n, ok := tabs(sent); ok && len(have)%width == 0 {
			levels := len(have)/width - n
			out = append(out, indenting{plain: levels == 0, rule: func(b string) (string, bool) {
				from, ok := tabs(b)
				if !ok || from+levels < 0 {
					return "", false
				}
				return strings.Repeat(" ", (from+levels)*width), true
			}})
		}
	}
	return out
}

// tabs returns how many tabs blanks is, if it is nothing else.
func tabs(blanks string) (int, bool) {
	return len(blanks), strings.Trim(blanks, "\t") == ""
}

func (i indenting) explains(have, sent []string) bool {
	for n := range have {
		if got, ok := i.rule(sent[n]); !ok || got != have[n] {
			return false
		}
	}
	return true
}

// applied returns h with its new lines indented by i, if they can be.
func (i indenting) applied(h hunk) (hunk, bool) {
	out := h
	out.swaps = nil
	for _, s := range h.swaps {
		fresh := make([]string, len(s.fresh))
		for n, l := range s.fresh {
			fresh[n] = l
			if strings.TrimSpace(l) == "" {
				continue
			}
			blanks, ok := i.rule(indent(l))
			if !ok {
				return hunk{}, false
			}
			fresh[n] = blanks + l[len(indent(l)):]
		}
		s.fresh = fresh
		out.swaps = append(out.swaps, s)
	}
	return out, true
}

func same(a, b hunk) bool {
	for n := range a.swaps {
		for k, l := range a.swaps[n].fresh {
			if b.swaps[n].fresh[k] != l {
				return false
			}
		}
	}
	return true
}

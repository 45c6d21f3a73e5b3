package repo

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNeedles is how many texts are searched for at once. More are taken for
// anything.
const maxNeedles = 16

// A finite is what is known of the texts that an expression matches.
type finite struct {
	all   []string // every text that it matches; nil if they are not few
	needs []string // each text that it matches contains one of these; nil if that is not known
}

// best returns texts of which every match contains one, or nil.
func (f finite) best() []string {
	if weight(f.all) > weight(f.needs) {
		return f.all
	}
	return f.needs
}

// weight tells how well texts rule out what does not match: by the shortest.
func weight(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	least := len(texts[0])
	for _, s := range texts {
		least = min(least, len(s))
	}
	return least
}

// literals returns what is known of the texts that re, which is simplified,
// matches. With fold, ASCII letters stand for themselves in either case and are
// given as small ones.
func literals(re *syntax.Regexp, fold bool) finite {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return finite{all: []string{""}}
	case syntax.OpLiteral:
		return literal(re, fold)
	case syntax.OpCharClass:
		return class(re.Rune, fold)
	case syntax.OpCapture:
		return literals(re.Sub[0], fold)
	case syntax.OpPlus:
		return finite{needs: literals(re.Sub[0], fold).best()}
	case syntax.OpQuest:
		if inner := literals(re.Sub[0], fold).all; inner != nil && len(inner) < maxNeedles {
			return finite{all: append(slices.Clip(inner), "")}
		}
	case syntax.OpConcat:
		return concat(re.Sub, fold)
	case syntax.OpAlternate:
		return alternate(re.Sub, fold)
	}
	return finite{}
}

func literal(re *syntax.Regexp, fold bool) finite {
	if re.Flags&syntax.FoldCase == 0 {
		return finite{all: []string{folded(string(re.Rune), fold)}}
	}
	// What is not ASCII has other cases, which are not looked for.
	longest, run := "", 0
	for i := 0; i <= len(re.Rune); i++ {
		if i < len(re.Rune) && re.Rune[i] < utf8.RuneSelf {
			continue
		}
		if i-run > len(longest) {
			longest = string(re.Rune[run:i])
		}
		run = i + 1
	}
	switch longest = folded(longest, fold); {
	case len(longest) == len(re.Rune):
		return finite{all: []string{longest}}
	case longest == "":
		return finite{}
	}
	return finite{needs: []string{longest}}
}

func class(ranges []rune, fold bool) finite {
	var f finite
	for i := 0; i < len(ranges); i += 2 {
		if int(ranges[i+1]-ranges[i]) >= maxNeedles-len(f.all) {
			return finite{}
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			f.all = append(f.all, folded(string(r), fold))
		}
	}
	return f
}

func concat(subs []*syntax.Regexp, fold bool) finite {
	var best []string
	run, whole := []string{""}, true // the texts of the newest parts in a row that are known
	for _, sub := range subs {
		f := literals(sub, fold)
		if product := cross(run, f.all); product != nil {
			run = product
			continue
		}
		best = heavier(best, run)
		if run, whole = f.all, false; run == nil {
			best = heavier(best, f.needs)
			run = []string{""}
		}
	}
	if whole {
		return finite{all: run}
	}
	return finite{needs: heavier(best, run)}
}

func heavier(a, b []string) []string {
	if weight(b) > weight(a) {
		return b
	}
	return a
}

// cross returns each of a followed by each of b, or nil if they are too many.
func cross(a, b []string) []string {
	if len(a)*len(b) > maxNeedles {
		return nil
	}
	var all []string
	for _, s := range a {
		for _, t := range b {
			all = append(all, s+t)
		}
	}
	return all
}

func alternate(subs []*syntax.Regexp, fold bool) finite {
	all, needs := []string{}, []string{}
	for _, sub := range subs {
		f := literals(sub, fold)
		if all != nil {
			all = union(all, f.all)
		}
		if needs != nil {
			needs = union(needs, f.best())
		}
	}
	if all != nil {
		return finite{all: all}
	}
	return finite{needs: needs}
}

// union returns what is in a or b, or nil if they are too many or b is unknown.
func union(a, b []string) []string {
	if len(b) == 0 || len(a)+len(b) > maxNeedles {
		return nil
	}
	return append(slices.Clip(a), b...)
}

// folded returns s with small letters, if fold says so. What is not ASCII stays.
func folded(s string, fold bool) string {
	if !fold {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return unicode.ToLower(r)
		}
		return r
	}, s)
}

// folds reports whether some part of re ignores case.
func folds(re *syntax.Regexp) bool {
	return re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0 || slices.ContainsFunc(re.Sub, folds)
}

// withinLine changes re so that it matches no line break, whatever it was
// written to match, and the ends of a text are those of a line.
func withinLine(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, '\n') {
			*re = syntax.Regexp{Op: syntax.OpNoMatch}
		}
	case syntax.OpCharClass:
		if re.Rune = without(re.Rune, '\n'); len(re.Rune) == 0 {
			*re = syntax.Regexp{Op: syntax.OpNoMatch}
		}
	}
	for _, sub := range re.Sub {
		withinLine(sub)
	}
}

// without takes r out of a class, which is pairs of the first and last
// character of a range.
func without(class []rune, r rune) []rune {
	var out []rune
	for i := 0; i < len(class); i += 2 {
		first, last := class[i], class[i+1]
		if r < first || last < r {
			out = append(out, first, last)
			continue
		}
		if first < r {
			out = append(out, first, r-1)
		}
		if r < last {
			out = append(out, r+1, last)
		}
	}
	return out
}

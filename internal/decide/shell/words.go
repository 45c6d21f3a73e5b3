package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Words returns the words of line where it is one simple command, with nothing
// else to it, whose words are written out: what they are does not hang on files,
// variables or other commands.
func Words(line string) (words []string, ok bool) {
	if strange(line) != "" {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	s := file.Stmts[0]
	call, simple := s.Cmd.(*syntax.CallExpr)
	if !simple || len(call.Assigns) > 0 || len(s.Redirs) > 0 || s.Negated || s.Background || s.Coprocess || s.Disown {
		return nil, false
	}
	for _, w := range call.Args {
		text, ok := written(w)
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	return words, true
}

func written(w *syntax.Word) (text string, ok bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `\*?[]{}~`) {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, plain := inner.(*syntax.Lit)
				if !plain || p.Dollar || strings.Contains(lit.Value, `\`) {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

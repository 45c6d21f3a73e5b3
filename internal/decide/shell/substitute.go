package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param takes a variable that the script itself has set.
func (x *expansion) param(p *syntax.ParamExp, inQuotes bool) {
	if !plainParam(p) {
		x.d.unclear("%s is not followed", x.r.source(p.Pos(), p.End()))
		x.within(p)
		x.fallback(p)
		return
	}
	var v value
	set := false
	if x.d.s != nil {
		v, set = x.d.s.vars[p.Param.Value]
	}
	switch {
	case !set:
		x.d.unclear("$%s is not set here", p.Param.Value)
		x.lost()
	case !v.known:
		if !inQuotes {
			x.d.unclear("$%s is not known and has no quotes", p.Param.Value)
		}
		x.lost()
	case !inQuotes && strings.ContainsAny(v.text, " \t\n*?[\\"):
		x.d.unclear("$%s has no quotes, and would be more than a word", p.Param.Value)
		x.lost()
	default:
		x.gone = x.gone || !inQuotes
		x.write(v.text, false)
	}
}

// plainParam reports whether p is no more than the variable.
func plainParam(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Flags == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.NestedParam == nil &&
		p.Index == nil && len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// within follows the commands in a node that is not followed itself.
func (x *expansion) within(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CmdSubst); ok {
			x.inner(c.Stmts)
			return false
		}
		return true
	})
}

// fallback proves what can be of ${x:-word}, where x is not set.
func (x *expansion) fallback(p *syntax.ParamExp) {
	if p.Exp == nil || p.Exp.Word == nil || p.Param == nil {
		x.lost()
		return
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		for _, part := range p.Exp.Word.Parts {
			if l, ok := part.(*syntax.Lit); ok {
				x.write(l.Value, false)
				continue
			}
			x.lost()
		}
	default:
		x.lost()
	}
}

// subst follows the commands within a word.
func (x *expansion) subst(stmts []*syntax.Stmt, why string) {
	x.d.unclear("%s", why)
	x.inner(stmts)
}

// inner follows commands, and returns what they print as far as it is written out.
func (x *expansion) inner(stmts []*syntax.Stmt) (output string) {
	s := state{}
	if x.d.s != nil {
		s = *x.d.s
	}
	out := x.r.out
	x.r.out = new(strings.Builder)
	x.r.stmts(stmts, s)
	output, x.r.out = x.r.out.String(), out
	return output
}

func (x *expansion) process(p *syntax.ProcSubst) {
	if p.Op != syntax.CmdIn {
		x.subst(p.Stmts, "a process substitution is not followed")
		x.lost()
		return
	}
	x.pipe, x.output = true, x.inner(p.Stmts)
}

// arithmetic takes sums of digits; anything else can assign, or run commands.
func (x *expansion) arithmetic(p *syntax.ArithmExp) {
	syntax.Walk(p.X, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm, *syntax.Word:
			return true
		case *syntax.Lit:
			if strings.Trim(n.Value, "0123456789") == "" {
				return true
			}
		}
		x.d.unclear("arithmetic is only followed over digits")
		return false
	})
	x.within(p)
	x.lost()
}

// ansi decodes the common escapes of $'...'.
func ansi(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'x':
			n, digits := 0, 0
			for digits < 2 && i+1 < len(text) {
				h := strings.IndexByte("0123456789abcdef", text[i+1]|0x20)
				if h < 0 {
					break
				}
				n, digits, i = n*16+h, digits+1, i+1
			}
			b.WriteByte(byte(n))
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := 0
			for digits := 0; digits < 3 && i < len(text) && text[i] >= '0' && text[i] <= '7'; digits++ {
				n, i = n*8+int(text[i]-'0'), i+1
			}
			i--
			b.WriteByte(byte(n))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

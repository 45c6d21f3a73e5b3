package policy

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// FuzzCommand holds the reading of commands to a real parser of the shell's
// language: what is taken for one simple command is one, with these words, and the
// quick look never changes what a rule says.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{
		"", "git status", `g'i't "st"at\us`, "A=1 B='2 3' go test -run 'A|B' ./... 2>&1 >x", "'A=1' x", "a;b", "a $(b) `c` \"$(d)\"", "a <<E\nb\nE",
		"if a; then b; fi", "a {b,c} ~ $x ${y} *?[z] # c", "! a", "{ a; }", "a &>b", "a 12>x y3>z", "a \\\nb", "x+=1 a", "a=(b)", "[[ a ]]", "time a", "f() { a; }", "$'a'", `"\$"`, "a\r\nb",
		"a >& b", "a >|b", "1>2", "a{fd}>b", "((1))", "a &", "let x", "declare a=b", "export a='b'", "function", "in", "a[1]=2 b",
	} {
		f.Add(s, "git push")
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, s, pattern string) {
		if len(s) > 1000 || len(pattern) > 1000 {
			return
		}
		c := readCommand(s)
		slow := c
		slow.program = ""
		if got, want := forbids(pattern, c), forbids(pattern, slow); got != want {
			t.Fatalf("%q forbids %q: %t, want %t", pattern, s, got, want)
		}
		if c.simple {
			checkWords(t, s, c.words)
		}
	})
}

// reserved begin what is more than one program with its words; a pattern holds
// them to themselves, as they are written.
var reserved = map[string]bool{
	"!": true, "time": true, "coproc": true, "function": true, "[[": true, "select": true, "for": true, "case": true, "if": true, "while": true, "until": true,
	"{": true, "let": true, "declare": true, "export": true, "readonly": true, "local": true, "typeset": true, "nameref": true, "then": true, "else": true,
	"elif": true, "fi": true, "do": true, "done": true, "esac": true, "}": true, "in": true, "]]": true,
}

func checkWords(t *testing.T, s string, words []word) {
	for _, w := range words {
		if reserved[w.text] || strings.Contains(w.text, "[") || strings.ContainsAny(w.text, "${}~#!\r") {
			return // the parser wants more of it, or sees more in it
		}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s), "")
	if err != nil {
		return // the shell runs nothing of it
	}
	if len(file.Stmts) != 1 {
		t.Fatalf("%q is %d commands", s, len(file.Stmts))
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if stmt.Cmd != nil && !ok || stmt.Background || stmt.Negated || stmt.Coprocess || len(file.Last) > 0 {
		t.Fatalf("%q is %T", s, stmt.Cmd)
	}
	want := map[string]int{}
	n := 0
	if call != nil {
		n = len(call.Args) + len(call.Assigns)
		for _, a := range call.Args {
			if text, plain := plainly(a); plain {
				want[text]++
			}
		}
	}
	for _, r := range stmt.Redirs {
		if r.Word != nil {
			n++
			if text, plain := plainly(r.Word); plain {
				want[text]++
			}
		}
	}
	have, got := 0, map[string]int{}
	for _, w := range words {
		switch {
		case w.op && !w.lacksTarget():
			have++
			want[w.text[strings.Index(w.text, "&")+1:]]--
		case w.op:
		default:
			have++
			got[w.text]++
		}
	}
	if have != n {
		t.Fatalf("%q has %d words, want %d: %q", s, have, n, shown(words))
	}
	for text, many := range want {
		if got[text] < many {
			t.Fatalf("%q has the word %q %d times, want %d: %q", s, text, got[text], many, shown(words))
		}
	}
}

// plainly returns the text of a word that the shell changes nothing in.
func plainly(w *syntax.Word) (text string, plain bool) {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `\*?`) {
				return "", false
			}
			text += p.Value
		case *syntax.SglQuoted:
			text += p.Value
		default:
			return "", false
		}
	}
	return text, !assigns(text)
}

package constraint

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// blank takes the place of each byte that is nobody's own words; code stands for
// one between backticks, which may be what a constraint is about.
const (
	blank = '\x01'
	code  = '\x7f'
)

// mask returns text, of the same length, without what the user only shows: blocks
// of code, lines that quote somebody, and words between quotation marks.
func mask(text string) string {
	b := []byte(text)
	if strings.Contains(text, "```") || strings.Contains(text, "~~~") || strings.ContainsAny(text, "\n>:") || strings.Contains(text, "//") || strings.Contains(text, "/*") {
		maskLines(b)
	}
	maskSpans(b)
	return string(b)
}

// maskLines blanks fenced blocks, quoted lines and what a program printed.
func maskLines(b []byte) {
	fence, above := "", "" // the line above
	for from := 0; from < len(b); {
		to := from
		for to < len(b) && b[to] != '\n' {
			to++
		}
		line := strings.TrimLeft(string(b[from:to]), " \t")
		opens := ""
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			opens = line[:3]
		}
		switch {
		case fence != "":
			fill(b[from:to], blank)
			if opens == fence {
				fence = ""
			}
		case opens != "":
			fence = opens
			fill(b[from:to], blank)
		case startsAny(line, []string{">", "//", "/*", "<!--", `"""`, "'''"}), strings.Contains(line, "{ //"), strings.Contains(line, "; //"), printed(line):
			fill(b[from:to], blank)
		case startsAny(line, []string{"# ", "-- ", "; ", "% ", "rem "}):
			below, _, _ := bytes.Cut(b[min(to+1, len(b)):], []byte("\n"))
			if isSource(above) || isSource(string(below)) {
				fill(b[from:to], blank)
			}
		}
		from, above = to+1, line
	}
}

// printed reports whether a line is what a program says that fails: AssertionError: ...
func printed(line string) bool {
	before, _, ok := strings.Cut(line, ": ")
	if !ok || before == "" || strings.ContainsAny(before, " ") {
		return false
	}
	low := strings.ToLower(before)
	return among(low, "fatal", "panic", "stderr", "traceback") || strings.HasSuffix(low, "error") || strings.HasSuffix(low, "exception")
}

// isSource reports whether a line is of a program or its settings, by its first word or
// its marks: a comment beside it was pasted with it.
func isSource(line string) bool {
	line = strings.TrimSpace(line)
	word, rest, _ := strings.Cut(line, " ")
	key, value, assigns := strings.Cut(line, "=")
	switch {
	case among(word, "import", "package", "from", "def", "class", "func", "fn", "const", "let", "var", "return", "#include", "using", "namespace", "module", "FROM", "RUN", "COPY", "CREATE", "SELECT", "ALTER", "INSERT") && rest != "":
		return true
	case endsAny(line, []string{";", "{", "}", "();", "):"}), strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"), strings.HasPrefix(line, "#!"):
		return true
	}
	return assigns && value != "" && !strings.ContainsAny(strings.TrimSpace(key), " ,")
}

func fill(b []byte, with byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = with
		}
	}
}

// closing returns the mark that ends a quotation which r begins, "" if it begins
// none.
func closing(r rune) string {
	switch r {
	case '"', '\'', '`':
		return string(r)
	case '“':
		return "”"
	case '「':
		return "」"
	case '『':
		return "』"
	case '‘':
		return "’"
	case '《':
		return "》"
	}
	return ""
}

// maskSpans blanks quotations, and marks what is between backticks as code. A
// mark without a second one on its line is none.
func maskSpans(b []byte) {
	unclosed := make(map[string]int) // up to where a mark is known to have no second one
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		end := closing(r)
		quotes := end != ""
		if quotes && r == '\'' { // an apostrophe is no quotation mark
			before, _ := utf8.DecodeLastRune(b[:i])
			quotes = i == 0 || unicode.IsSpace(before) || strings.ContainsRune("(:：，,", before)
		}
		if !quotes {
			i += size
			continue
		}
		if i < unclosed[end] {
			i += size
			continue
		}
		line := b[i+size:]
		n := bytes.Index(line, []byte(end))
		stop := bytes.IndexByte(line[:max(n, 0)], '\n')
		if n < 0 || stop >= 0 {
			unclosed[end] = len(b)
			if n >= 0 {
				unclosed[end] = i + size + stop
			}
			i += size
			continue
		}
		inside := b[i : i+size+n+len(end)]
		if r == '`' || isName(string(line[:n])) {
			fill(inside, code)
		} else {
			fill(inside, blank)
		}
		i += len(inside)
	}
}

// isName reports whether what is between quotation marks is a name rather than
// words: one word with something that no sentence has, such as "api/".
func isName(s string) bool {
	return s != "" && !strings.ContainsAny(s, " \t") && strings.ContainsAny(s, "./_-*@") && strings.Trim(s, ".-") != ""
}

// A sentence is a piece of a masked text.
type sentence struct {
	text  string
	start int  // of it in the whole
	asks  bool // it ends in a question mark
}

// sentences cuts a masked text where a sentence or a line ends. A stop inside a
// name, as in go.mod, ends none.
func sentences(text string) (out []sentence) {
	start := 0
	cut := func(end, next int, asks bool) {
		if strings.TrimSpace(text[start:end]) != "" {
			out = append(out, sentence{text[start:end], start, asks})
		}
		start = next
	}
	for i, r := range text {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			size = 1
		}
		switch r {
		case '\n', '。', '！', '；', ';':
			cut(i, i+size, false)
		case '？':
			cut(i, i+size, true)
		case '.', '!', '?':
			if i+1 == len(text) || text[i+1] <= ' ' || text[i+1] >= utf8.RuneSelf || text[i+1] == ')' || r != '.' && rune(text[i+1]) == r {
				cut(i, i+1, r == '?')
			}
		}
	}
	cut(len(text), len(text), false)
	return out
}

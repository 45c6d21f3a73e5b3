package prompt

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/pattern"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// wrongBan says why what a note forbids cannot be matched, or would match too
// much. A note is the model's: it must not be able to stop the work.
func (r *reader) wrongBan(rule, text, call string) string {
	switch {
	case rule != "":
		parsed, err := policy.ParseRule(rule, policy.Deny, policy.FromConstraint)
		if err != nil {
			return err.Error()
		}
		if tooWide(parsed) {
			return fmt.Sprintf("rule %q forbids far too much", clipped(rule, 100))
		}
	case text != "":
		if allCommon(text) {
			return fmt.Sprintf("text %q forbids far too much: all work has it", clipped(text, 100))
		}
		if lettersOf(text) < shortestBan || len(text) > 100 || !r.mentions(text) {
			return fmt.Sprintf("text %q is too short, too long, or not in the stretch", clipped(text, 100))
		}
	case call != "":
		c, ok := r.calls[call]
		if !ok || c.result == nil || c.result.Failure == nil {
			return fmt.Sprintf("no call %q failed in this stretch", clipped(call, 20))
		}
	}
	return ""
}

// lifted reports whether a person lifted ban: no note in other words brings it back.
func (r *reader) lifted(ban tool.Ban) bool {
	bans := func(n event.Note) bool { return slices.Contains(n.Bans, ban) }
	return slices.ContainsFunc(r.state.Notes(), bans) && !slices.ContainsFunc(r.state.RuledOut(), bans)
}

// canonical returns rule in one spelling: a path without detours, a command without
// quotes with single spaces. So a ban is known again, as one that a person lifted.
func canonical(rule string) string {
	r, err := policy.ParseRule(rule, policy.Deny, policy.FromConstraint)
	switch {
	case err != nil:
		return rule
	case r.Pattern == "":
	case r.Tool == "Bash" || r.Tool == "Test":
		if !strings.ContainsAny(r.Pattern, "\"'\\") {
			r.Pattern = strings.Join(strings.Fields(r.Pattern), " ")
		}
	default:
		r.Pattern = path.Clean(r.Pattern)
	}
	return r.String()
}

// allCommon reports whether text has words, and only such as most work has. One with a
// capital is another word: all work has function, and little has Function.
func allCommon(text string) bool {
	if isCommon(strings.ToLower(strings.TrimSpace(text))) {
		return true
	}
	common := false
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch {
		case isCommon(w):
			common = true
		case len(w) > 1: // a letter alone is the name of a variable
			return false
		}
	}
	return common
}

// lettersOf counts the letters and digits of text, in bytes: a name of two Chinese
// characters is as long as one of six letters.
func lettersOf(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n += len(string(r))
		}
	}
	return n
}

// Bounds of the rule of a note. Alternatives in braces multiply, and so does the
// time that it takes to match them.
const (
	maxBan       = 300 // bytes
	alternatives = 32
)

// tooWide reports whether a rule is for a whole tool, for files by no more than what
// they end in or the folders that all work has, or for what a program does that the
// work is made of. Of alternatives none may be.
func tooWide(r policy.Rule) bool {
	if r.Tool == "" || r.Tool == "*" || len(r.Pattern) > maxBan {
		return true
	}
	globs, ok := spelled(r.Pattern, alternatives)
	if !ok {
		return true
	}
	return slices.ContainsFunc(globs, func(glob string) bool {
		if strings.Trim(glob, "*?/. []{}") == "" {
			return true
		}
		if r.Tool != "Bash" && r.Tool != "Test" {
			return !namesFiles(glob)
		}
		return allWork(glob)
	})
}

// spelled returns glob once for each choice among its alternatives in braces; ok
// is false if there are more than limit.
func spelled(glob string, limit int) (all []string, ok bool) {
	all = []string{glob}
	for i := 0; i < len(all); {
		before, choices, after, found := braces(all[i])
		if !found {
			i++
			continue
		}
		var each []string
		for _, c := range choices {
			each = append(each, before+c+after)
		}
		if all = slices.Replace(all, i, i+1, each...); len(all) > limit {
			return nil, false
		}
	}
	return all, true
}

// braces parts glob at its first alternatives.
func braces(glob string) (before string, choices []string, after string, found bool) {
	open := strings.IndexByte(glob, '{')
	if open < 0 {
		return "", nil, "", false
	}
	depth, from := 0, open+1
	for i := open; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '{':
			depth++
		case c == '}' && depth == 1:
			return glob[:open], append(choices, glob[from:i]), glob[i+1:], true
		case c == '}':
			depth--
		case c == ',' && depth == 1:
			choices, from = append(choices, glob[from:i]), i+1
		}
	}
	return "", nil, "", false
}

// allWork reports whether what is left of a command line without its wildcards is no
// more than what a program does that the work is made of.
func allWork(line string) bool {
	words := strings.Fields(strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(line))
	for len(words) > 0 && strings.Contains(words[0], "=") { // variables of the command
		words = words[1:]
	}
	words = slices.DeleteFunc(words, func(w string) bool { return vague(w) && strings.ContainsAny(w, "*?[") })
	if len(words) == 0 || lettersOf(words[0]) == 0 || strings.ContainsAny(words[0], "*?[$`") {
		return true
	}
	words[0] = path.Base(words[0])
	return isCommon(words[0]) && (len(words) == 1 || len(words) == 2 && isCommon(words[1]) || len(words) == 3 && isCommon(words[1]) && (isCommon(words[2]) || strings.Trim(words[2], "./") == ""))
}

// namesFiles reports whether a glob of files has an element that says more than what a name
// ends in, or than a folder does that all work has. A path without wildcards says it all.
func namesFiles(glob string) bool {
	exact := !strings.ContainsAny(glob, "*?[")
	return slices.ContainsFunc(strings.Split(glob, "/"), func(element string) bool {
		if exact {
			return lettersOf(element) > 0
		}
		base := strings.TrimSuffix(element, path.Ext(element))
		if strings.HasPrefix(element, ".") {
			base = element
		}
		return !vague(base) && !isCommon(strings.ToLower(base))
	})
}

var classes = pattern.Later(`\[[^\]]*\]`)

// vague reports whether a glob has too few letters of its own to name anything.
func vague(glob string) bool {
	if !strings.ContainsAny(glob, "*?[") {
		return lettersOf(glob) == 0
	}
	return lettersOf(classes().ReplaceAllString(glob, "")) < shortestBan
}

// isCommon knows names that most work has, whatever it is about.
func isCommon(name string) bool {
	switch name {
	case "test", "tests", "testing", "build", "run", "main", "make", "go", "git", "npm", "npx", "yarn", "pnpm", "node", "bun", "deno", "python", "python3", "pip",
		"pytest", "cargo", "rustc", "gcc", "mvn", "gradle", "java", "ruby", "bundle", "bash", "sh", "cd", "cat", "ls", "find", "rg", "head", "tail", "if", "sed", "echo", "grep", "status", "diff", "log",
		"func", "function", "def", "class", "return", "import", "from", "const", "let", "var", "type", "struct", "interface", "package", "public", "private", "static",
		"string", "int", "bool", "true", "false", "nil", "null", "none", "error", "err", "for", "while", "else", "elif", "end", "self", "this", "that", "the", "and", "not",
		"with", "use", "new", "name", "value", "data", "file", "files", "path", "code", "fix", "add", "get", "set", "void", "async", "await", "module", "exports",
		"require", "println", "print", "fmt", "assert", "ok", "src", "lib", "app", "index", "internal", "pkg", "cmd", "doc", "docs", "readme", "todo", "vet", "fmt.println",
		"edit", "read", "write", "change", "http", "https", "com", "github", "github.com", "org", "install", "check", "lint", "测试", "代码", "文件", "函数", "错误":
		return true
	case "Test", "Error", "Errorf", "String", "Print", "Printf", "Println", "Main":
		return true
	}
	return false
}

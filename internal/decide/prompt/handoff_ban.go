package prompt

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

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
		if isCommon(strings.ToLower(strings.TrimSpace(text))) {
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

// tooWide reports whether a rule is for a whole tool, for files by no more than what
// they end in, or for all that a program does which the work is made of.
func tooWide(r policy.Rule) bool {
	if r.Tool == "" || r.Tool == "*" || strings.Trim(r.Pattern, "*?/. []{}") == "" {
		return true
	}
	if r.Tool != "Bash" && r.Tool != "Test" {
		return !slices.ContainsFunc(strings.Split(r.Pattern, "/"), named)
	}
	var words []string
	for _, w := range strings.Fields(r.Pattern) {
		if strings.Trim(w, "*") != "" {
			words = append(words, w)
		}
	}
	switch {
	case strings.ContainsAny(words[0], "*?[{"):
		return true
	case !isCommon(words[0]):
		return false
	}
	return len(words) == 1 || len(words) == 2 && isCommon(words[1]) || len(words) == 3 && isCommon(words[1]) && (isCommon(words[2]) || strings.Trim(words[2], "./") == "")
}

// named reports whether an element of a glob says more than what a name ends in.
func named(element string) bool {
	base := strings.TrimSuffix(element, path.Ext(element))
	if strings.HasPrefix(element, ".") {
		base = element
	}
	return strings.Trim(base, "*?[]{}.") != ""
}

// isCommon knows names that most work has, whatever it is about.
func isCommon(name string) bool {
	switch name {
	case "test", "tests", "testing", "build", "run", "main", "make", "go", "git", "npm", "npx", "yarn", "pnpm", "node", "bun", "deno", "python", "python3", "pip",
		"pytest", "cargo", "rustc", "gcc", "mvn", "gradle", "java", "ruby", "bundle", "bash", "sh", "cd", "cat", "ls", "sed", "echo", "grep", "status", "diff", "log",
		"func", "function", "def", "class", "return", "import", "from", "const", "let", "var", "type", "struct", "interface", "package", "public", "private", "static",
		"string", "int", "bool", "true", "false", "nil", "null", "none", "error", "err", "for", "while", "else", "elif", "end", "self", "this", "that", "the", "and", "not",
		"with", "use", "new", "name", "value", "data", "file", "files", "path", "code", "fix", "add", "get", "set", "void", "async", "await", "module", "exports",
		"require", "println", "print", "fmt", "assert", "ok", "src", "lib", "app", "index", "internal", "pkg", "cmd", "doc", "docs", "readme", "todo", "vet", "fmt.println",
		"edit", "read", "write", "change", "http", "https", "com", "github", "github.com", "org", "install", "check", "lint", "测试", "代码", "文件", "函数", "错误":
		return true
	}
	return false
}

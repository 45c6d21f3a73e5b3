package report

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/belay-agent/belay/internal/contract/pattern"
	"github.com/belay-agent/belay/internal/decide/mention"
)

// everywhereRE is found in words that put no bounds to where something changes.
var everywhereRE = pattern.Later(`(?i)\b(?:everywhere|all (?:the )?(?:files|packages|callers|uses|usages|occurrences)|every (?:file|package|caller|use)|whole (?:repo|repository|project|code ?base)|across the|codebase)\b|所有|整个|全部|到处|全局`)

// sourceRE is the end of a name that is a file's, whether or not it is known.
var sourceRE = pattern.Later(`\.(?:go|py|pyi|js|jsx|mjs|cjs|ts|tsx|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|sql|md|txt|rst|json|ya?ml|toml|ini|cfg|xml|html|css|scss|proto|mod|lock|vue|svelte)$`)

// named returns the paths in what the user said and mentioned, and in the todo
// list, given the files that the session knows. It is nil if the user's words name
// none, or name no bounds: then nothing is outside. Who names nothing but tests
// names what is to be proved, and not where to change what.
func named(t turn, known []string) []string {
	words := strings.Join(t.words, "\n")
	if everywhereRE().MatchString(words) {
		return nil
	}
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, text := range t.mentions {
		m := mention.Parse(text)
		if m.Dir {
			m.Path += "/"
		}
		add(m.Path)
	}
	for _, w := range pathWords(words) {
		if isPath(w, known) {
			add(w)
		}
	}
	if !slices.ContainsFunc(names, func(n string) bool { return !isTest(n) }) {
		return nil
	}
	for _, item := range t.todo {
		for _, w := range pathWords(item.Text) {
			if isPath(w, known) {
				add(w)
			}
		}
	}
	return names
}

// pathWords returns what in text could be a path.
func pathWords(text string) (all []string) {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("\"'`<>|,;()[]{}!?*=&@“”‘’", r) || r >= 0x2e80
	})
	for _, w := range words {
		if strings.Contains(w, "://") {
			continue
		}
		w = strings.TrimRight(w, ".:")
		m := mention.Parse(w)
		if w = path.Clean(m.Path); w == "." || w == "/" || strings.HasPrefix(w, "..") {
			continue
		}
		if m.Dir {
			w += "/"
		}
		all = append(all, w)
	}
	return all
}

// isPath reports whether a word is a path: one that leads to a known file or to
// a directory with one below it, or a name that can hardly be anything else.
func isPath(word string, known []string) bool {
	if !strings.ContainsAny(word, "./") && !unicode.IsUpper([]rune(word)[0]) {
		return false
	}
	if slices.ContainsFunc(known, func(p string) bool { return leads(word, p) }) {
		return true
	}
	product := unicode.IsUpper([]rune(word)[0]) && strings.HasSuffix(word, ".js") // Node.js and its like
	return sourceRE().MatchString(word) && !product
}

// leads reports whether name, which may leave out the directories above it, is
// that of file or of a directory above it.
func leads(name, file string) bool {
	if strings.HasSuffix(name, "/") {
		return name == "./" || strings.HasPrefix(file, name) || strings.Contains(file, "/"+name)
	}
	if !strings.Contains(name, "/") && !strings.Contains(name, ".") {
		return path.Base(file) == name
	}
	return file == name || strings.HasSuffix(file, "/"+name) ||
		strings.HasPrefix(file, name+"/") || strings.Contains(file, "/"+name+"/")
}

// within reports whether file is one of names, below one of them, or what goes
// with one: its test, or what is written with it.
func within(file string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return leads(n, file) || subject(n) == subject(file) && (isTest(n) || isTest(file)) || slices.Contains(goWith[path.Base(n)], path.Base(file))
	})
}

// goWith are files that tools write when another changes.
var goWith = map[string][]string{
	"go.mod":         {"go.sum"},
	"package.json":   {"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb"},
	"Cargo.toml":     {"Cargo.lock"},
	"pyproject.toml": {"poetry.lock", "uv.lock"},
}

// isProse reports whether file is one that no test and no build reads.
func isProse(file string) bool {
	switch path.Ext(file) {
	case ".md", ".txt", ".rst", ".adoc":
		return true
	}
	return false
}

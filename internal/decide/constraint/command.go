package constraint

import "strings"

// git returns the command of git that is meant, where an option or a subcommand
// says more than the tasks that are known by name; "" otherwise.
func (t token) git() string {
	fields := strings.Fields(t.next)
	if len(fields) == 0 {
		return ""
	}
	out := []string{"git", strings.Trim(fields[0], ".,;:!?，。")}
	if strings.Trim(out[1], "abcdefghijklmnopqrstuvwxyz-") != "" || !isSubcommand(out[1]) {
		return ""
	}
	options := 0
	for _, f := range fields[1:] {
		if f[0] != '-' || len(f) < 2 {
			if options == 0 {
				break
			}
			if !among(strings.Trim(f, ".,;:!?"), "or", "and", "here", "please", "in", "on", "at", "ever", "again", "without", "for") && f[0] < 0x80 {
				return ""
			}
			break
		}
		out = append(out, strings.Trim(f, ".,;:!?，。"))
		options++
	}
	if options == 0 && !among(out[1], "clean", "restore", "cherry-pick", "revert", "add", "tag", "clone", "pull", "fetch", "filter-branch", "gc") {
		return ""
	}
	return strings.Join(out, " ")
}

func isSubcommand(word string) bool {
	return among(word, "push", "commit", "reset", "rebase", "stash", "clean", "checkout", "switch", "restore", "cherry-pick", "revert", "merge", "add", "tag", "clone", "pull", "fetch", "branch", "filter-branch", "gc")
}

// alone reports whether a package is meant as a whole, rather than something of it
// or that is called so: redis, but not redis keys.
func (t token) alone() bool {
	if among(t.verb, "in", "with", "inside", "to", "into", "of", "from", "than", "like") {
		return false
	}
	after := strings.TrimLeft(t.next, "`\"' ")
	if after == "" || strings.ContainsRune(",.;:)!?", rune(after[0])) {
		return true
	}
	if after[0] >= 0x80 {
		return !strings.HasPrefix(after, "的") && !strings.HasPrefix(after, "里")
	}
	next := strings.ToLower(strings.Trim(strings.Fields(after)[0], ".,;:!?)'"))
	if isEnglish(strings.ToLower(t.text)) {
		return among(next, "library", "lib", "package", "module", "dependency", "framework", "please", "or", "and", "here", "anymore", "again", "either")
	}
	return among(next, "library", "lib", "package", "module", "dependency", "framework", "client", "please", "or", "and", "here", "anymore", "again", "either", "for", "in", "at", "as", "to", "on", "anywhere",
		"because", "since", "yet", "unless", "until", "if", "when", "instead", "directly", "it's", "it", "we", "i", "you", "but", "while", "without", "so", "is", "are", "ever", "nor", "even", "by")
}

// isEnglish knows the packages that are words of English too.
func isEnglish(name string) bool {
	return among(name, "requests", "boost", "express", "rocket", "bootstrap", "fiber", "zap", "anyhow", "underscore", "moment", "diesel", "devise", "commander", "chalk", "immer", "torch", "doctrine", "gin", "babel", "cobra",
		"viper", "flask", "celery", "cypress", "react", "angular", "selenium", "prettier", "black", "knex", "typescript")
}

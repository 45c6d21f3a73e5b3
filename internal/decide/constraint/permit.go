package constraint

import (
	"cmp"
	"regexp"
	"strings"
)

// permission is what people say to take back what they forbade.
const permission = `(?i)\byou (may|can|could|are (now )?allowed to|have my (ok|okay|permission))\b.*\b(now|again|after all|anyway)\b|\byou (may|can) now\b|` +
	`\bfeel free to\b|\bgo ahead and\b|\bit'?s (now )?(ok|okay|fine|alright|all right) (now )?to\b|\bi (no longer|lift|take back|withdraw)\b|\bno longer (forbidden|off[- ]limits)\b|` +
	`现在可以|可以[^，。？]*了|允许你|我不再|不再(禁止|限制)|取消[^，。]*(限制|禁止|约束)|解除|收回`

// Permits returns which of the constraints that hold text sounds as if it lifted: the
// one that shares most with it, the newest of several. It reports false where the text
// sounds like nothing of the kind, or none holds. It lifts nothing: words are too easily
// misread for that. It is for telling the user how a constraint is lifted.
func Permits(text string, held []string) (which int, ok bool) {
	says := regexp.MustCompile(permission)
	best := -1
	for _, s := range sentences(mask(text)) {
		if s.asks || !says.MatchString(strings.ReplaceAll(s.text, "’", "'")) {
			continue
		}
		allowed := topics(text[s.start : s.start+len(s.text)])
		for i, words := range held {
			n := 0
			for topic := range topics(words) {
				if allowed[topic] {
					n++
				}
			}
			if n >= best {
				best, which, ok = n, i, true
			}
		}
	}
	return which, ok
}

// topics are the words that say what others are about: those of English without their
// endings, the names in a path, and the characters of Chinese.
func topics(words string) map[string]bool {
	all := make(map[string]bool)
	for _, w := range tokensOf(strings.Map(func(r rune) rune {
		if strings.ContainsRune("/._`\"", r) {
			return ' '
		}
		return r
	}, words)) {
		w = cmp.Or(infinitive(w), w)
		if !isPlainWord(w) && !among(w, plainChinese...) && !among(w, strings.Fields(changing.english)...) && !among(w, "go", "可", "以", "动", "改") {
			all[rootOf(w)] = true
		}
	}
	return all
}

package constraint

import (
	"regexp"
	"strings"
)

// permission is what people say to take back what they forbade.
const permission = `(?i)\byou (may|can|could|are (now )?allowed to|have my (ok|okay|permission))\b.*\b(now|again|after all|anyway)\b|\byou (may|can) now\b|` +
	`\bfeel free to\b|\bgo ahead and\b|\bit'?s (now )?(ok|okay|fine|alright|all right) (now )?to\b|\bi (no longer|lift|take back|withdraw)\b|\bno longer (forbidden|off[- ]limits)\b|` +
	`现在可以|可以[^，。？]*了|允许你|我不再|不再(禁止|限制)|取消[^，。]*(限制|禁止|约束)|解除|收回`

// Permits reports whether text sounds as if it allowed what was forbidden. It lifts
// nothing: words are too easily misread for that. It is for telling the user how a
// constraint is lifted.
func Permits(text string) bool {
	says := regexp.MustCompile(permission)
	for _, s := range sentences(mask(text)) {
		if !s.asks && says.MatchString(strings.ReplaceAll(s.text, "’", "'")) {
			return true
		}
	}
	return false
}

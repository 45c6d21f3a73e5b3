package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/belay-agent/belay/internal/decide/mention"
)

// reminder names the files that the user mentioned in one message, all together,
// and tells the model to read them. It is "" without any. What is in them never
// comes this way.
func reminder(mentions []string) string {
	if len(mentions) == 0 {
		return ""
	}
	names, look := make([]string, len(mentions)), ""
	for i, text := range mentions {
		m := mention.Parse(text)
		names[i] = plain(m.Path)
		switch {
		case m.Dir:
			names[i] = "the directory " + names[i]
			look = " (a directory: look into it with LS)"
		case m.Last > m.First:
			names[i] += fmt.Sprintf(" (lines %d-%d)", m.First, m.Last)
		case m.First > 0:
			names[i] += fmt.Sprintf(" (line %d)", m.First)
		}
	}
	return "[system reminder: the message above mentions " + strings.Join(names, ", ") +
		". Only the names are known here: before you answer, read each with Read" + look + "]"
}

// plain returns a name as it is, or quoted where it could be taken for words of
// the reminder.
func plain(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`"[],`, r) }) {
		return strconv.Quote(name)
	}
	return name
}

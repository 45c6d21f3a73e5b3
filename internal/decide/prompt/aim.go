package prompt

import "github.com/belay-agent/belay/internal/decide/task"

// aim tells the model what the user's newest words were taken for. It is "" before
// there are any.
func aim(t task.Type) string {
	switch t {
	case task.Look:
		return "[task, by the newest words of the user: look. Find out and answer; nothing is to change unless they say so.]"
	case task.Change:
		return "[task, by the newest words of the user: change.]"
	}
	return ""
}

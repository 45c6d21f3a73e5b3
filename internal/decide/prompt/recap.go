package prompt

import (
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// recap says in one line where the work is, for the very end of a request. It
// is "" without a list.
func recap(list []tool.Todo) string {
	if len(list) == 0 {
		return ""
	}
	var done int
	var active, pending []string
	for _, t := range list {
		text := strings.Join(strings.Fields(t.Text), " ")
		switch t.State {
		case "done":
			done++
		case "active":
			active = append(active, text)
		default:
			pending = append(pending, text)
		}
	}
	line := fmt.Sprintf("[%d/%d]", done, len(list))
	if len(active) > 0 {
		line += " In progress: " + strings.Join(active, "; ") + "."
	}
	if len(pending) > 0 {
		line += " Pending: " + strings.Join(pending, "; ") + "."
	}
	if done == len(list) {
		line += " All done."
	}
	return line
}

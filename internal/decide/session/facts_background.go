package session

import (
	"encoding/json"

	"github.com/belay-agent/belay/internal/contract/event"
)

// A sighting is what a result says to programs of a command in the background.
type sighting struct {
	Name    string `json:"name"`
	Running *bool  `json:"running"` // nil where it says nothing of that
}

// background notes a command that went on when its call was over, and those that
// are seen to have ended.
func (f *Facts) background(c *call, b event.Finished) {
	var seen struct {
		sighting
		Background string     `json:"background"`
		Processes  []sighting `json:"processes"`
	}
	if len(b.Result.Data) > 0 && json.Unmarshal(b.Result.Data, &seen) == nil {
		if seen.Background == b.Call {
			f.Waiting.put(Task{Call: b.Call, What: what(c)}, maxTasks, func(t Task) bool { return t.Call == b.Call })
		}
		for _, s := range append(seen.Processes, seen.sighting) {
			if s.Running != nil && !*s.Running {
				f.ended(s.Name)
			}
		}
	}
	for _, name := range b.Result.Ended {
		f.ended(name)
	}
}

func (f *Facts) ended(name string) {
	f.Waiting.take(func(t Task) bool { return t.Call == name })
}

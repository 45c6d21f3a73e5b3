package toolbox

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/process"
)

const (
	early  = time.Second      // in which what cannot start is seen to have ended
	moving = 10 * time.Second // for a command to become a process, of which the call is over
	rows   = 40
	width  = 120
)

// lingering has c go on in the background once its time has passed, and returns
// how long its call may take.
func lingering(c *process.Command, args bashArgs) time.Duration {
	c.Linger, c.Input, c.Silence = true, true, 0
	c.Timeout = cmp.Or(time.Duration(args.Timeout)*time.Second, early)
	if args.Terminal {
		c.Terminal = &process.Size{Rows: rows, Columns: width}
	}
	return min(c.Timeout+moving, bashMax)
}

// lingers is the result of c, which goes on as a process.
func lingers(e process.Exit, c process.Command, body string, facts bashFacts) tool.Result {
	facts.Background, facts.Dir = c.Call, "."
	facts.Milliseconds = e.Took.Milliseconds()
	status := tool.Success
	if facts.Truncated {
		status = tool.Partial
	}
	return tool.Result{
		Status: status, Confined: e.Profile, Data: facts.encode(),
		Text: fmt.Sprintf("%s[it goes on in the background as %s: see Process]", body, c.Call),
	}
}

// heldBy says what holds the output of a command that has ended.
func heldBy(e process.Exit) string {
	if len(e.Holders) == 0 {
		return ""
	}
	return ": " + strings.Join(e.Holders, ", ")
}

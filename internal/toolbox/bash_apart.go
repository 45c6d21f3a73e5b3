package toolbox

import (
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/process"
)

const (
	errMax     = 2 << 10 // bytes of standard error that are shown by themselves
	brokenPipe = 128 + 13
)

// unshown returns what standard error held, where it has to be seen and the
// excerpt of all output may have left it out: a stage failed, or standard output
// is empty. It is "" where the excerpt has everything.
func unshown(e process.Exit, f bashFacts) string {
	size := f.Errors
	if !f.Truncated || size == 0 || !e.failed() && size < f.Bytes {
		return ""
	}
	t := transcript{room: errMax, most: tool.MaxLines}
	t.write(e.Err.Head)
	if e.Err.Dropped > 0 {
		t.close()
		fmt.Fprintf(writing{&t}, "[... %d bytes left out ...]\n", e.Err.Dropped)
	}
	t.write(e.Err.Tail)
	t.close()
	return fmt.Sprintf("[standard error, %d bytes:]\n", size) + t.excerpt("")
}

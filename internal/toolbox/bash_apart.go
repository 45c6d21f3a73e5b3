package toolbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/toolbox/diagnostic"
	"github.com/belay-agent/belay/internal/world/process"
)

const (
	errMax     = 2 << 10  // bytes of standard error that are shown by themselves
	brokenPipe = 128 + 13 // status of a stage whose reader had enough
)

// unshown returns what standard error held, where a stage failed and the excerpt
// of all output may have left it out. It is "" where the excerpt has everything.
func unshown(e process.Exit, f bashFacts) string {
	if !f.Truncated || f.Errors == 0 || e.Code == 0 && len(failedStages(e.Stages)) == 0 {
		return ""
	}
	t := transcript{room: errMax, most: tool.MaxLines}
	t.write(e.Err.Head)
	t.write(e.Err.Tail)
	t.close()
	return fmt.Sprintf("[of that standard error, %d bytes:]\n%s", f.Errors, t.excerpt(""))
}

// failedStages returns the stages that failed, counted from 1. One that was ended
// because the stage after it had read enough did not.
func failedStages(stages []int) (failed []int) {
	for i, status := range stages {
		if status != 0 && (status != brokenPipe || i == len(stages)-1) {
			failed = append(failed, i+1)
		}
	}
	return failed
}

// staged says how the stages of the last pipeline ended, where that is more than
// the exit status tells: an empty result of a stage that failed does not mean
// that there is nothing.
func staged(e process.Exit, c process.Command) string {
	stages := e.Stages
	if stages == nil && e.Code == 0 && e.Signal == "" && pipes(c) {
		return "[how the stages of its pipelines ended is not known: an empty result may be a failure]\n"
	}
	failed := failedStages(stages)
	if len(stages) < 2 || !slices.ContainsFunc(failed, func(n int) bool { return n < len(stages) }) {
		return ""
	}
	var all []string
	for _, status := range stages {
		all = append(all, fmt.Sprint(status))
	}
	return fmt.Sprintf("[stage %d of %d of its last pipeline failed, so what followed may have seen too little; all ended with %s]\n",
		failed[0], len(stages), strings.Join(all, ", "))
}

// pipes reports whether the script that c runs may have a pipeline of more than
// one stage.
func pipes(c process.Command) bool {
	if len(c.Argv) == 0 {
		return false
	}
	return strings.Contains(strings.ReplaceAll(c.Argv[len(c.Argv)-1], "||", ""), "|")
}

// unseen returns what a build or a test said that failed, where the excerpt of
// its output may have left it out.
func unseen(f bashFacts) string {
	text := diagnostic.Text(f.Reports, failuresMax)
	if !f.Truncated || text == "" {
		return ""
	}
	return "[what failed, out of all of that:]\n" + text
}

// aftermath says what a sandbox has to tell of a command that it held.
func aftermath(e process.Exit) string {
	text := ""
	if e.Left {
		text += "[what it left running was ended with it; background: true keeps a command running]\n"
	}
	if len(e.Made) > 0 {
		text += fmt.Sprintf("[it made %s, which other programs trust and which was not there before: say so to the user]\n",
			strings.Join(e.Made, ", "))
	}
	return text
}

package toolbox

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/process"
)

// A life is Bash in one life of a session, with what the session records.
func life(t *testing.T, spool, root string) tool.Tool {
	t.Helper()
	h, err := process.Open(spool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	o := BashOptions{Root: root, Env: []string{"PATH=" + os.Getenv("PATH")}, Silence: time.Second}
	if o.Shell, err = process.Shell(o.Env); err != nil {
		t.Fatal(err)
	}
	o.World = worldIn(t, root, o)
	return Bash(h, o)
}

// interrupted runs command in one life and settles it in the next. Where lost is
// not "", that file of its record is gone by then.
func interrupted(t *testing.T, command bashArgs, lost string) (had tool.Result, settled *tool.Result, err error) {
	t.Helper()
	spool, root := filepath.Join(t.TempDir(), "spool"), t.TempDir()
	in := bashCall(t, command)
	a, err := life(t, spool, root).Prepare(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	env := tool.Env{Spill: new(shelf).spill}
	if strings.Contains(command.Command, "be cancelled") {
		env.Live = stop(cancel)
	}
	if had, err = a.Do(ctx, env); err != nil {
		t.Fatal(err)
	}
	if lost != "" {
		if err := os.RemoveAll(filepath.Join(spool, in.Call, lost)); err != nil {
			t.Fatal(err)
		}
	}
	plan := tool.Plan{
		Call: tool.Call{ID: in.Call, Tool: "Bash", Args: in.Args}, Version: 1,
		Parts: a.Parts, Summary: a.Summary, Preview: a.Preview, Timeout: a.Timeout,
	}
	settled, err = life(t, spool, root).(tool.Settler).Settle(t.Context(), plan, a.Fingerprint)
	return had, settled, err
}

// A command that had ended is settled as it ended; all but its output is known.
func TestR075_ACommandThatEndedKeepsItsResult(t *testing.T) {
	for command, output := range map[string]string{
		"true":                                "(no output)\n[the command had ended when Belay was stopped]\n",
		"echo hi":                             "[the command had ended when Belay was stopped; its output of 3 bytes is lost]\n",
		"exit 3":                              "(no output)\n[the command had ended when Belay was stopped]\n",
		"echo hi; kill -9 $$":                 "[the command had ended when Belay was stopped; its output of 3 bytes is lost]\n",
		"yes | head -c 300000; exit 1":        "[the command had ended when Belay was stopped; its output of 300000 bytes is lost]\n",
		"no-such-cmd 2>/dev/null":             "(no output)\n[the command had ended when Belay was stopped]\n",
		"sleep 1.2":                           "(no output)\n[the command had ended when Belay was stopped]\n",
		"while :; do echo a; sleep 0.3; done": "",                                                                                // times out
		"echo a; sleep 300":                   "[the command had ended when Belay was stopped; its output of 2 bytes is lost]\n", // is silent
		"echo be cancelled; sleep 300":        "[the command had ended when Belay was stopped; its output of 13 bytes is lost]\n",
		"sleep 300 & echo hi":                 "[the command had ended when Belay was stopped; its output of 3 bytes is lost]\n[what it left running has been ended]\n",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			had, settled, err := interrupted(t, bashArgs{Command: command, Timeout: 2}, "")
			if err != nil || settled == nil {
				t.Fatalf("Settle returns %v, %v", settled, err)
			}
			text, last := settled.Text, had.Text[strings.LastIndexByte(had.Text, '\n')+1:]
			if output != "" && text != output+last || !strings.HasSuffix(text, "\n"+last) {
				t.Errorf("got %q, want %q", text, output+last)
			}
			var before, after bashFacts
			if err := json.Unmarshal(had.Data, &before); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(settled.Data, &after); err != nil {
				t.Fatal(err)
			}
			before.Dropped, before.Truncated, before.Sum = before.Bytes, before.Bytes > 0, ""
			before.Preview, before.Lines = "", 0 // which went with the output
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
			if had.Status == tool.Success && before.Bytes > 0 {
				had.Status = tool.Partial // its output is not all there
			}
			had.Text, had.Data, had.Artifacts = settled.Text, settled.Data, nil
			if diff := cmp.Diff(had, *settled); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A command that was started and left no end is unknown, and what is known of it
// is said; one that was not even started did nothing.
func TestR075_ACommandThatWasCutOff(t *testing.T) {
	t.Parallel()
	_, settled, err := interrupted(t, bashArgs{Command: "echo hi >made\necho on"}, "exit")
	want := regexp.MustCompile(`^the command \(echo hi >made \.\.\.\) was started at 2\d{3}(-\d\d){2} \d\d(:\d\d){2} UTC, and it may have happened, in whole or in part; what was left of it has been ended$`)
	if settled != nil || err == nil || !want.MatchString(err.Error()) {
		t.Errorf("without an end: %+v, %v", settled, err)
	}
	if _, settled, err = interrupted(t, bashArgs{Command: "true"}, "."); settled != nil || err != nil {
		t.Errorf("without a record: %+v, %v", settled, err)
	}
	if _, settled, err = interrupted(t, bashArgs{Command: "true"}, ".."); settled != nil || err == nil || !strings.Contains(err.Error(), "it may have happened") {
		t.Errorf("without a spool: %+v, %v", settled, err)
	}
	bash := bashIn(t, t.TempDir(), BashOptions{}).(tool.Settler)
	if r, err := bash.Settle(t.Context(), tool.Plan{Call: tool.Call{ID: "c1"}}, nil); r != nil || err == nil {
		t.Errorf("in memory: %+v, %v", r, err)
	}
}

package crash

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/journal"
)

// A story is the reference session in one place, through any number of crashes.
type story struct {
	*place
	play  string   // the script
	told  []string // lines of --json, whole ones only, of all processes
	kills []string // the marks at which it was killed
	log   string   // marks that were passed
}

// goal is what the session is asked for.
const goal = "mend the sums"

// begin tells the story until it ends or is killed. env and before kill it.
func (s *story) begin(env, before []string) (end, error) {
	return s.tell(env, before, "run", "--mode", "full", "-m", "script:"+s.play, "--json", goal)
}

// resume goes on with the story as far as it got.
func (s *story) resume(env, before []string) (end, error) {
	all, err := s.events()
	if err != nil {
		return end{}, err
	}
	if len(bodies[event.Asked](all)) == 0 {
		return s.begin(env, before)
	}
	return s.tell(env, before, "resume", "--mode", "full", "--json")
}

func (s *story) tell(env, before []string, args ...string) (end, error) {
	s.log = filepath.Join(s.top, fmt.Sprintf("marks-%d", len(s.kills)))
	e, err := s.run(append([]string{"FAILPOINT_LOG=" + s.log}, env...), before, args...)
	if err != nil {
		return e, err
	}
	for line := range strings.Lines(e.out) {
		if strings.HasSuffix(line, "\n") {
			s.told = append(s.told, line)
		}
	}
	if e.code == -1 {
		marks, _ := os.ReadFile(s.log)
		passed := strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(marks)), " ", "_"))
		last := "before any mark"
		if len(passed) > 0 {
			last = strings.ReplaceAll(passed[len(passed)-1], "_", " ")
		}
		s.kills = append(s.kills, last)
		_ = os.Remove(s.log)
	}
	return e, nil
}

// done reports whether the turn has ended by itself.
func done(all []event.Event) bool {
	stops := bodies[event.Stopped](all)
	return len(stops) > 0 && stops[len(stops)-1].Reason == "end"
}

// finish resumes until the turn has ended. What kills it once is not meant to do
// so again.
func (s *story) finish() error {
	for range 8 {
		all, err := s.events()
		if err != nil {
			return err
		}
		if done(all) {
			return nil
		}
		e, err := s.resume(nil, nil)
		if err != nil {
			return err
		}
		if e.code != 0 && e.code != 3 { // 3: what nobody was there to approve
			return fmt.Errorf("resume: %v", e)
		}
	}
	return fmt.Errorf("it did not end")
}

func (s *story) sessions() []string {
	dirs, _ := filepath.Glob(filepath.Join(s.home, ".local/state/belay/sessions/*"))
	return dirs
}

// events returns what the newest session has recorded. There is another only
// where a crash came before anything was asked.
func (s *story) events() (all []event.Event, err error) {
	dirs := s.sessions()
	for i, dir := range dirs {
		if len(bodies[event.Asked](all)) > 0 {
			return nil, fmt.Errorf("there is a session too many: %q", dirs[i])
		}
		if all, err = eventsOf(dir); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func eventsOf(dir string) ([]event.Event, error) {
	var all []event.Event
	for e, err := range journal.Read(dir) {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// bodies returns the bodies of one type.
func bodies[B event.Body](all []event.Event) []B {
	var found []B
	for _, e := range all {
		if b, ok := e.Body.(B); ok {
			found = append(found, b)
		}
	}
	return found
}

// A verdict is what a story comes to, in figures.
type verdict struct {
	calls, interrupted int
	failed             []string       // kinds of failures, in order
	unknown            map[string]int // by tool
	lost, doubled, dangling,
	other []string // what must not be
}

func (v *verdict) wrong() []string { return slices.Concat(v.lost, v.doubled, v.dangling, v.other) }

// judge compares a story that has ended with the one that was never cut.
func (s *story) judge(want *stage) (verdict, error) {
	v := verdict{unknown: make(map[string]int)}
	all, err := s.events()
	if err != nil {
		return v, err
	}
	unknown := v.judgeCalls(all)
	if s.person != nil {
		v.judgeAnswers(all)
	}
	if err := s.judgeLog(&v); err != nil {
		return v, err
	}
	files, err := s.files()
	if err != nil {
		return v, err
	}
	v.judgeFiles(files, want.files, unknown)
	n, err := s.commits()
	if err != nil {
		return v, err
	}
	v.judgeCommits(n, want.commits, unknown)
	if left := s.survivors(); len(left) > 0 {
		v.other = append(v.other, fmt.Sprintf("still running: %q", left))
	}
	return v, nil
}

// judgeCalls checks that every call has one result, and returns the commands
// whose outcome is unknown.
func (v *verdict) judgeCalls(all []event.Event) (unknown []string) {
	made := make(map[string]tool.Call)
	started := make(map[string]bool)
	ended := make(map[string]int)
	for _, e := range all {
		switch b := e.Body.(type) {
		case event.Replied:
			for _, c := range b.Message.Calls() {
				made[c.ID] = c
			}
		case event.Started:
			started[b.Call] = true
		case event.Finished:
			ended[b.Call]++
			call := made[b.Call]
			switch b.Result.Status {
			case tool.Error:
				v.failed = append(v.failed, string(b.Result.Failure.Kind))
			case tool.Interrupted:
				v.interrupted++
			case tool.Unknown:
				v.unknown[call.Tool]++
				unknown = append(unknown, string(call.Args))
				if call.Tool != "Bash" || !started[b.Call] {
					v.other = append(v.other, fmt.Sprintf("%s of %s is unknown, started %v", call.Tool, b.Call, started[b.Call]))
				}
			}
		}
	}
	for id, c := range made {
		if n := ended[id]; n != 1 {
			v.dangling = append(v.dangling, fmt.Sprintf("%s %s has %d results", id, c.Tool, n))
		}
	}
	v.calls = len(made)
	return unknown
}

// judgeAnswers checks that whoever was there was asked about every call whose
// outcome is unknown, once.
func (v *verdict) judgeAnswers(all []event.Event) {
	asked := make(map[string]int)
	for _, b := range bodies[event.Settled](all) {
		asked[b.Call]++
	}
	for _, b := range bodies[event.Finished](all) {
		if n := asked[b.Call]; b.Result.Status == tool.Unknown && n != 1 {
			v.other = append(v.other, fmt.Sprintf("%s is unknown, and a person was asked about it %d times", b.Call, n))
		}
	}
}

// judgeLog checks that the logs hold all that was told, and that belay log finds
// nothing wrong.
func (s *story) judgeLog(v *verdict) error {
	shown, err := s.run(nil, nil, "log")
	if err != nil {
		return err
	}
	if shown.code != 0 || shown.err != "" {
		v.other = append(v.other, "belay log: "+shown.String())
	}
	kept := make(map[string]bool)
	for _, dir := range s.sessions() {
		all, err := eventsOf(dir)
		if err != nil {
			return err
		}
		for _, e := range all {
			line, err := event.Encode(e, 0)
			if err != nil {
				return err
			}
			key, err := fact(string(line))
			if err != nil {
				return err
			}
			kept[key] = true
		}
	}
	for _, line := range s.told {
		key, err := fact(line)
		if err != nil {
			return err
		}
		if !kept[key] {
			v.lost = append(v.lost, fmt.Sprintf("told but not in the log: %.400s", line))
		}
	}
	return nil
}

// fact returns what an event says, in a form in which lines of the log and of
// --json can be compared: the latter know nothing of epochs, and add the
// circumstances of a result.
func fact(line string) (string, error) {
	var e struct {
		Seq  int64          `json:"q"`
		Type string         `json:"t"`
		Time string         `json:"ts"`
		Body map[string]any `json:"b"`
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		return "", fmt.Errorf("%.200s: %w", line, err)
	}
	if result, ok := e.Body["result"].(map[string]any); ok {
		delete(result, "context")
		if metrics, ok := result["metrics"].(map[string]any); ok && metrics["duration_ms"] == 0.0 {
			delete(result, "metrics") // of what never ran
		}
	}
	b, err := json.Marshal(e.Body)
	return fmt.Sprint(e.Seq, e.Type, e.Time, string(b)), err
}

// judgeFiles compares the files, but for what commands of unknown outcome may
// have done or not.
func (v *verdict) judgeFiles(files, want map[string]string, unknown []string) {
	free := func(name string) bool {
		return slices.ContainsFunc(unknown, func(args string) bool { return strings.Contains(args, name) })
	}
	for name, content := range files {
		switch expected, known := want[name]; {
		case strings.Count(content, "x\n") > 1 && strings.HasPrefix(name, "counter-"):
			v.doubled = append(v.doubled, fmt.Sprintf("%s has %q", name, content))
		case content != expected && !free(name):
			v.other = append(v.other, fmt.Sprintf("%s is %q, want %q", name, content, expected))
		case !known:
			v.other = append(v.other, "left behind: "+name)
		}
	}
	for name := range want {
		if _, there := files[name]; !there && !free(name) {
			v.other = append(v.other, "missing: "+name)
		}
	}
}

// judgeCommits compares how many there are.
func (v *verdict) judgeCommits(n, want int, unknown []string) {
	if n > want {
		v.doubled = append(v.doubled, fmt.Sprintf("%d commits", n))
	}
	free := slices.ContainsFunc(unknown, func(args string) bool { return strings.Contains(args, "git") })
	if n < want && !free {
		v.other = append(v.other, "a commit is missing")
	}
}

// commits counts those that the repository has.
func (s *story) commits() (int, error) {
	c := exec.Command("git", "log", "--format=%s")
	c.Dir = s.dir
	out, err := c.Output()
	if err != nil {
		return 0, fmt.Errorf("git log: %w", err)
	}
	return strings.Count(string(out), "\n"), nil
}

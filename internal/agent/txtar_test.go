package agent_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/toolbox"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/provider"
	"github.com/belay-agent/belay/internal/world/workspace"
)

var update = flag.Bool("update", false, "rewrite what the sessions in testdata expect")

// TestSessions plays whole sessions, one for each archive in testdata, with the
// real tools, workspace, processes and journal. An archive holds
//
//	options            lines "key: value", see script.option
//	input              what the user says: a line is a turn
//	w/PATH             the workspace
//	step ...           the model's side, as docs/rehearsal.md has it
//	interfere cN PATH  a file that the user writes just before call cN acts,
//	                   or with turnN before that turn
//	steer cN           what the user says while call cN acts
//	events             what is to be recorded, an event a line, see story
//	result cN          the whole text of a result, for those worth looking at
//	after/PATH         the files of the workspace that differ in the end
//
// The last three are what -update rewrites; of results those that are there.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			played := play(t, parse(t, archive))
			got := played.archive(archive)
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("what happened is not what was expected (-want +got):\n%s", diff)
			}
		})
	}
}

// TestR005_NothingOptionalIsOn: no sub-agents, no planner, no second model. The
// sessions above run with exactly this.
func TestR005_NothingOptionalIsOn(t *testing.T) {
	played := play(t, script{
		mode: policy.ModeFull, inputs: []string{"hello"}, steps: []byte("-- step --\nsay: Hello.\n"),
	})
	opened, ok := played.events[0].Body.(event.Opened)
	if !ok {
		t.Fatalf("the first event is %+v", played.events[0].Body)
	}
	var offered []string
	for _, spec := range opened.Tools {
		offered = append(offered, spec.Name)
	}
	want := []string{"LS", "Glob", "Grep", "Read", "Write", "Edit", "MultiEdit", "Rename", "Bash", "Process", "Test", "Todo"}
	if diff := cmp.Diff(want, offered); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("opened mode full\nasked hello\nreplied end: Hello.\nstopped end\n", played.story()); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}

// TestR006_HoldsOverManySteps makes 40 changes, each of which needs what the one
// before it came to, while every request repeats the one before it.
func TestR006_HoldsOverManySteps(t *testing.T) {
	const changes = 40
	var steps strings.Builder
	steps.WriteString("-- step --\ncall: Read {\"path\": \"n\"}\n-- step --\nexpect: result /^1\\t(?P<n>0)$/\n")
	for i := 1; i <= changes; i++ {
		fmt.Fprintf(&steps, "call: Edit {\"path\": \"n\", \"old\": \"${n}\\n\", \"new\": \"%d\\n\"}\n", i)
		fmt.Fprintf(&steps, "-- step %d --\nexpect: not error\nexpect: result /(?m)^\\+(?P<n>%d)$/\n", i, i)
	}
	steps.WriteString("say: It is ${n} now.\n")
	played := play(t, script{
		mode: policy.ModeFull, inputs: []string{"count"}, steps: []byte(steps.String()),
		workspace: map[string]string{"n": "0\n", "other": "untouched\n"},
	})
	if err := played.errs[0]; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"n": "40\n", "other": "untouched\n"}, played.after); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}
	var before event.Sent
	requests := 0
	for _, e := range played.events {
		sent, ok := e.Body.(event.Sent)
		if !ok {
			continue
		}
		// The end of the messages, of the request, and what is for one step alone: the
		// type of the task.
		const end = len("]}") + len(`,{"role":"user","parts":[{"type":"text","text":""}]}`) +
			len("[task, by the newest words of the user: look. Find out and answer; nothing is to change unless they say so.]")
		if requests > 0 && sent.Repeats < before.Bytes-end {
			t.Errorf("request %d repeats %d bytes of the %d before it", requests+1, sent.Repeats, before.Bytes)
		}
		before = sent
		requests++
	}
	if want := changes + 2; requests != want {
		t.Errorf("%d requests, want %d", requests, want)
	}
}

// A script is an archive, taken apart.
type script struct {
	mode      policy.Mode
	limits    agent.Limits
	bounds    map[string]int // what must not be exceeded: calls, steps, tokens
	answers   []agent.Answer // to the questions, in order
	approver  bool
	inputs    []string
	workspace map[string]string
	steps     []byte
	meddling  map[string][]txtar.File // what the user does, by when: "c1", "turn2"
	steering  map[string]string       // what the user says, by call
}

func parse(t *testing.T, archive *txtar.Archive) script {
	t.Helper()
	s := script{
		mode: policy.ModeFull, bounds: make(map[string]int), workspace: make(map[string]string),
		meddling: make(map[string][]txtar.File), steering: make(map[string]string),
	}
	var steps txtar.Archive
	for _, f := range archive.Files {
		kind, rest, _ := strings.Cut(f.Name, " ")
		switch {
		case kind == "options":
			for line := range strings.Lines(string(f.Data)) {
				s.option(t, strings.TrimSpace(line))
			}
		case kind == "input":
			s.inputs = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		case kind == "step":
			steps.Files = append(steps.Files, f)
		case kind == "interfere":
			when, path, _ := strings.Cut(rest, " ")
			s.meddling[when] = append(s.meddling[when], txtar.File{Name: path, Data: f.Data})
		case kind == "steer":
			s.steering[rest] = strings.TrimSpace(string(f.Data))
		case strings.HasPrefix(f.Name, "w/"):
			s.workspace[strings.TrimPrefix(f.Name, "w/")] = string(f.Data)
		case kind == "events", kind == "result", strings.HasPrefix(f.Name, "after/"):
		default:
			t.Fatalf("%q is no part of a session", f.Name)
		}
	}
	s.steps = txtar.Format(&steps)
	return s
}

// option takes a line such as "mode: ask", "steps: 3", "approve: allow",
// "approve: deny not this", or a bound such as "at most: 4 calls".
func (s *script) option(t *testing.T, line string) {
	t.Helper()
	key, value, _ := strings.Cut(line, ": ")
	number, unit, _ := strings.Cut(value, " ")
	n, err := strconv.Atoi(number)
	switch {
	case key == "mode":
		s.mode = policy.Mode(value)
	case key == "steps" && err == nil:
		s.limits.Steps = n
	case key == "approve":
		s.approver = true
		verdict, reason, _ := strings.Cut(value, " ")
		s.answers = append(s.answers, agent.Answer{Allow: verdict == "allow", Reason: reason})
	case key == "at most" && err == nil:
		s.bounds[unit] = n
	default:
		t.Fatalf("option %q is not known", line)
	}
}

// A record is what came of a script.
type record struct {
	root   string
	events []event.Event
	errs   []error
	before map[string]string
	after  map[string]string
}

func play(t *testing.T, s script) *record {
	t.Helper()
	root, kept := t.TempDir(), t.TempDir()
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) // the same for all: Grep puts newer files first
	for path, text := range s.workspace {
		write(t, root, path, text)
		if err := os.Chtimes(filepath.Join(root, path), old, old); err != nil {
			t.Fatal(err)
		}
	}
	r := &record{root: root, before: s.workspace}
	j, err := journal.Open(kept, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	options := s.options(t, r, j)
	var a *agent.Agent
	options.Before = func(_ context.Context, call string, _ effect.Set) error {
		for _, f := range s.meddling[call] {
			write(t, root, f.Name, string(f.Data))
		}
		if text, ok := s.steering[call]; ok && !a.Steer(agent.Input{Text: text}) {
			t.Errorf("%q was said too late", text)
		}
		return nil
	}
	if a, err = agent.Open(t.Context(), new(session.State), options); err != nil {
		t.Fatal(err)
	}
	for i, input := range s.inputs {
		for _, f := range s.meddling[fmt.Sprintf("turn%d", i+1)] {
			write(t, root, f.Name, string(f.Data))
		}
		r.errs = append(r.errs, a.Turn(t.Context(), agent.Input{Text: input}))
	}
	r.after = tree(t, root)
	r.checkJournal(t, j, kept)
	r.checkCalls(t)
	r.checkBounds(t, s.bounds)
	if len(s.meddling) == 0 {
		r.checkPatches(t)
	}
	return r
}

// options are what belay itself runs with, without its settings.
func (s *script) options(t *testing.T, r *record, j *journal.Journal) agent.Options {
	t.Helper()
	w, err := workspace.Open(r.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	host, err := process.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	shell, err := process.Shell(env)
	if err != nil {
		t.Fatal(err)
	}
	rehearsed, err := provider.NewRehearsed(t.Name(), s.steps)
	if err != nil {
		t.Fatal(err)
	}
	o := agent.Options{
		Journal: j, Provider: rehearsed,
		Tools: toolbox.All(toolbox.Options{
			Workspace: w, Host: host, Bash: toolbox.BashOptions{Root: w.Root(), Env: env, Shell: shell},
		}),
		Session: event.Opened{Session: t.Name(), Root: w.Root(), Mode: string(s.mode)},
		Policy:  policy.Policy{Mode: s.mode},
		Limits:  s.limits,
		Rules: func(_ context.Context, paths []string) ([]event.Ruled, error) {
			files, err := w.RuleFiles(paths...)
			var ruled []event.Ruled
			for _, f := range files {
				ruled = append(ruled, event.Ruled{Path: f.Path, Digest: f.Digest, Text: f.Content, Left: f.Left})
			}
			return ruled, err
		},
		Observe: func(signal agent.Signal) {
			if x, ok := signal.(agent.Recorded); ok {
				r.events = append(r.events, x.Event)
			}
		},
	}
	if s.approver {
		o.Approve = func(context.Context, agent.Question) (agent.Answer, error) {
			if len(s.answers) == 0 {
				return agent.Answer{}, fmt.Errorf("the session has no more answers")
			}
			answer := s.answers[0]
			s.answers = s.answers[1:]
			return answer, nil
		}
	}
	return o
}

func write(t *testing.T, root, path, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Error(err)
	}
}

// tree returns the files below root.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(root, path))
		all[path] = string(bytes.Clone(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

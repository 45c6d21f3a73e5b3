package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// longBound is the longest that one run of a long session may take.
const longBound = 5 * time.Minute

// A plodder is a model behind an API that makes one call after another, as planned,
// and keeps every request for a step.
type plodder struct {
	t    *testing.T
	d    modeltest.Dialect
	mu   sync.Mutex
	plan []modeltest.Reply
	sent [][]byte
}

func (p *plodder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, p.d.Stream(p.d.Events(p.next(body))))
}

func (p *plodder) next(body []byte) modeltest.Reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	used := model.Usage{Input: len(body) / 4, Output: 20}
	c, err := p.d.Parse(body)
	if err == nil {
		err = modeltest.Strict(c, nil)
	}
	if err != nil {
		p.t.Errorf("a request that a strict server refuses: %v", err)
	}
	if len(c.Tools) == 0 { // it is asked for notes
		return modeltest.Reply{Text: `{"notes": []}`, Stop: model.End, Usage: used}
	}
	p.sent = append(p.sent, body)
	if len(p.plan) == 0 {
		return modeltest.Reply{Text: "there is nothing left to do", Stop: model.End, Usage: used}
	}
	reply := p.plan[0]
	p.plan = p.plan[1:]
	reply.Usage = used
	return reply
}

// heard returns the requests so far, and how many replies are left.
func (p *plodder) heard() (sent [][]byte, left int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent), len(p.plan)
}

// run runs belay with p behind it.
func (p *plodder) run(t *testing.T, at *place, args ...string) end {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longBound)
	defer cancel()
	c := at.command(t, args...)
	long := exec.CommandContext(ctx, c.Path, c.Args[1:]...)
	long.Dir, long.Env, long.WaitDelay = c.Dir, c.Env, c.WaitDelay
	return finish(t, long)
}

// TestR245_ALongSessionStaysItself: over hundreds of steps and many compactions every
// request offers the same tools, byte for byte, begins with the same prompt and
// rules, and has the words of the turn and every constraint that was said; those that
// code can keep are kept at the end; and whatever the model says last, the report names
// each file that is not as it was, and how.
func TestR245_ALongSessionStaysItself(t *testing.T) {
	eachDialect(t, func(t *testing.T, d modeltest.Dialect) {
		const files = 75 // of each turn
		p := newPlace(t)
		p.write(t, "AGENTS.md", "Values are written without spaces.\n")
		p.write(t, "vendor/lib.conf", "value=0\n")
		p.write(t, "locked.ini", "value=0\n")
		p.write(t, "../home/.config/belay/models.toml", "[models.\"openai/m\"]\nwindow = 24000\noutput = 2000\n[models.\"anthropic/m\"]\nwindow = 24000\noutput = 2000\n")
		for i := range 2 * files {
			filler := strings.Repeat(fmt.Sprintf("# what value %d is for\n", i), 100)
			p.write(t, fmt.Sprintf("src/%d.conf", i), filler+"value=0\n")
		}
		before := contents(t, p.dir)

		say := func(text string) modeltest.Reply { return modeltest.Reply{Text: text, Stop: model.End} }
		call := func(name, format string, a ...any) modeltest.Reply {
			return modeltest.Reply{Calls: []modeltest.Call{{Tool: name, Args: fmt.Sprintf(format, a...)}}, Stop: model.Calls}
		}
		work := func(from int) (plan []modeltest.Reply) {
			for i := from; i < from+files; i++ {
				file := fmt.Sprintf("src/%d.conf", i)
				plan = append(plan, call("Read", `{"path":%q}`, file), call("Edit", `{"path":%q,"old":"value=0","new":"value=%d"}`, file, i+1))
			}
			return plan
		}
		w := &plodder{t: t, d: d}
		w.plan = slices.Concat(work(0), []modeltest.Reply{
			call("Write", `{"path":"made.conf","content":"value=1\nvalue=2\n"}`), say("Done."),
		}, work(files), []modeltest.Reply{
			call("Read", `{"path":"vendor/lib.conf"}`), call("Edit", `{"path":"vendor/lib.conf","old":"value=0","new":"value=1"}`),
			call("Read", `{"path":"locked.ini"}`), call("Edit", `{"path":"locked.ini","old":"value=0","new":"value=1"}`),
			call("Bash", `{"command":"git push"}`),
			say("Done."),
		})
		server := httptest.NewServer(w)
		defer server.Close()
		p.env = append(p.env, "OPENAI_BASE_URL="+server.URL, "ANTHROPIC_BASE_URL="+server.URL)
		maker := map[string]string{"chat": "openai", "messages": "anthropic"}[d.Name]

		constraints := []string{"Do not touch anything in vendor/.", "Never run git push.", "Keep the names of the values as they are."}
		goal := "Set the values in src one after another."
		w.run(t, p, "run", "--mode", "full", "--max-steps", "1000", "-m", maker+"/m", goal+" "+strings.Join(constraints, " ")).wants(t, 0)
		first, _ := w.heard()
		more, late := "Set the other half of them too.", "And do not change locked.ini."
		last := w.run(t, p, "resume", "--mode", "full", "--max-steps", "1000", "-m", maker+"/m", more+" "+late)
		last.wants(t, 0)
		sent, left := w.heard()
		if left > 0 {
			t.Errorf("%d replies of the plan were not asked for", left)
		}

		steps, compactions, refused := w.measure(t, p)
		t.Logf("%d steps, %d compactions", steps, compactions)
		if steps < 300 || compactions < 10 {
			t.Errorf("%d steps and %d compactions: this proves little", steps, compactions)
		}
		w.same(t, sent[:len(first)], slices.Concat(constraints, []string{goal}))
		w.same(t, sent[len(first):], slices.Concat(constraints, []string{late, more}))
		if d := gocmp.Diff([]string{"Bash denied", "Edit denied", "Edit denied"}, refused); d != "" {
			t.Errorf("what was kept to at the end (-want +got):\n%s", d)
		}
		w.reported(t, p, before, contents(t, p.dir), last)
	})
}

// measure counts replies and compactions of the session, and names what was denied.
func (p *plodder) measure(t *testing.T, at *place) (steps, compactions int, denied []string) {
	tools := make(map[string]string)
	for _, e := range at.events(t) {
		switch b := e.Body.(type) {
		case event.Replied:
			steps++
			for _, c := range b.Message.Calls() {
				tools[c.ID] = c.Tool
			}
		case event.Compacted:
			if b.Handoff != "" {
				compactions++
			}
		case event.Finished:
			if f := b.Result.Failure; f != nil {
				denied = append(denied, tools[b.Call]+" "+string(f.Kind))
			}
		}
	}
	slices.Sort(denied)
	return steps, compactions, denied
}

// same compares requests with the first of all: the tools, the prompt and the project's
// rules are the same bytes. Each request has all of the words.
func (p *plodder) same(t *testing.T, requests [][]byte, words []string) {
	t.Helper()
	var first struct{ Tools json.RawMessage }
	sent, _ := p.heard()
	if err := json.Unmarshal(sent[0], &first); err != nil || len(first.Tools) < 1000 {
		t.Fatalf("tools of the first request: %d bytes, %v", len(first.Tools), err)
	}
	head, err := p.d.Parse(sent[0])
	if err != nil || !strings.Contains(head.System, "Values are written without spaces.") {
		t.Fatalf("the system prompt of the first request: %q, %v", head.System, err)
	}
	prompt, _, _ := strings.Cut(head.System, "\n# Constraints\n")
	for i, body := range requests {
		var r struct{ Tools json.RawMessage }
		if err := json.Unmarshal(body, &r); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.Tools, first.Tools) {
			t.Errorf("request %d of its turn offers other tools than the first: %s", i+1, r.Tools)
		}
		c, err := p.d.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(c.System, prompt) {
			t.Errorf("request %d of its turn begins with another prompt", i+1)
		}
		text := c.System
		for _, turn := range c.Turns {
			for _, b := range turn.Blocks {
				text += "\n" + b.Text
			}
		}
		for _, w := range words {
			if w = strings.TrimSuffix(w, "."); !strings.Contains(text, w) && !strings.Contains(text, strings.TrimPrefix(w, "And ")) {
				t.Errorf("request %d of %d of its turn has forgotten %q", i+1, len(requests), w)
			}
		}
	}
}

// reported holds what belay reports of the whole session to what is on disk.
func (p *plodder) reported(t *testing.T, at *place, before, after map[string]string, last end) {
	t.Helper()
	type change struct {
		Path    string `json:"path"`
		Kind    string `json:"kind"`
		Added   int    `json:"added"`
		Removed int    `json:"removed"`
	}
	var want []change
	for path, now := range after {
		switch was, there := before[path]; {
		case !there:
			want = append(want, change{path, "created", strings.Count(now, "\n"), 0})
		case was != now:
			want = append(want, change{path, "changed", 1, 1})
		}
	}
	var got struct {
		Changes []change `json:"changes"`
		Answer  string   `json:"answer"`
	}
	report := at.run(t, "report", "--json")
	if err := json.Unmarshal([]byte(report.out), &got); err != nil {
		t.Fatalf("%v: %s%s", err, report.out, report.err)
	}
	byPath := func(a, b change) int { return cmp.Compare(a.Path, b.Path) }
	slices.SortFunc(want, byPath)
	slices.SortFunc(got.Changes, byPath)
	if d := gocmp.Diff(want, got.Changes); d != "" || len(want) < 100 {
		t.Errorf("%d changes (-on disk +reported):\n%s", len(want), d)
	}
	if got.Answer != "Done." {
		t.Errorf("the model ended with %q, want the laziest of answers", got.Answer)
	}
	full := at.run(t, "report").out
	for _, c := range want {
		line := fmt.Sprintf("· %s %s +%d -%d (c", c.Kind, c.Path, c.Added, c.Removed)
		if !strings.Contains(full, line) {
			t.Errorf("the report has no line %q", line)
		}
	}
	for _, line := range []string{"· changed src/75.conf +1 -1 (c", "· and 69 more files\n", "left open: Edit vendor/lib.conf"} {
		if !strings.Contains(last.err, line) {
			t.Errorf("at the end of the turn nothing says %q:\n%s", line, last.err)
		}
	}
}

// contents returns the files below dir, by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(file)
		rel, relErr := filepath.Rel(dir, file)
		files[filepath.ToSlash(rel)] = string(b)
		return cmp.Or(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

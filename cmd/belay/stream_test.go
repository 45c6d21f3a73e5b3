package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// eachDialect runs f with belay pointed at nothing yet, for every API.
func eachDialect(t *testing.T, f func(t *testing.T, d modeltest.Dialect)) {
	for _, d := range []modeltest.Dialect{modeltest.Chat(), modeltest.Messages()} {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			f(t, d)
		})
	}
}

// reach points p to a strict server that speaks d, and returns what --model
// wants. The test fails if the server has to complain.
func (p *place) reach(t *testing.T, d modeltest.Dialect, own []modeltest.Reply, responses ...modeltest.Response) (*modeltest.Server, string) {
	t.Helper()
	s := modeltest.Serve(t, d, own, responses...)
	p.env = append(p.env, "OPENAI_BASE_URL="+s.URL, "ANTHROPIC_BASE_URL="+s.URL)
	if d.Name == "messages" {
		return s, "anthropic/m"
	}
	return s, "openai/m"
}

// whole is the response that gives all of a reply.
func whole(d modeltest.Dialect, r modeltest.Reply) modeltest.Response {
	return modeltest.Response{Body: d.Stream(d.Events(r))}
}

func says(text string) modeltest.Reply {
	return modeltest.Reply{Text: text, Stop: model.End, Usage: model.Usage{Input: 10, Output: 5}}
}

func calls(name, args string) modeltest.Reply {
	return modeltest.Reply{Calls: []modeltest.Call{{Tool: name, Args: args}}, Stop: model.Calls, Usage: model.Usage{Input: 10, Output: 5}}
}

// P02: arguments that the output limit cut run nothing, whatever they look like;
// the model is told to split, and is not asked for ever.
func TestBug_P02_LengthStop(t *testing.T) {
	for name, args := range map[string]string{
		"in a string":      `{"path":"half.txt","content":"half`,
		"complete-looking": `{"path":"half.txt","content":"half"}`,
	} {
		t.Run(name, func(t *testing.T) {
			eachDialect(t, func(t *testing.T, d modeltest.Dialect) {
				r := calls("Write", args)
				r.Stop = model.Length
				p := newPlace(t)
				s, m := p.reach(t, d, nil, whole(d, r), whole(d, r), whole(d, r))
				e := p.run(t, "run", "--mode", "full", "-m", m, "write")
				e.wants(t, 4)
				if !strings.Contains(e.err, "belay: 3 replies in a row were cut off by the output limit of the model") {
					t.Errorf("stderr: %s", e.err)
				}
				if p.exists("half.txt") {
					t.Error("half a file was written")
				}
				want := map[string]string{"c1": "error invalid", "c2": "error invalid", "c3": "error invalid"}
				if diff := cmp.Diff(want, outcomes(t, p.events(t))); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				if sent := s.Bodies(); len(sent) != 3 || !strings.Contains(sent[1], "split the call into smaller ones") {
					t.Errorf("%d requests; the second: %s", len(sent), sent[len(sent)-1])
				}
			})
		})
	}
}

// The limit of dollars counts what the model's price makes of its usage.
func TestMaxCost(t *testing.T) {
	t.Parallel()
	d := modeltest.Chat()
	r := calls("LS", `{}`)
	r.Usage = model.Usage{Input: 100_000, Output: 1000}
	p := newPlace(t)
	s, _ := p.reach(t, d, nil, whole(d, r), whole(d, r), whole(d, r))
	e := p.run(t, "run", "-m", "openai/gpt-5.4-mini", "--max-cost", "0.10", "look")
	e.wants(t, 4)
	if !strings.Contains(e.err, "belay: the turn reached its limit of $0.10\n") {
		t.Errorf("stderr: %s", e.err)
	}
	var cost int64
	for _, r := range bodies[event.Replied](p.events(t)) {
		cost += r.Cost
	}
	if n := int64(len(s.Bodies())); cost < 10_000_000 || cost-cost/n >= 10_000_000 {
		t.Errorf("stopped after %d requests at %d micro-cents", n, cost)
	}
}

// P04: a connection that closes before the end of the reply is no end of the
// turn: nothing of it runs, what had come is kept and marked, and the model is told
// to go on. Where that happens again and again the run fails, and the session goes on.
func TestBug_P04_SilentCut(t *testing.T) {
	touch := calls("Bash", `{"command":"touch ran"}`)
	touch.Text, touch.Stop = strings.Repeat("x", 150), model.Cut
	for name, cut := range map[string]func(modeltest.Dialect) modeltest.Response{
		"after 30 deltas": func(d modeltest.Dialect) modeltest.Response {
			long := says(strings.Repeat("x", 1000))
			return modeltest.Response{Body: d.Stream(d.Events(long)[:32])}
		},
		"in an event": func(d modeltest.Dialect) modeltest.Response {
			body := d.Stream(d.Events(says(strings.Repeat("x", 1000))))
			return modeltest.Response{Body: body[:strings.Index(body[4000:], "data:")+4000+20]}
		},
		"in a character": func(d modeltest.Dialect) modeltest.Response {
			body := d.Stream(d.Events(says("xxxxx" + strings.Repeat("語", 30))))
			return modeltest.Response{Body: body[:strings.Index(body, "語")+1]}
		},
		"after a whole call": func(d modeltest.Dialect) modeltest.Response {
			return whole(d, touch)
		},
		"without the last chunk": func(d modeltest.Dialect) modeltest.Response {
			return modeltest.Response{Body: d.Stream(d.Events(says(strings.Repeat("x", 150)))[:20]), Abort: true}
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachDialect(t, func(t *testing.T, d modeltest.Dialect) {
				p := newPlace(t)
				s, m := p.reach(t, d, nil, cut(d), cut(d), cut(d), cut(d), whole(d, says("whole")))
				e := p.run(t, "run", "--mode", "full", "-m", m, "write")
				e.wants(t, 5)
				all := p.events(t)
				replies := bodies[event.Replied](all)
				if len(replies) != 4 {
					t.Errorf("%d replies are kept", len(replies))
				}
				for _, r := range replies {
					if r.Stop != model.Cut || !strings.HasPrefix(r.Message.Text(), "xxxxx") {
						t.Errorf("kept: %+v", r)
					}
				}
				if sent := s.Bodies(); len(sent) != 4 || !strings.Contains(sent[1], "your last answer was cut off; go on") {
					t.Errorf("%d requests; the second: %s", len(sent), sent[len(sent)-1])
				}
				if len(outcomes(t, all)) > 0 || p.exists("ran") {
					t.Error("a call of it ran")
				}
				if got := lastStop(all); got != "error" {
					t.Errorf("the turn ended with %q", got)
				}
				e = p.run(t, "resume", "go on")
				e.wants(t, 0)
				if e.out != "whole\n" {
					t.Errorf("answer: %q", e.out)
				}
			})
		})
	}
}

// P04: one cut does not end the turn; the answer is the whole of it.
func TestBug_P04_OneCut(t *testing.T) {
	eachDialect(t, func(t *testing.T, d modeltest.Dialect) {
		p := newPlace(t)
		_, m := p.reach(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(says(strings.Repeat("x", 150)))[:20]), Abort: true}, whole(d, says("whole")))
		e := p.run(t, "run", "-m", m, "hello")
		e.wants(t, 0)
		if !strings.HasPrefix(e.out, "xxx") || !strings.HasSuffix(e.out, "\nwhole\n") || !strings.Contains(e.err, "asking again") {
			t.Errorf("stdout %q, stderr %q", e.out, e.err)
		}
		if got := lastStop(p.events(t)); got != "end" {
			t.Errorf("the turn ended with %q", got)
		}
	})
}

// P04: nothing had come yet: the request is sent once more, and the turn is whole.
func TestBug_P04_CutBeforeAnything(t *testing.T) {
	eachDialect(t, func(t *testing.T, d modeltest.Dialect) {
		p := newPlace(t)
		s, m := p.reach(t, d, nil, modeltest.Response{}, whole(d, says("whole")))
		e := p.run(t, "run", "-m", m, "hello")
		e.wants(t, 0)
		if e.out != "whole\n" || !strings.Contains(e.err, "asking again") {
			t.Errorf("stdout %q, stderr %q", e.out, e.err)
		}
		if sent := s.Bodies(); len(sent) != 2 || sent[0] != sent[1] {
			t.Errorf("%d requests, want the same one twice", len(sent))
		}
		if n := len(bodies[event.Asked](p.events(t))); n != 1 {
			t.Errorf("the user spoke %d times", n)
		}
	})
}

// P07: turns without words and commands without output leave nothing empty in
// the requests that follow, and each call its result.
func TestBug_P07_NothingToSay(t *testing.T) {
	eachDialect(t, func(t *testing.T, d modeltest.Dialect) {
		silent := modeltest.Reply{Think: "hm", Stop: model.End, Usage: model.Usage{Input: 10, Output: 5}}
		p := newPlace(t)
		_, m := p.reach(t, d, []modeltest.Reply{silent},
			whole(d, silent), whole(d, calls("Bash", `{"command":"true"}`)), whole(d, calls("Bash", `{"command":"touch z"}`)),
			whole(d, says("done")), whole(d, says("done again")))
		e := p.run(t, "run", "--mode", "full", "-m", m, "think")
		e.wants(t, 5)
		if !strings.Contains(e.err, "belay: the model ended its turn without an answer") {
			t.Errorf("stderr: %s", e.err)
		}
		p.run(t, "resume", "--mode", "full", "run").wants(t, 0)
		p.run(t, "resume", "and again").wants(t, 0)
		all := p.events(t)
		if diff := cmp.Diff(map[string]string{"c1": "success", "c2": "success"}, outcomes(t, all)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		if !p.exists("z") {
			t.Error("z was not touched")
		}
		for _, f := range bodies[event.Finished](all) {
			if !strings.Contains(f.Result.Text, "exit status 0") {
				t.Errorf("result of %s: %q", f.Call, f.Result.Text)
			}
		}
	})
}

// F01: commands get the usual variables and what the user passes, and no key.
// What is a key is masked in the log, the artifacts and what the model gets,
// wherever a command has it from.
func TestBug_F01_KeysStayWithBelay(t *testing.T) {
	const key, pat, github = "sk-proj-Zx81kQpL0aB3cD4eF5", "ghp_R4nD0mT0kenForTheTest12", "ghp_N0tForTheModelAtAll4567"
	eachDialect(t, func(t *testing.T, d modeltest.Dialect) {
		p := newPlace(t)
		p.env = []string{
			"OPENAI_API_KEY=" + key, "ANTHROPIC_API_KEY=" + key, "GH_TOKEN=" + github, "MY_PAT=" + pat,
			"LD_PRELOAD=", "BELAY_X=internal", "GIT_DIR=/nowhere", "HTTPS_PROXY=http://proxy.invalid:3128", "LANG=C.UTF-8",
		}
		p.write(t, "../home/.config/belay/config.toml", "[env]\npass = [\"MY_PAT\"]\n")
		p.write(t, "../key", key+"\n")
		p.write(t, "hooks/pre-commit", "#!/bin/sh\nenv > hook.env\n")
		if err := os.Chmod(filepath.Join(p.dir, "hooks/pre-commit"), 0o755); err != nil {
			t.Fatal(err)
		}
		const commit = `git init -q . && git config core.hooksPath hooks && git add hooks &&` +
			` git -c user.name=n -c user.email=e@example.com commit -q -m hooked && test -s hook.env`
		s, m := p.reach(t, d, nil,
			whole(d, calls("Bash", `{"command":"env"}`)),
			whole(d, calls("Bash", `{"command":"`+commit+`"}`)),
			whole(d, calls("Bash", `{"command":"yes \"$(cat ../key) $MY_PAT\" | head -n 3000; cat ../key >&2; exit 3"}`)),
			whole(d, calls("Read", `{"path":"hook.env"}`)),
			whole(d, says("done")))
		e := p.run(t, "run", "-v", "--mode", "full", "-m", m, "leak")
		e.wants(t, 0)
		all := p.events(t)
		want := map[string]string{"c1": "success", "c2": "success", "c3": "error nonzero_exit", "c4": "success"}
		if diff := cmp.Diff(want, outcomes(t, all)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}

		hook, err := os.ReadFile(filepath.Join(p.dir, "hook.env"))
		if err != nil {
			t.Fatal(err)
		}
		for where, env := range map[string]string{"env": resultOf(t, all, "c1").Text, "the hook": string(hook)} {
			for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GH_TOKEN", "LD_PRELOAD", "BELAY_X", "GORACE"} {
				if strings.Contains("\n"+env, "\n"+name+"=") {
					t.Errorf("%s shows %s", where, name)
				}
			}
			for _, name := range []string{"PATH", "HOME", "LANG", "HTTPS_PROXY", "MY_PAT"} {
				if !strings.Contains("\n"+env, "\n"+name+"=") {
					t.Errorf("%s does not show %s", where, name)
				}
			}
		}
		kept := ""
		err = filepath.WalkDir(p.sessions(), func(file string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() == "undo" { // the workspace's own bytes, which come back as they were
				return filepath.SkipDir
			}
			if err != nil || entry.IsDir() {
				return err
			}
			b, err := os.ReadFile(file)
			kept += string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(bodies[event.Finished](all)[2].Result.Artifacts) == 0 {
			t.Error("the long output is no artifact")
		}
		for where, text := range map[string]string{
			"the session": kept, "a request": strings.Join(s.Bodies(), ""), "stdout": e.out, "stderr": e.err,
		} {
			for _, secret := range []string{key, pat} {
				if i := strings.Index(text, secret); i >= 0 {
					t.Errorf("%s has %s: %.200q", where, secret, text[max(0, i-100):])
				}
			}
		}
	})
}

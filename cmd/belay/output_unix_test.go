//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
)

// U02: where a stream is no terminal, no escape sequence is written to it,
// whatever the environment says and whatever model, tools and files do.
func TestBug_U02_NoTerminal(t *testing.T) {
	for name, env := range map[string][]string{
		"usual":    {"TERM=xterm-256color", "COLORTERM=truecolor"},
		"no TERM":  nil,
		"dumb":     {"TERM=dumb"},
		"NO_COLOR": {"TERM=xterm", "NO_COLOR=1"},
		"forced":   {"TERM=xterm", "CLICOLOR_FORCE=1", "FORCE_COLOR=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.env = env
			p.write(t, "a.txt", "one \x1b[31mred\x1b[0m\n")
			model := p.play(t,
				"say: I \x1b[1mlook\x1b[0m.\n"+`call: Read {"path": "a.txt"}`+"\n"+`call: Read {"path": "\u001b]0;x\u0007"}`+
					"\n"+`call: Bash {"command": "printf '\\033[32mgreen\\033[0m\\n'; exit 1"}`,
				"say: It is \x1b[31mred\x1b[0m.")
			file, err := os.Create(filepath.Join(p.dir, "../out"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			c := p.command(t, "run", "-v", "--mode", "full", "-m", model, "look")
			c.Stdout = file
			e := finish(t, c)
			e.wants(t, 0)
			out, err := os.ReadFile(file.Name())
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsRune(string(out)+e.err, 0x1b) {
				t.Errorf("an escape byte:\n%q\n%q", out, e.err)
			}
			if !strings.Contains(string(out), `It is \x1b[31mred`) || !strings.Contains(e.err, "Bash") {
				t.Errorf("what was said is not shown:\n%q\n%q", out, e.err)
			}
			e = p.run(t, "run", "--json", "--mode", "full", "-m", model, "look")
			e.wants(t, 0)
			if strings.ContainsRune(e.out+e.err, 0x1b) {
				t.Errorf("an escape byte:\n%q\n%q", e.out, e.err)
			}
		})
	}
}

// U02: closed streams are no reason to fail before the work is done, or to hang.
func TestBug_U02_ClosedStreams(t *testing.T) {
	for _, tc := range []struct {
		streams string
		answer  string
	}{
		{"<&-", "hi\n"},
		{"2>&-", "hi\n"},
		{"<&- 2>&-", "hi\n"},
		{">&-", ""}, // nobody wants the answer
		{"<&- >&- 2>&-", ""},
	} {
		t.Run(tc.streams, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			c := p.command(t)
			model := p.play(t, `call: Write {"path": "new.txt", "content": "new\n"}`, "say: hi")
			sh, err := exec.LookPath("sh")
			if err != nil {
				t.Skip("there is no sh")
			}
			c.Path, c.Args = sh, []string{"sh", "-c", "exec belay run --mode auto -m " + model + " hello " + tc.streams}
			e := finish(t, c)
			if e.out != tc.answer || e.code != 0 {
				t.Errorf("exit status %d, stdout %q, stderr %q", e.code, e.out, e.err)
			}
			if strings.Contains(e.err, "panic") || !p.exists("new.txt") {
				t.Errorf("new.txt is there: %t; stderr: %s", p.exists("new.txt"), e.err)
			}
			new, err := os.ReadFile(filepath.Join(p.dir, "new.txt"))
			if err != nil || string(new) != "new\n" {
				t.Errorf("new.txt is %q, %v", new, err)
			}
			if all := p.events(t); lastStop(all) == "" || len(bodies[event.Finished](all)) != 1 {
				t.Errorf("the session is not whole: the turn ended with %q", lastStop(all))
			}
		})
	}
}

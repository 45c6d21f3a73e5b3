package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// F02: a file of settings that is not in order stops the start, with file and
// line; nothing runs under laxer rules, and what cannot be parsed is never
// rewritten.
func TestBug_F02_BadFile(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		line       int
		parses     bool
	}{
		{"trailing comma", "[rules]\ndeny = [\"Bash(touch ran)\",,]\n", 2, false},
		{"half a table", "mode = \"auto\"\n[rules\n", 2, false},
		{"Latin-1", "# caf\xe9\nmode = \"plan\"\n", 1, false},
		{"wrong type", "[rules]\ndeny = 5\n", 2, true},
		{"wrong rule", "[rules]\ndeny = [\"Bash(touch\"]\n", 2, true},
		{"unknown key", "[rules]\ndenny = [\"Bash(touch ran)\"]\n", 2, true},
		{"undefined variable", "[providers.x]\nkey = \"${NOWHERE}\"\n", 2, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			file := filepath.Join(p.home, ".config/belay/config.toml")
			p.write(t, "../home/.config/belay/config.toml", tc.text)
			e := p.run(t, "run", "--mode", "full", "-m", p.play(t, `call: Bash {"command": "touch ran"}`, "say: done"), "try")
			e.wants(t, 2)
			if at := fmt.Sprintf("belay: %s:%d:", file, tc.line); !strings.Contains(e.err, at) {
				t.Errorf("stderr does not say %q:\n%s", at, e.err)
			}
			if p.exists("ran") {
				t.Error("it ran all the same")
			}
			e = p.run(t, "config", "set", "mode", "plan")
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !tc.parses && (e.code != 2 || string(got) != tc.text) {
				t.Errorf("config set: exit status %d; the file is now:\n%s", e.code, got)
			}
			if tc.parses && !strings.Contains(string(got), strings.TrimSpace(tc.text)) {
				t.Errorf("config set lost something:\n%s", got)
			}
		})
	}
}

// F02: settings that are changed at the same time all stay, with the comments.
func TestBug_F02_ChangesAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, "../home/.config/belay/config.toml", "# mine\n")
	want := map[string]string{
		"mode": "auto", "effort": "low", "limits.steps": "7", "limits.tokens": "9000", "breaker.failures": "4", "limits.cost": "2.50",
	}
	var all sync.WaitGroup
	for key, value := range want {
		c := p.command(t, "config", "set", key, value)
		all.Go(func() {
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	e := p.run(t, "config")
	e.wants(t, 0)
	for key, value := range want {
		found := false
		for line := range strings.Lines(e.out) {
			f := strings.Fields(line)
			found = found || len(f) == 3 && f[0] == key && strings.TrimPrefix(f[1], "$") == value
		}
		if !found {
			t.Errorf("%s is not %s:\n%s", key, value, e.out)
		}
	}
	text, err := os.ReadFile(filepath.Join(p.home, ".config/belay/config.toml"))
	if err != nil || !strings.HasPrefix(string(text), "# mine\n") {
		t.Errorf("%v:\n%s", err, text)
	}
}

package shell_test

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/decide/shell"
)

// Scripts that would run for ever, or grow, are given up and not waited for.
func TestWhatGrowsIsGivenUp(t *testing.T) {
	words := strings.Repeat(" a", 40)
	nest := func(n int, body string) string {
		for range n {
			body = "for i in" + words + "; do " + body + "\ndone"
		}
		return body
	}
	for name, line := range map[string]string{
		"loops":       nest(12, "rm $i"),
		"no commands": nest(12, "> f"),
		"goes on":     "while true; do cd src; while true; do cd src; while true; do cd src; done; done; done; cat a.txt",
		"scripts":     strings.Repeat("bash -c \"", 30),
		"subshells":   strings.Repeat("(", 2000) + "ls" + strings.Repeat(")", 2000),
		"wrappers":    strings.Repeat("nice ", 800) + "ls",
		"documents":   "{ " + strings.Repeat("sh;", 500) + " } <<E\nx" + strings.Repeat(" a", 1000) + "\nE",
		"commands":    strings.Repeat("ls;", 5000),
	} {
		began := time.Now()
		parts, _ := shell.Parts(line, world())
		var all effect.Set
		for _, p := range parts {
			all = append(all, p.Effects...)
		}
		if !all.Covers(effect.Set{{Kind: effect.Process}, {Kind: effect.Write, On: "x"}}) {
			t.Errorf("%s: %v", name, told(parts))
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}

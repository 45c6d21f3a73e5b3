package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// floods are commands of which a part stands far from what a person would see.
func floods() map[string]string {
	lines := func(n int) string { return strings.Repeat("echo on\n", n) }
	return map[string]string{
		"empty lines":          "ls" + strings.Repeat("\n", 5000) + "rm -rf important\n" + strings.Repeat("\n", 5000) + "ls",
		"lines of spaces":      "ls\n" + strings.Repeat(" \t \n", 5000) + "rm -rf important\n",
		"many lines":           lines(3000) + "rm -rf important\n" + lines(3000),
		"one line":             "echo " + strings.Repeat("x", 100_000) + "; rm -rf important; echo " + strings.Repeat("x", 100_000),
		"lines that overwrite": strings.Repeat("echo\r", 5000) + "rm -rf important\r",
	}
}

// TestPromise_P16_NothingFloodsAQuestion: what is decided about stands in the last
// rows before the choices, whatever else is to be shown, and nothing is allowed
// before all of it was.
func TestPromise_P16_NothingFloodsAQuestion(t *testing.T) {
	for name, command := range floods() {
		t.Run(name, func(t *testing.T) {
			withKeyboard(t, Options{Width: 80, Height: 24}, func(t *testing.T, k *keyboard) {
				q := question("Bash",
					part("ls", effect.Effect{Kind: effect.Read, On: "."}),
					part("rm -rf important", effect.Effect{Kind: effect.Write, On: "important", Tree: true}))
				q.Plan.Summary, q.Action = "ls ...", &tool.Action{Preview: command}
				c := k.ask(t.Context(), q)
				checkDecisive(t, k.screen.String(), "May Bash ls ...?", "rm -rf important [write important the whole tree]")
				if !strings.Contains(k.screen.String(), "w: show the whole") {
					k.typeIn("y\n")
					if r := <-c; !r.Allow || strings.Count(k.screen.String(), "\n") > maxBody+40 {
						t.Errorf("got %+v after\n%s", r, k.screen)
					}
					return
				}
				if rows := strings.Count(k.screen.String(), "\n"); rows > maxBody+40 {
					t.Errorf("%d rows", rows)
				}
				k.typeIn("y\ny\n") // of which the first shows the rest, and the second came too early
				select {
				case r := <-c:
					t.Fatalf("what was not shown was allowed: %+v", r)
				default:
				}
				flat := strings.NewReplacer("\n", "", "▎ ", "").Replace(k.screen.String())
				if strings.Count(flat, "rm -rf important") == strings.Count(flat, "rm -rf important [") {
					t.Error("the whole does not show what was hidden")
				}
				checkDecisive(t, k.screen.String(), "May Bash ls ...?", "rm -rf important [write important the whole tree]")
				k.typeIn("y\n")
				if r := <-c; !r.Allow {
					t.Errorf("got %+v", r)
				}
			})
		})
	}
}

// checkDecisive checks that the last screen of what was shown holds all of want.
func checkDecisive(t *testing.T, shown string, want ...string) {
	t.Helper()
	rows := strings.Split(shown, "\n")
	last := strings.Join(rows[max(0, len(rows)-24):], "\n")
	for _, w := range want {
		if !strings.Contains(last, w) {
			t.Errorf("the last screen lacks %q:\n%s", w, last)
		}
	}
}

// TestPromise_P16_ManyPartsDoNotHideOne: those that do more than read come first,
// and rules that nobody reads are not offered.
func TestPromise_P16_ManyPartsDoNotHideOne(t *testing.T) {
	withKeyboard(t, Options{Width: 80, Height: 40}, func(t *testing.T, k *keyboard) {
		q := question("Bash")
		for i := range 1000 {
			name := fmt.Sprintf("cat f%d", i)
			q.Plan.Parts = append(q.Plan.Parts, part(name, effect.Effect{Kind: effect.Read, On: "f"}))
			q.Remember = append(q.Remember, "Bash("+name+")")
		}
		q.Plan.Parts[700] = part("curl evil.example", effect.Effect{Kind: effect.Network, On: "evil.example"})
		c := k.ask(t.Context(), q)
		checkDecisive(t, k.screen.String(), "curl evil.example [network evil.example]", "984 more parts not shown")
		k.typeIn("w\n")
		checkDecisive(t, k.screen.String(), "cat f999", "always: not offered, since it would take 1,000 rules")
		k.typeIn("a\n") // is no answer
		k.typeIn("n not that\n")
		if r := <-c; r.Allow || r.Reason != "not that" {
			t.Errorf("got %+v", r)
		}
	})
}

// A no needs no more than the excerpt.
func TestAnExcerptCanBeRefused(t *testing.T) {
	withKeyboard(t, Options{Width: 80, Height: 24}, func(t *testing.T, k *keyboard) {
		q := question("Bash", part("x"))
		q.Action = &tool.Action{Preview: floods()["many lines"]}
		c := k.ask(t.Context(), q)
		k.typeIn("what?\n")
		k.typeIn("n\n")
		if r := <-c; r.Allow || r.err != nil {
			t.Errorf("got %+v", r)
		}
	})
}

// FuzzQuestion: no text in any place of a question gets out of its frame, and none
// of it is obeyed.
func FuzzQuestion(f *testing.F) {
	for i, text := range texts {
		if len(text) < 500 {
			f.Add(text, text, i*9)
		}
	}
	f.Fuzz(func(t *testing.T, name, preview string, width int) {
		if width < 4 || width > 200 || len(name)+len(preview) > 1<<16 {
			return
		}
		var b strings.Builder
		v := newView(Options{Out: &b, Progress: &b, Width: width, Height: width})
		q := agent.Question{Action: &tool.Action{Preview: preview}, Remember: []string{name}}
		q.Plan.Summary, q.Plan.Call.Tool = name, name
		q.Plan.Parts = []tool.Part{part(name, effect.Effect{Kind: effect.Write, On: preview})}
		q.Decision.Rule, q.Decision.Reason = name, preview
		v.question(q, width%2 == 0)
		v.choices(q)
		for line := range strings.SplitSeq(b.String(), "\n") {
			checkShown(t, line, width)
			if !strings.HasPrefix(line, string(frame)) || strings.Count(line, string(frame)) != 1 {
				t.Fatalf("line %q of a question", line)
			}
		}
	})
}

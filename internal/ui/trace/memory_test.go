package trace_test

import (
	"strings"
	"testing"
)

// remembered is the trace of a session with rules, recalled items, constraints and
// a compaction.
func remembered(t testing.TB) string {
	t.Helper()
	p := newPlace(t, map[string]string{
		"go.mod": "module p\ngo 1.26\n", "AGENTS.md": "Names are short.\n",
		"lib/AGENTS.md": "Of lib.\n", "lib/CLAUDE.md": strings.Repeat("x", 1<<16+1),
		"sub.go":      "package p\n\nfunc Sub(a, b int) int { return a + b }\n",
		"sub_test.go": "package p\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 1) != 2 {\n\t\tt.Fatal(\"wrong\")\n\t}\n}\n",
	})
	model := p.rehearse(`-- step --
say: I look at Sub.
call: Read {"path": "sub.go"}
-- step --
say: I see.
-- step --
say: Understood.
call: Read {"path": "sub_test.go"}
-- step --
say: Looked.
-- step --
say: Done.
`)
	p.belay(0, "run", "-m", model, "Fix Sub in sub.go, TestSub fails")
	p.belay(0, "resume", "-m", model, "do not touch sub_test.go, and never run git push")
	p.belay(0, "compact", "-m", model, "--hint", "keep the sign in mind")
	p.belay(0, "resume", "-m", model, "go on in @lib/AGENTS.md")
	return p.trace()
}

func TestWhatIsRememberedAndDroppedHasViews(t *testing.T) {
	tb := openTab(t, remembered(t), wide)
	frame := func(words string) {
		t.Helper()
		// Only what is in sight is part of the page.
		if !eval[bool](tb, `(async () => {
			const box = document.querySelector('#list');
			for (let top = 0; top < box.scrollHeight; top += box.clientHeight) {
				box.scrollTop = top;
				await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
				const e = [...box.querySelectorAll('.entry')].find(e => e.innerText.includes(`+quote(words)+`));
				if (e) { e.click(); return true }
			}
			return false;
		})()`) {
			t.Fatalf("no frame says %q", words)
		}
		tb.open()
	}
	frame("AGENTS.md")
	tb.need("#detail", "Rules from here on", "the whole workspace", "Names are short.")
	frame("lib/AGENTS.md")
	tb.need("#detail", "lib", "Of lib.")
	frame("lib/CLAUDE.md")
	tb.need("#detail", "lib", "the model is not shown its text", "has 65537 bytes")

	frame("I look at Sub.")
	tb.need("#detail", "What it was given", "Recalled", "Slot", "Source", "Score", "Tokens", "Why", "sub.go:")
	frame("I see.")
	tb.need("#detail", "Left out", "sub.go", "left out:")

	tb.click("[data-only=memory]")
	frame("do not touch sub_test.go")
	tb.need("#detail", "A constraint", "do not touch sub_test.go", "found by", "reader", "said in", "What it stops, by code", "rule", "sub_test.go")
	frame("Compacted")
	tb.need("#detail", "What was dropped, and why", "stands for", "all events up to", "set off by", "person", "asked to keep in mind", "keep the sign in mind", "tokens", "before", "after",
		"judged by", "code", "What was kept", "Fix Sub in sub.go")
	tb.click("[data-only=memory]")
	frame("for a handoff")
	tb.need("#detail", "What was asked for, beside the steps", "Request", "As it was sent")
	tb.need("#about", "3 turns", "5 steps", "2 calls")
}

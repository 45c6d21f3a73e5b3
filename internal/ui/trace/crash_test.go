package trace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParallelCallsACrashAndAnUnknownOutcome(t *testing.T) {
	p := crashed(t)
	tb := openTab(t, p.trace(), wide)
	tb.need("#about", "done", "1 turn", "5 steps", "10 calls", "failed", "denied", "1 unknown")

	// What waited says for what, and by which effects.
	tb.click("[data-only=waited]")
	tb.need("#count", "3 of")
	tb.need("#detail", "Edit a.txt", "It waited", "c3 Edit", "its write a.txt and the read a.txt of this call")
	tb.click("#detail .waits a")
	tb.need("#detail h2", "Edit a.txt")
	tb.need("#detail .head", "c3")
	tb.press("k") // into the list again, in which c3 is not
	tb.click("[data-only=waited]")

	// Its step shows the calls side by side.
	eval[bool](tb, "([...document.querySelectorAll('#list .entry.step')][1].click(), true)")
	tb.need("#detail .steplanes", "Edit", "Edit", "waited for c3", "Grep", "waited for c3, c4", "Bash", "waited for c3, c4", "nonzero_exit", "Read b.txt")

	// What a crash cut off is unknown, and what the model made of that is there.
	tb.click("[data-only=unknown]")
	tb.need("#count", "1 of")
	tb.need("#detail", "? Bash touch begun; sleep 60",
		"Why", "The file is missing, so nothing more can be counted.", "The count failed, so I try what is slow.",
		"What came back", "unknown", "A crash cut it off.", "What followed", "The model’s reaction", "Nobody knows how that ended.")
	tb.click("[data-only=unknown]")
	tb.need("#list", "Resumed")

	// A denial has its rule.
	tb.click("[data-only=denied]")
	tb.need("#detail", "denied by", "What came back", "denied")

	// By tool, by file, by words, and all together.
	tb.click("[data-only=denied]")
	tb.choose("#file", "a.txt")
	tb.choose("#tool", "Edit")
	tb.need("#count", "2 of")
	tb.choose("#file", "Every file")
	tb.choose("#tool", "Every tool")
	tb.press("/")
	tb.wait("document.activeElement.id === 'search'")
	eval[bool](tb, "(document.activeElement.value = '', true)") // the key itself is typed too, by this driver alone
	tb.press("MISSING")                                         // in any case
	tb.wait("/ of /.test(document.querySelector('#count').innerText)")
	tb.need("#list", "cat missing")
	tb.press("\x1b")
	tb.press("e")
	tb.need("#list", "replied")
	tb.press("e")
}

func TestTimelineShowsLanes(t *testing.T) {
	p := crashed(t)
	tb := openTab(t, p.trace(), wide)
	tb.press("2")
	tb.wait("document.querySelectorAll('#strip .bar.model').length === 5")
	tops := func(kind string) []float64 {
		return eval[[]float64](tb, "[...document.querySelectorAll('#strip .bar."+kind+"')].map(b => b.offsetTop)")
	}
	if waits := tops("wait"); len(waits) != 3 || waits[0] == waits[1] || waits[1] == waits[2] {
		t.Errorf("calls that wait stand at %v: they are to be side by side", waits)
	}
	if got := len(tops("unknown")); got != 1 {
		t.Errorf("%d unknown calls", got)
	}
	tb.need("#curves", "Context at each step", "tokens of each request", "Tokens so far")
	eval[bool](tb, "(document.querySelector('#strip .bar.unknown').click(), true)")
	tb.need("#detail h2", "touch begun")
	// A click on a curve goes to its step.
	tb.do(clickAt(tb, "#curves svg", 0.99, 0.5))
	tb.need("#detail h2", "Step 5")
}

func TestFilesShowChangesAndWhoseEachLineIs(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\ntwo\nthree\nfour\n"})
	model := p.rehearse(`-- step --
call: Read {"path": "a.txt"}
-- step --
call: Edit {"path": "a.txt", "old": "two", "new": "2\n2b"}
-- step --
say: Changed.
-- step --
call: Read {"path": "a.txt"}
-- step --
call: Edit {"path": "a.txt", "old": "four", "new": "4"}
call: Bash {"command": "echo made > b.txt"}
-- step --
say: Changed again.
`)
	p.belay(0, "run", "--mode", "full", "-m", model, "make it shorter")
	file := filepath.Join(p.dir, "a.txt")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(b), "three", "3 by hand", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	p.belay(0, "resume", "--mode", "full", "-m", model, "go on")
	tb := openTab(t, p.trace(), wide)
	tb.press("3")
	tb.open()
	tb.need("#files", "a.txt", "2 changes", "b.txt", "1 change",
		"Whose it is now", "as it was found: 1 line of 5", "the agent: 3 lines of 5", "someone else: 1 line of 5",
		"lines 2 to 3: c2 Edit", "line 4: someone else", "line 5: c4 Edit",
		"c2 Edit", "-two", "+2", "+2b", "c4 Edit", "-four", "+4")
	tb.click(".filelist button:nth-child(2)")
	tb.need("#files .history", "b.txt", "c5 Bash", "created", "kept for undo only")
	tb.click(".history h3 a")
	tb.need("#detail h2", "Bash echo made")
}

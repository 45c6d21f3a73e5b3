package trace_test

import (
	"strings"
	"testing"
)

// need fails unless what a selector shows has all of the words, in that order.
func (tb *tab) need(selector string, words ...string) {
	tb.Helper()
	text := strings.Join(strings.Fields(tb.text(selector)), " ")
	at := 0
	for _, w := range words {
		i := strings.Index(text[at:], w)
		if i < 0 {
			tb.Errorf("%s does not show %q, after the words before it, in:\n%s", selector, w, text)
			return
		}
		at += i + len(w)
	}
}

// open opens everything that is folded in the frame.
func (tb *tab) open() {
	tb.Helper()
	for eval[bool](tb, `(() => {
		const closed = [...document.querySelectorAll('#detail details:not([open]), .history details:not([open]), header details:not([open])')];
		closed.forEach(d => d.open = true);
		const more = [...document.querySelectorAll('#detail button.rest')];
		more.forEach(b => b.click());
		return closed.length + more.length > 0;
	})()`) {
		eval[bool](tb, "new Promise(r => setTimeout(() => r(true), 0))") // what opens is filled a moment later
	}
}

func TestR324_TheDemoIsReplayedFrameByFrame(t *testing.T) {
	tb := openTab(t, demo(t), wide)
	tb.need("#goal", "The tests fail. Find out why, fix the cause, and prove it.")
	tb.need("#about", "done", "1 turn", "8 steps", "12 calls", "2 failed", "rehearsed/demo")
	frames := eval[int](tb, "document.querySelector('#list [role=option]').getAttribute('aria-setsize')*1")
	if frames < 8+12+2 {
		t.Errorf("%d frames", frames)
	}

	// By hand, forwards and back.
	tb.press("j")
	tb.press("j")
	first := tb.text("#detail h2")
	tb.press("j")
	second := tb.text("#detail h2")
	tb.press("k")
	if got := tb.text("#detail h2"); got != first || got == second {
		t.Errorf("back at %q, want %q, which is not %q", got, first, second)
	}

	// By itself, to the end, as fast as it goes.
	tb.press("+++")
	tb.press(" ")
	tb.wait("document.querySelector('#toggle').innerText === 'Hold'")
	tb.wait("document.querySelector('#toggle').innerText === 'Play' && document.querySelector('#scrub').value === document.querySelector('#scrub').max")
	tb.need("#detail h2", "Done")

	// The slider and the address lead to the same frames.
	eval[bool](tb, "(() => { const s = document.querySelector('#scrub'); s.value = 3; s.dispatchEvent(new Event('input')); return true })()")
	address := eval[string](tb, "location.hash")
	head := tb.text("#detail h2")
	eval[bool](tb, "(location.hash = '#e1', true)")
	tb.wait("document.querySelector('#detail h2').innerText.includes('Opened')")
	eval[bool](tb, "(location.hash = "+quote(address)+", true)")
	tb.wait("document.querySelector('#detail h2').innerText === " + quote(head))
}

func TestR317_EveryRoundHasInputOutputArgumentsResultsAndTokens(t *testing.T) {
	tb := openTab(t, demo(t), wide)
	tb.click("#list .entry.step")
	tb.open()
	tb.need("#detail",
		"What it was given", "Request", "L1 Program", "Bash", "L2 Rules", "L3 Talk", "The tests fail.", "As it was sent", `"messages":`,
		"What it answered", "The tests first: what they print is the evidence.",
		"What it asked for", "Todo", "Bash", "sh test.sh",
		"What it cost", "input", "tokens", "output", "tokens")
	// A later request is put together from what it repeats of those before.
	eval[bool](tb, "([...document.querySelectorAll('#list .entry.step')][1].click(), true)")
	tb.open()
	tb.need("#detail", "repeat the request before", "The tests fail.", "The tests first:", "PASS 1.2.3 = 1.2.3", "Recap", "[0/3]", "As it was sent", `"system":`)
	tb.press("n")
	tb.press("p")
	tb.open()
	tb.need("#detail", "What it did", "sh test.sh", "Arguments", "command", "sh test.sh", "What came back", "12 passed, 3 failed", "The same facts as data")
}

func TestR318_R322_AFailureHasArgumentsDetailsReactionAndNextDecision(t *testing.T) {
	tb := openTab(t, demo(t), wide)
	tb.press("n") // the first problem
	tb.press("n")
	tb.open()
	tb.need("#detail", "✗ Edit", "turn 1", "step 4", "tokens so far",
		"What it did", "Arguments", "path", "lib/semver.sh", "old", "new",
		"What came back", "ambiguous", "old occurs 2 times", "next", "detail",
		"What followed", "The model’s reaction", "compare_words has the same line", "and decided on", "Edit")
	tb.press("p")
	tb.need("#detail", "✗ Bash", "step 1", "tokens so far", "nonzero_exit", "exit status 1", "The model’s reaction", "The three that fail all have a 9 beside a 10")
}

func TestR319_WhatFailedStaysThoughTheSessionEndedWell(t *testing.T) {
	tb := openTab(t, demo(t), wide)
	tb.need("#about", "done", "2 failed")
	tb.click("[data-only=failed]")
	tb.need("#count", "2 of")
	tb.need("#list", "Bash", "nonzero_exit", "Edit", "ambiguous")
	tb.click("[data-only=failed]")
	tb.need("#list", "Opened")
}

func TestR325_EachCallAnswersThreeQuestions(t *testing.T) {
	tb := openTab(t, demo(t), wide)
	tb.choose("#tool", "Edit")
	tb.need("#count", "2 of")
	tb.press("\ue015") // down
	tb.press("j")
	tb.open()
	tb.need("#detail", "✓ Edit lib/semver.sh",
		"Why", "compare_words has the same line", "allowed by mode full",
		"What it did", "--- a/lib/semver.sh", "sort -n", "Effects at most", "write lib/semver.sh",
		"What came back", "done", "lib/semver.sh changed, 1 region",
		"What followed", "One line changed. Now the proof.", "and decided on", "Bash")
}

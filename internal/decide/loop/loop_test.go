package loop

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// step is an exchange with one call; an equal name is an equal call and result.
func step(name, words, args, result string) session.Exchange {
	return session.Exchange{
		Message: model.Message{Role: model.Assistant, Parts: []model.Part{
			model.Text{Text: words}, model.Call{Call: tool.Call{Tool: name, Args: json.RawMessage(args)}},
		}},
		Results: []*tool.Result{{Status: tool.Success, Text: result}},
	}
}

func said(words string) session.Exchange {
	return session.Exchange{Message: model.Message{Role: model.User, Parts: []model.Part{model.Text{Text: words}}}}
}

// talk writes a step for each letter: a letter is a call of Read and its result.
func talk(letters string) (all []session.Exchange) {
	for _, r := range letters {
		if r == '!' {
			all = append(all, said("go on"))
			continue
		}
		all = append(all, step("Read", "", fmt.Sprintf(`{"path":%q}`, string(r)), string(r)))
	}
	return all
}

func TestLoopsAreFound(t *testing.T) {
	for _, tc := range []struct {
		letters       string
		steps, period int // 0 for none
		over          bool
	}{
		{"", 0, 0, false},
		{"aa", 0, 0, false},
		{"aaa", 3, 1, false},
		{"xaaaa", 4, 1, false},
		{"ababab", 6, 2, false},
		{"abab", 0, 0, false},
		{"xbababab", 7, 2, false},
		{"abcabcabc", 9, 3, false},
		{"abcdabcdabcd", 12, 4, false},
		{"abcdeabcdeabcde", 0, 0, false}, // a round of five
		{"aabaabaab", 9, 3, false},
		{"aaab", 0, 0, false},
		{"aa!a", 0, 0, false},
		{"aaaaaaa!aaa", 3, 1, false},
		{strings.Repeat("a", 8), 8, 1, false},
		{strings.Repeat("a", 9), 9, 1, true},
		{strings.Repeat("ab", 5) + "a", 11, 2, false},
		{strings.Repeat("ab", 6), 12, 2, true},
	} {
		l, ok := Find(talk(tc.letters))
		if ok != (tc.steps > 0) || ok && (l.Steps != tc.steps || l.Period != tc.period || l.Over() != tc.over || l.Words || l.Inside) {
			t.Errorf("%s: %+v, %t, over %t", tc.letters, l, ok, l.Over())
		}
		if ok && !strings.Contains(l.Reminder(), fmt.Sprintf("last %d steps repeat", tc.steps)) {
			t.Errorf("%s: %s", tc.letters, l.Reminder())
		}
	}
}

// TestWhatOnlyLooksLikeALoop: something comes of it each time.
func TestWhatOnlyLooksLikeALoop(t *testing.T) {
	repeat := func(n int, step func(i int) session.Exchange) (all []session.Exchange) {
		for i := range n {
			all = append(all, step(i))
		}
		return all
	}
	for name, tc := range map[string]struct {
		talk []session.Exchange
		loop bool
		over bool
	}{
		"polling what changes": {repeat(30, func(i int) session.Exchange {
			return step("Process", "", `{"do":"wait","name":"p1"}`, fmt.Sprintf("line %d", i))
		}), false, false},
		"a test after each edit": {repeat(30, func(i int) session.Exchange {
			if i%2 == 0 {
				return step("Edit", "", fmt.Sprintf(`{"path":"a","new":"%d"}`, i), "edited")
			}
			return step("Test", "", `{}`, "Failed: 1 failed.")
		}), false, false},
		"waiting for what does not change yet": {repeat(20, func(int) session.Exchange {
			return step("Bash", "", `{"command":"sleep 30; gh run view"}`, "in progress")
		}), true, false},
		"and for too long": {repeat(25, func(int) session.Exchange {
			return step("Bash", "", `{"command":"sleep 30; gh run view"}`, "in progress")
		}), true, true},
		"it only took longer": {repeat(5, func(i int) session.Exchange {
			return step("Bash", "", `{"command":"go test"}`, fmt.Sprintf("ok  x 0.0%ds\nexit status 0 after %d.1s\n12:00:0%d", i, i, i))
		}), true, false},
		"spaces in arguments": {repeat(3, func(i int) session.Exchange {
			return step("Read", "", `{"path":`+strings.Repeat(" ", i)+`"a"}`, "x")
		}), true, false},
		"short words": {repeat(9, func(i int) session.Exchange {
			return step("Read", "Next file.", fmt.Sprintf(`{"path":"%d"}`, i), "x")
		}), false, false},
		"long words": {repeat(9, func(i int) session.Exchange {
			return step("Read", "I will now look carefully at the parser, find the cause and mend it.", fmt.Sprintf(`{"path":"%d"}`, i), "x")
		}), true, false},
		"one answer that goes round": {repeat(1, func(int) session.Exchange {
			return step("Read", "Well. "+strings.Repeat("Let me check the file again. ", 30), `{"path":"a"}`, "x")
		}), true, false},
		"a table": {repeat(1, func(int) session.Exchange {
			return step("Read", "Results:\n"+strings.Repeat("-", 900), `{"path":"a"}`, "x")
		}), false, false},
	} {
		l, ok := Find(tc.talk)
		if ok != tc.loop || ok && l.Over() != tc.over {
			t.Errorf("%s: %+v, %t, over %t", name, l, ok, l.Over())
		}
	}
}

// oracle finds the loop by trying each length of each round, and comparing whole
// strings.
func oracle(letters string) (steps, period int) {
	if i := strings.LastIndexByte(letters, '!'); i >= 0 {
		letters = letters[i+1:]
	}
	letters = letters[max(0, len(letters)-maxSteps):]
	for n := len(letters); n > 0; n-- {
		end := letters[len(letters)-n:]
		for p := 1; p <= maxPeriod && p*rounds <= n; p++ {
			if strings.HasPrefix(strings.Repeat(end[:p], n), end) {
				return n, p
			}
		}
	}
	return 0, 0
}

func TestLoopsAgainstAnOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	found := 0
	for range 5000 {
		var b strings.Builder
		for b.Len() < rng.IntN(60) {
			b.WriteString(strings.Repeat([]string{"a", "ab", "abc", "aab", "abcd", "abcde", "!", "x"}[rng.IntN(8)], 1+rng.IntN(9)))
		}
		letters := b.String()
		steps, period := oracle(letters)
		l, ok := Find(talk(letters))
		if ok != (steps > 0) || l.Steps != steps || ok && l.Period != period {
			t.Fatalf("%s: %d steps of %d, want %d of %d", letters, l.Steps, l.Period, steps, period)
		}
		if ok {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("only %d had a loop: the test looks for the wrong thing", found)
	}
}

// BenchmarkFind is what a step costs after a long talk with long results.
func BenchmarkFind(b *testing.B) {
	long := strings.Repeat("a line of output\n", 2500)
	var all []session.Exchange
	for i := range 1000 {
		all = append(all, step("Bash", "", `{"command":"go test"}`, fmt.Sprintf("%sok 0.%ds\n", long, i)))
	}
	for b.Loop() {
		if _, ok := Find(all); !ok {
			b.Fatal("no loop")
		}
	}
}

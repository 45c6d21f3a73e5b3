package task

import (
	"os"
	"strings"
	"testing"
)

// TestR301_LabelledSentences measures against what was labelled before there was
// code, and against what was written after it. Each miss is shown; none may be new.
func TestR301_LabelledSentences(t *testing.T) {
	for file, least := range map[string]int{"testdata/sentences.txt": 59, "testdata/unseen.txt": 20} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all, right := 0, 0
		undecided := make(map[string]int) // by label: what the patterns leave to Usual
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			label, words, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if !ok {
				t.Fatalf("not a label and words: %q", line)
			}
			all++
			if of(words) == "" {
				undecided[label]++
			}
			if got := Next("", words); string(got) == label {
				right++
			} else {
				t.Logf("missed: %s, not %s: %s", label, got, words)
			}
		}
		t.Logf("%s: %d of %d right; left to the default: %v", file, right, all, undecided)
		if right < least || all < 24 {
			t.Errorf("%s: %d of %d right, %d were", file, right, all, least)
		}
	}
}

func TestR301_WordsThatSayNeither(t *testing.T) {
	for _, words := range []string{"go on", "yes", "继续", "好的", "the second one", "42", ""} {
		if got := Next(Look, words); got != Look {
			t.Errorf("%q after a look is a %s", words, got)
		}
		if got := Next(Change, words); got != Change {
			t.Errorf("%q after a change is a %s", words, got)
		}
		if got := Next("", words); got != Usual {
			t.Errorf("%q at first is a %s", words, got)
		}
	}
	// What is pasted asks for nothing.
	if got := Next("", "what does this do?\n```\nfix it. add a flag.\n```"); got != Look {
		t.Errorf("pasted code makes it a %s", got)
	}
}

func FuzzNext(f *testing.F) {
	f.Add("fix it", "")
	f.Add("为什么？", "look")
	f.Fuzz(func(t *testing.T, words, before string) {
		if got := Next(Look, words); got != Look && got != Change || got != Next(Look, words) {
			t.Errorf("%q is %q", words, got)
		}
	})
}

package cli

import (
	"errors"
	"strings"

	"github.com/belay-agent/belay/internal/decide/session"
)

// slashHelp answers /help.
const slashHelp = `/help         says this
/rules        says what you allowed for this session
/compact [HINT]  makes the session shorter for the model; HINT says what to keep in mind
/constraints  says what you forbade or required, and what keeps it
/lift ID      ends one of these, such as k1
/exit, /quit  end the session, as Ctrl-D does
//TEXT        says TEXT to the model with one slash before it
@PATH         in a text names a file or a directory: @a.go, @a.go:10-20, @dir/, @"a b.txt"
A line that ends in \ goes on in the next; what is pasted is sent by the Enter after it.
Ctrl-C stops a turn, a second one ends Belay at once.
What is decided about a call, sessions and settings: belay --help`

// slashed tells a word for Belay, a line of its own such as /help, from a text for
// the model, which it returns as it is sent. Of /compact and /lift the text is what
// stands behind the word.
func slashed(line string) (word, text string) {
	if first, rest, _ := strings.Cut(strings.TrimSpace(line), " "); first == "/compact" || first == "/lift" {
		return first, strings.TrimSpace(rest)
	}
	if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "/"); ok && !strings.ContainsAny(rest, "/ \t\n") {
		return "/" + rest, ""
	}
	if strings.HasPrefix(line, "//") {
		return "", line[1:]
	}
	return "", line
}

// obey does what word wants, and reports whether it ends the session.
func (t *talking) obey(word, rest string) (ends bool) {
	switch word {
	case "/exit", "/quit":
		return true
	case "/help":
		t.ui.Say(slashHelp)
	case "/rules":
		t.ui.Say(allowed(t.agent.Remembered()))
	case "/constraints":
		t.ui.Say(t.held())
	case "/lift":
		t.lift(rest)
	default:
		t.ui.Say(unknownSlash(word))
	}
	return false
}

// slashWords are those that obey knows.
var slashWords = []string{"help", "rules", "compact", "constraints", "lift", "exit", "quit"}

func unknownSlash(word string) string {
	next := "; /help says what is, and "
	if near, ok := closest(word[1:], slashWords); ok {
		next = "; did you mean /" + near + "? "
	}
	return word + " is not known and was not sent" + next + "//" + word[1:] + " sends it"
}

// allowed says what was allowed for a session, and where to find the other rules.
func allowed(rules []string) string {
	const others = "`belay config` has the rules of every session"
	if len(rules) == 0 {
		return "nothing was allowed for this session; " + others
	}
	return "allowed until the session ends:\n" + strings.Join(rules, "\n") + "\n" + others
}

// held says what the user forbade or required, and what was ruled out.
func (t *talking) held() string {
	constraints, notes := t.agent.Constraints()
	if len(constraints)+len(notes) == 0 {
		return "nothing you said was understood as a constraint, or it is lifted"
	}
	return showHeld(constraints, notes) + "\n/lift ID ends one of them"
}

// lift ends the constraint or the note of that ID.
func (t *talking) lift(id string) {
	if id == "" {
		t.ui.Say("/lift needs the ID of a constraint, such as /lift k1; /constraints lists them")
		return
	}
	done, err := t.agent.Lift(id)
	switch {
	case errors.Is(err, session.ErrInvalid):
		t.ui.Say("no constraint that holds is called " + id + "; /constraints lists them")
	case err != nil:
		t.ui.Say(err.Error())
	case !done:
		t.ui.Say(id + " is lifted before the model's next step")
	}
}

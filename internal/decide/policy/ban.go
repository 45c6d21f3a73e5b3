package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Ban is what makes a rule of something that was said: the user's constraint,
// or a note that an attempt failed or was decided against. A call meets the rule
// if its tool and pattern do, and all that is set here.
type Ban struct {
	tool.Ban
	ID    string // "k1" of a constraint, "n1" of a note
	Words string // what was said
	Seq   int64  // of the event in which it was, 0 if none is known
}

// Errors of Rule.
var (
	errEmpty  = errors.New("it bans nothing")
	errEffect = errors.New("no call is known to have such an effect")
)

// Rule returns the rule that stops what b bans, or asks about it.
func (b Ban) Rule(src Source) (Rule, error) {
	if b.Ban.Rule == "" && b.Effect == "" && b.Text == "" && b.Call == "" && !b.Removes {
		return Rule{}, fmt.Errorf("ban %s: %w", b.ID, errEmpty)
	}
	if b.Effect != "" && !slices.Contains(bannable, b.Effect) {
		return Rule{}, fmt.Errorf("ban %s: effect %s: %w", b.ID, line(string(b.Effect)), errEffect)
	}
	verdict := Deny
	if b.Ask {
		verdict = Ask
	}
	text := b.Ban.Rule
	if text == "" {
		text = "*"
	}
	r, err := ParseRule(text, verdict, src)
	if err != nil {
		return Rule{}, fmt.Errorf("ban %s: %w", b.ID, err)
	}
	r.Ban = &b
	return r, nil
}

// bannable are the kinds of effects that can be banned as such. Reads and
// processes are what all work is made of.
var bannable = []effect.Kind{effect.Write, effect.Network, effect.Git, effect.Permanent}

// fits reports whether what narrows r, a rule with a ban, holds for part.
func (p Policy) fits(r Rule, t tool.Spec, part tool.Part, c command) bool {
	b := r.Ban
	switch {
	case b.Effect != "" && !slices.ContainsFunc(part.Effects, func(e effect.Effect) bool { return e.Kind == b.Effect }):
		return false
	case b.Call != "" && !p.Of.is(b.Call):
		return false
	case b.Text != "" && !p.Of.adds(b.Text, t, part):
		return false
	case b.Removes && !p.removes(part, c, onlyPaths(t)):
		return false
	case b.Except == "":
		return true
	case onlyPaths(t):
		excepted, err := match(b.Except, part.Name)
		return !excepted || err != nil
	}
	return !p.permits(b.Except, c, part)
}

// spares reports whether e is not what r, a rule about files, keeps from
// commands: the rule excepts it, or, where the rule is for every file, it names
// none, but that the command may write anywhere in the workspace.
func (r Rule) spares(e effect.Effect) bool {
	if r.Ban == nil || r.Ban.Except == "" && r.Pattern != "**" {
		return false
	}
	if e.Tree && e.On == "." {
		return true
	}
	if r.Ban.Except == "" {
		return false
	}
	excepted, err := match(r.Ban.Except, e.On)
	return excepted && err == nil
}

// Covers reports whether b denies what was done to the file at a path in the
// workspace, which was removed, or made, or only changed. It is for what a command turned out to do, which nobody could read
// from its words. What b spares a file from, such as "only change docs/", does not
// cover a new one: builds make files.
func (b Ban) Covers(path string, removed, made bool) bool {
	if b.Ask || b.Effect != "" || b.Text != "" || b.Call != "" || b.Removes && !removed || b.Except != "" && made {
		return false
	}
	r, err := b.Rule(FromConstraint)
	if err != nil || r.Pattern == "" || !slices.Contains(alike("Edit"), r.Tool) {
		return false
	}
	if excepted, err := match(b.Except, path); b.Except != "" && (excepted || err != nil) {
		return false
	}
	return Policy{}.closes(r, path)
}

// removes reports whether part takes a file away: an edit that does, or a command
// whose program is known for it.
func (p Policy) removes(part tool.Part, c command, paths bool) bool {
	if paths {
		return p.Of.removes(part.Name)
	}
	return slices.ContainsFunc(removing, func(pattern string) bool { return forbids(pattern, c) })
}

// removing are the commands that take files away.
var removing = []string{
	"rm **", "rmdir **", "unlink **", "shred **", "trash **", "trash-put **", "del **", "git rm **", "git clean **", "find -delete **",
}

// banned says what r, a rule with a ban, stops.
func (r Rule) banned() string {
	if r.Ban == nil {
		return ""
	}
	return r.Ban.ID + ": " + Banned(r.Ban.Ban)
}

// Banned says what b stops in one line, for people and the model: "Edit(api/**)",
// `the name "redis"`.
func Banned(b tool.Ban) string {
	var what []string
	add := func(set bool, format string, a ...any) {
		if set {
			what = append(what, fmt.Sprintf(format, a...))
		}
	}
	pattern, ofEdits := strings.CutPrefix(strings.TrimSuffix(b.Rule, ")"), "Edit(")
	add(b.Removes && ofEdits, "removing files: %s", line(pattern)) // not all that edits do
	add(b.Removes && !ofEdits, "removing files")
	add(b.Rule != "" && !(b.Removes && ofEdits), "%s", line(b.Rule))
	add(b.Except != "", "except %s", line(b.Except))
	add(b.Effect != "", "effect %s", line(string(b.Effect)))
	add(b.Text != "", "the name %s", strconv.Quote(line(b.Text)))
	add(b.Call != "", "an equal call")
	return strings.Join(what, ", ")
}

// banning is the decision of r, a rule with a ban.
func (r Rule) banning(part tool.Part) Decision {
	reason := "it was ruled out earlier (" + r.Ban.ID + "): "
	if r.Source == FromConstraint {
		reason = "the user said (" + r.Ban.ID + ", event " + strconv.FormatInt(r.Ban.Seq, 10) + "): "
	}
	reason += `"` + line(strings.Join(strings.Fields(r.Ban.Words), " ")) + `"`
	if part.Name != "" {
		reason += "; the call: " + line(part.Name)
	}
	return Decision{Verdict: r.Verdict, Rule: r.banned(), Reason: reason, Ban: r.Ban.ID}
}

package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// maxRule is the longest rule in bytes; a command line can be long.
const maxRule = 64 << 10

// ParseRule reads a rule as settings write it: "Tool" or "Tool(pattern)", where
// Tool may be "*" and the pattern is all up to the last parenthesis. A pattern
// that is not a glob is an error, except where it holds white space and so is a
// command. Policy.Check knows the tools, and knows better.
func ParseRule(s string, v Verdict, src Source) (Rule, error) {
	wrong := func(format string, a ...any) (Rule, error) {
		return Rule{}, fmt.Errorf("rule %s: %w", line(s), fmt.Errorf(format, a...))
	}
	if len(s) > maxRule {
		return wrong("it is longer than %d bytes", maxRule)
	}
	name, pattern, hasPattern := strings.Cut(s, "(")
	if !isTool(name) {
		return wrong("%s is not the name of a tool; write Tool, Tool(pattern) or *(pattern)", line(name))
	}
	if hasPattern {
		var closed bool
		if pattern, closed = strings.CutSuffix(pattern, ")"); !closed {
			return wrong("it does not end in a parenthesis")
		}
		if pattern == "" {
			return wrong("the pattern is empty; write %s for every call", name)
		}
		if !strings.ContainsAny(pattern, " \t\n") && !doublestar.ValidatePattern(glob(pattern)) {
			return wrong("the pattern is not a glob")
		}
	}
	return Rule{Tool: name, Pattern: pattern, Verdict: v, Source: src}, nil
}

func isTool(name string) bool {
	return name == "*" || name != "" && len(name) <= 64 && strings.Trim(name,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// String returns the rule as ParseRule reads it.
func (r Rule) String() string {
	name := r.Tool
	if name == "" {
		name = "*"
	}
	if r.Pattern == "" {
		return name
	}
	return name + "(" + r.Pattern + ")"
}

// Check reports what is wrong with the rules of p, all of it, given the tools
// there are: patterns that are none, and examples that do not do what they are
// there to show: a Match is matched for one of the tools that the rule is for, a
// Refuse for none. A command in an example counts as one that reads what looks
// like a path: what has a dot or a slash. A rule for a tool that is not there may be for one that
// comes later, and passes.
func (p Policy) Check(tools []tool.Spec) error {
	var errs []error
	for _, r := range p.Rules {
		var its []tool.Spec
		for _, t := range tools {
			if r.isFor(t) {
				its = append(its, t)
			}
		}
		if len(its) > 0 {
			errs = append(errs, p.check(r, its))
		}
	}
	return errors.Join(errs...)
}

func (p Policy) check(r Rule, tools []tool.Spec) error {
	if slices.ContainsFunc(tools, onlyPaths) {
		if !doublestar.ValidatePattern(glob(r.Pattern)) {
			return fmt.Errorf("rule %s: the pattern is not a glob", line(r.String()))
		}
	} else if err := checkCommand(r.Pattern); err != nil {
		return fmt.Errorf("rule %s: %w", line(r.String()), err)
	}
	matches := func(name string) bool {
		return slices.ContainsFunc(tools, func(t tool.Spec) bool { return p.about(r, t, example(t, name), readCommand(name)) })
	}
	for _, name := range r.Match {
		if !matches(name) {
			return fmt.Errorf("rule %s does not match its example %s", line(r.String()), line(name))
		}
	}
	for _, name := range r.Refuse {
		if matches(name) {
			return fmt.Errorf("rule %s matches %s, which it should not", line(r.String()), line(name))
		}
	}
	return nil
}

// example is a part of that name, as a call of t would have it.
func example(t tool.Spec, name string) tool.Part {
	part := tool.Part{Name: name}
	if onlyPaths(t) {
		return part
	}
	words, _ := split(name)
	for _, w := range words[min(1, len(words)):] {
		if !w.live && strings.ContainsAny(w.text, "./") && w.text[0] != '-' {
			part.Effects = append(part.Effects, effect.Effect{Kind: effect.Read, On: path.Clean(strings.TrimSuffix(w.text, "..."))})
		}
	}
	return part
}

// checkCommand reports what makes pattern none for commands.
func checkCommand(pattern string) error {
	if pattern == "" {
		return nil
	}
	words, simple := split(pattern)
	if !simple {
		return errors.New("the pattern is not one command: each command of a line is judged by itself, so write a rule for each")
	}
	before, _ := opens(words)
	if len(before) == 0 {
		return errors.New("the pattern names no program; write the name of the tool alone for every command")
	}
	for _, w := range before {
		if w.live && (w.text == onlyFiles || w.text == anyWords) {
			return fmt.Errorf("%s can only be the last word", w.text)
		}
		if name, ok := strings.CutSuffix(w.text, ":*"); ok && w.live {
			return fmt.Errorf("%s is one word; for any words after %s write %s **", w.text, name, name)
		}
	}
	return nil
}

// binds reports whether r counts at all.
func (r Rule) binds() bool {
	return r.Verdict != Allow || r.Source == FromUser || r.Source == FromApproval
}

// isFor reports whether r is about calls of t. What one tool must not do no
// other may do for it.
func (r Rule) isFor(t tool.Spec) bool {
	if r.Tool == "" || r.Tool == "*" || r.Tool == t.Name {
		return true
	}
	return r.Verdict != Allow && slices.Contains(alike(r.Tool), t.Name)
}

// alike returns the other tools that do what the named one does.
func alike(name string) []string {
	switch name {
	case "Read":
		return []string{"Grep"}
	case "Edit", "MultiEdit", "Patch", "Rename", "Write":
		return []string{"Edit", "MultiEdit", "Patch", "Rename", "Write"}
	case "Bash":
		return []string{"Test"}
	}
	return nil
}

// about reports whether r is for part, c being its name as a command. An Allow is read narrowly, the others
// widely: also for a command that touches a file which the rule keeps from the
// tools.
func (p Policy) about(r Rule, t tool.Spec, part tool.Part, c command) bool {
	if r.Ban != nil && !p.fits(r, t, part, c) {
		return false
	}
	if r.Verdict != Allow && (p.keeps(r, t, part) || r.takes(t, part, c)) {
		return true
	}
	switch {
	case !r.isFor(t):
		return false
	case r.Pattern == "":
		return true
	case part.Name == "":
		return false
	case onlyPaths(t) && r.Verdict == Allow:
		return r.opens(part)
	case onlyPaths(t):
		return p.closes(r, part.Name)
	case r.Pattern == part.Name:
		return true
	case r.Verdict == Allow:
		return p.permits(r.Pattern, c, part)
	}
	return forbids(r.Pattern, c)
}

// opens reports whether the glob of r, an Allow, is for part, all of which must
// only touch paths: inside the workspace, if the glob is relative.
func (r Rule) opens(part tool.Part) bool {
	matched, _ := match(r.Pattern, part.Name)
	for _, e := range part.Effects {
		switch {
		case !touchesPaths(e.Kind):
			return false
		case e.Kind != effect.Git && !e.Inside() && !path.IsAbs(r.Pattern):
			return false
		}
	}
	return matched
}

// closes reports whether the glob of r, which asks or denies, is for a path, also
// as seen from the root of the disk. One that is no glob is for all.
func (p Policy) closes(r Rule, name string) bool {
	if p.Root != "" && path.IsAbs(r.Pattern) && !path.IsAbs(name) {
		if matched, err := match(r.Pattern, path.Join(p.Root, name)); matched || err != nil {
			return true
		}
	}
	matched, err := match(r.Pattern, name)
	return matched || err != nil
}

// keeps reports whether r, which asks or denies about files, is for what part, of
// a tool that does more than touch paths, is known to do to one.
func (p Policy) keeps(r Rule, t tool.Spec, part tool.Part) bool {
	if r.Pattern == "" || onlyPaths(t) {
		return false
	}
	anyTool := r.Tool == "" || r.Tool == "*"
	for _, e := range part.Effects {
		if r.spares(e) {
			continue
		}
		reads := e.Kind == effect.Read && (anyTool || r.Tool == "Read" || r.Tool == "Grep")
		writes := e.Kind == effect.Write && (anyTool || slices.Contains(alike("Edit"), r.Tool))
		if (reads || writes) && e.On != "" && p.closes(r, e.On) {
			return true
		}
	}
	return false
}

func match(pattern, name string) (bool, error) {
	if pattern == name {
		return true, nil
	}
	all := glob(pattern)
	matched, err := doublestar.Match(all, name)
	for !matched && err == nil { // doublestar says that "a*/**" is not for "a"
		dir, more := strings.CutSuffix(all, "/**")
		if !more {
			break
		}
		all = dir
		matched, err = doublestar.Match(all, name)
	}
	return matched, err
}

// glob returns the pattern of a rule as a glob of doublestar's.
func glob(pattern string) string {
	pattern = strings.TrimPrefix(pattern, "./")
	if strings.HasSuffix(pattern, "/") {
		return pattern + "**"
	}
	return pattern
}

// onlyPaths reports whether the parts of t's calls are paths. It asks the
// contract, not the part, so that what a rule names never hangs on what a call
// leaves out.
func onlyPaths(t tool.Spec) bool {
	return !slices.ContainsFunc(t.Effects, func(k effect.Kind) bool { return !touchesPaths(k) })
}

func touchesPaths(k effect.Kind) bool {
	return k == effect.Read || k == effect.Write || k == effect.Git
}

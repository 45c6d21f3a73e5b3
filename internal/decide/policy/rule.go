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
// Tool may be "*" and the pattern is all up to the last parenthesis, byte for
// byte. A pattern that is not a glob is an error, except where it holds white
// space and so is a command line. Policy.Check knows the tools, and knows better.
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
// there are: patterns of path tools that are not globs, and examples that do not
// do what they are there to show: a Match is matched for one of the tools that
// the rule is for, a Refuse for none. A rule for a tool that is not there may be
// for one that comes later, and passes.
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
			errs = append(errs, r.check(its))
		}
	}
	return errors.Join(errs...)
}

func (r Rule) check(tools []tool.Spec) error {
	hint := "; without wildcards: it is matched byte for byte"
	if slices.ContainsFunc(tools, onlyPaths) {
		hint = ""
		if !doublestar.ValidatePattern(glob(r.Pattern)) {
			return fmt.Errorf("rule %s: the pattern is not a glob", line(r.String()))
		}
	}
	matches := func(name string) bool {
		return slices.ContainsFunc(tools, func(t tool.Spec) bool { return r.names(t, tool.Part{Name: name}) })
	}
	for _, name := range r.Match {
		if !matches(name) {
			return fmt.Errorf("rule %s does not match its example %s%s", line(r.String()), line(name), hint)
		}
	}
	for _, name := range r.Refuse {
		if matches(name) {
			return fmt.Errorf("rule %s matches %s, which it should not", line(r.String()), line(name))
		}
	}
	return nil
}

// binds reports whether r counts at all.
func (r Rule) binds() bool {
	return r.Verdict != Allow || r.Source == FromUser || r.Source == FromApproval
}

// isFor reports whether r is about calls of t. What one tool must not do to a
// file no other may do for it.
func (r Rule) isFor(t tool.Spec) bool {
	if r.Tool == "" || r.Tool == "*" || r.Tool == t.Name {
		return true
	}
	return r.Verdict != Allow && slices.Contains(alike(r.Tool), t.Name)
}

// alike returns the other tools that do what the named one does to files.
func alike(name string) []string {
	switch name {
	case "Read":
		return []string{"Grep"}
	case "Edit", "MultiEdit", "Patch", "Rename", "Write":
		return []string{"Edit", "MultiEdit", "Patch", "Rename", "Write"}
	}
	return nil
}

// names reports whether r is about part. An Allow is read narrowly: its glob is
// not for a part that does more than touch paths, nor, if it is relative, for
// one that leaves the workspace. The others are read widely: a pattern that
// should be a glob and is none matches everything.
func (r Rule) names(t tool.Spec, part tool.Part) bool {
	switch {
	case !r.isFor(t):
		return false
	case r.Pattern == "":
		return true
	case part.Name == "":
		return false
	case !onlyPaths(t):
		return r.Pattern == part.Name
	}
	matched, err := match(r.Pattern, part.Name)
	if r.Verdict != Allow {
		return matched || err != nil
	}
	for _, e := range part.Effects {
		switch {
		case !touchesPaths(e.Kind):
			matched = r.Pattern == part.Name
		case e.Kind != effect.Git && !e.Inside() && !path.IsAbs(r.Pattern):
			return false
		}
	}
	return matched
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

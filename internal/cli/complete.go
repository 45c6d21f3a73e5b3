package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/ui/terminal"
	"github.com/belay-agent/belay/internal/world/journal"
)

// maxOffered is how many sessions a shell is offered, the newest.
const maxOffered = 50

// complete tells the shell what may stand where: sessions, models, settings, and
// the files that a goal names by @.
func (s System) complete(root *cobra.Command) {
	for c := range commands(root) {
		use := c.Use
		switch {
		case strings.Contains(use, "[SESSION...]"):
			c.ValidArgsFunction = s.offerSessions(-1)
		case strings.Contains(use, "[SESSION]"):
			c.ValidArgsFunction = s.offerSessions(1)
		case c.CommandPath() == "belay run":
			c.ValidArgsFunction = s.offerPaths
		case strings.HasPrefix(use, "set KEY"), strings.HasPrefix(use, "unset KEY"), strings.HasPrefix(use, "add KEY"), strings.HasPrefix(use, "remove KEY"):
			c.ValidArgsFunction = offerSettings
		case c.CommandPath() == "belay config trust":
			c.ValidArgsFunction = offerDirs
		default:
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		for name, values := range map[string]cobra.CompletionFunc{
			"model":    s.offerModels,
			"fallback": s.offerModels,
			"mode":     offer(string(policy.ModePlan), string(policy.ModeAsk), string(policy.ModeAuto), string(policy.ModeFull)),
			"effort":   offer("low", "medium", "high"),
			"dir":      offerDirs,
			"set":      offer("system=", "rules.", "tools.", "effort=", "compact_at="),
		} {
			if c.Flags().Lookup(name) != nil {
				_ = c.RegisterFlagCompletionFunc(name, values) // it fails only for a flag that is not there or has one
			}
		}
	}
}

// commands yields c and all below it.
func commands(c *cobra.Command) func(yield func(*cobra.Command) bool) {
	var walk func(c *cobra.Command, yield func(*cobra.Command) bool) bool
	walk = func(c *cobra.Command, yield func(*cobra.Command) bool) bool {
		if c.Name() == "completion" {
			return true // the library's own
		}
		if !yield(c) {
			return false
		}
		for _, sub := range c.Commands() {
			if !walk(sub, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(*cobra.Command) bool) { walk(c, yield) }
}

func offer(values ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		how := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if strings.HasSuffix(values[0], "=") {
			how |= cobra.ShellCompDirectiveNoSpace
		}
		return values, how
	}
}

func offerDirs(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func offerSettings(c *cobra.Command, args []string, _ string) (keys []cobra.Completion, how cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	lists := c.Name() == "add" || c.Name() == "remove"
	for _, k := range knobs() {
		if !lists || k.shape == asList || k.shape == asRules {
			keys = append(keys, k.key)
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// offerModels offers what the catalogue knows, and files for a rehearsal.
func (s System) offerModels(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.HasPrefix(begun, "script:") {
		return s.paths(strings.TrimPrefix(begun, "script:"), "script:"), pathsDirective
	}
	all, err := s.catalogue()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names := append(slices.Sorted(maps.Keys(all.Models)), "script:")
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, begun) }), cobra.ShellCompDirectiveNoFileComp
}

// offerSessions offers up to most sessions, no end of them where that is negative:
// those of this directory, and where it has none all.
func (s System) offerSessions(most int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if strings.Contains(begun, "@") {
			return s.offerPaths(c, args, begun)
		}
		how := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if most >= 0 && len(args) >= most {
			return nil, how
		}
		st := s.store()
		found, err := st.beginning(begun)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		found = found[:min(len(found), maxOffered)]
		dir, _ := c.Flags().GetString("dir") // "" where there is no such flag
		root, _ := s.in(dir).root()
		var here, all []cobra.Completion
		for _, id := range found {
			if slices.Contains(args, id) {
				continue
			}
			at, goal := st.about(id)
			name := id
			if begun != strings.ToUpper(begun) {
				name = strings.ToLower(id) // the shell keeps what begins as it was typed
			}
			offered := cobra.CompletionWithDesc(name, terminal.Line(s.shown(goal), 60))
			if all = append(all, offered); at == root {
				here = append(here, offered)
			}
		}
		if len(here) > 0 {
			return here, how
		}
		return all, how
	}
}

// about returns the workspace of session id and the first words of its user, as far
// as they are intact.
func (st store) about(id string) (root, goal string) {
	for e := range journal.Read(st.path(id)) {
		switch b := e.Body.(type) {
		case event.Opened:
			root = b.Root
		case event.Asked:
			return root, b.Text
		}
	}
	return root, ""
}

const pathsDirective = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace

// offerPaths offers the files that the last word of a goal may name by @.
func (s System) offerPaths(c *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	at := strings.LastIndexAny(begun, " \t\n") + 1
	word, ok := strings.CutPrefix(begun[at:], "@")
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, _ := c.Flags().GetString("dir") // "" where there is no such flag
	return s.in(dir).paths(word, begun[:at]+"@"), pathsDirective
}

// paths returns, each behind before, the paths that begin with begun and can be
// typed as they are. A directory ends in a slash.
func (s System) paths(begun, before string) (all []cobra.Completion) {
	in, name := filepath.Split(begun)
	at := in
	if !filepath.IsAbs(at) {
		at = filepath.Join(s.dir(), in)
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		found := e.Name()
		if !strings.HasPrefix(found, name) || strings.HasPrefix(found, ".") && name == "" || strings.ContainsAny(found, " \t\n\"'`$\\") || terminal.Safe(found) != found {
			continue
		}
		if e.IsDir() {
			found += "/"
		}
		all = append(all, before+in+found)
	}
	return all
}

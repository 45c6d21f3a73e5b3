package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func (s System) configCommand() *cobra.Command {
	var o runOptions
	var asJSON bool
	c := &cobra.Command{
		Use: "config", Short: "Show the settings in effect, and where each is from", Args: noArgs,
		Long: `Show the settings in effect, and where each is from: the defaults, the user's file,
the project's .belay/config.toml once it is trusted, or a flag.`,
		Example: `  belay config
  belay config set mode auto
  belay config unset mode
  belay config add rules.deny 'Bash(git push)'
  belay config trust`,
		RunE: func(*cobra.Command, []string) error { return s.in(o.dir).showConfig(asJSON) },
	}
	c.PersistentFlags().StringVarP(&o.dir, "dir", "C", "", "of `DIR` instead of here")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.AddCommand(
		&cobra.Command{
			Use: "set KEY VALUE", Short: "Change one setting in the user's file", Args: counted(cobra.ExactArgs(2)),
			Example: "  belay config set limits.cost 2.50\n  belay config set rules.allow 'Bash(go test ./...)'",
			RunE: func(_ *cobra.Command, args []string) error {
				file := s.userConfig()
				if err := SetConfig(file, args[0], args[1]); err != nil {
					return err
				}
				_, err := fmt.Fprintf(s.Stderr, "%s is set in %s\n", args[0], file)
				return err
			},
		},
		s.unsetCommand(),
		s.listCommand("add", "Add a rule or another text to a setting of several in the user's file", AddConfig, "is added to"),
		s.listCommand("remove", "Take a rule or another text out of a setting of several in the user's file", RemoveConfig, "is taken out of"),
		&cobra.Command{
			Use: "trust [DIR]", Short: "Let the settings of a directory's own .belay/config.toml count, as they are now",
			Args:    counted(cobra.MaximumNArgs(1)),
			Example: "  belay config trust\n  belay config trust ../other",
			RunE: func(_ *cobra.Command, args []string) error {
				at := s.in(o.dir)
				if len(args) > 0 {
					at = s.in(args[0])
				}
				root, err := at.root()
				if err != nil {
					return err
				}
				if _, present, err := readConfig(projectFile(root)); err == nil && !present {
					return usage("there is nothing to trust: %s does not exist", projectFile(root))
				}
				if err := Trust(s.stateDir(), root); err != nil {
					return err
				}
				if _, err := at.config(root); err != nil {
					return err // it counts now, so what is wrong in it is said now
				}
				_, err = fmt.Fprintf(s.Stderr, "%s is trusted as it is now\n", projectFile(root))
				return err
			},
		})
	return c
}

// unsetCommand takes a setting out again.
func (s System) unsetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "unset KEY", Short: "Take one setting out of the user's file, so that its default holds", Args: counted(cobra.ExactArgs(1)),
		Example: "  belay config unset limits.cost\n  belay config unset rules.allow",
		RunE: func(_ *cobra.Command, args []string) error {
			file := s.userConfig()
			if err := UnsetConfig(file, args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(s.Stderr, "%s is no longer set in %s\n", args[0], file)
			return err
		},
	}
}

// listCommand changes one text of a setting that has several.
func (s System) listCommand(name, short string, change func(file, key, text string) error, did string) *cobra.Command {
	return &cobra.Command{
		Use: name + " KEY TEXT", Short: short, Args: counted(cobra.ExactArgs(2)),
		Example: "  belay config " + name + " rules.allow 'Bash(go test *)'\n  belay config " + name + " env.pass GH_TOKEN",
		RunE: func(_ *cobra.Command, args []string) error {
			file := s.userConfig()
			if err := change(file, args[0], args[1]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(s.Stderr, "%s %s %s in %s\n", oneLine(args[1], 0), did, args[0], file)
			return err
		},
	}
}

// userConfig returns the user's file of settings, "" where no home is known.
func (s System) userConfig() string {
	if dir := s.configDir(); dir != "" {
		return filepath.Join(dir, "config.toml")
	}
	return ""
}

// config returns the settings in effect in root, no flags given.
func (s System) config(root string) (*Config, error) {
	return LoadConfig(Sources{User: s.userConfig(), Dir: root, State: s.stateDir(), Getenv: s.getenv})
}

func (s System) showConfig(asJSON bool) error {
	root, err := s.root()
	if err != nil {
		return err
	}
	c, err := s.config(root)
	if err != nil {
		return err
	}
	for _, w := range c.Warnings {
		fmt.Fprintln(s.Stderr, oneLine(w, 0))
	}
	if asJSON {
		type shown struct {
			Key   string `json:"key"`
			Value string `json:"value"`
			From  string `json:"from"`
		}
		all := []shown{}
		for _, x := range c.Shown() {
			all = append(all, shown{x.Key, x.Value, x.From.String()})
		}
		return json.NewEncoder(tame{s.Stdout}).Encode(all)
	}
	w := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
	for _, x := range c.Shown() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", x.Key, oneLine(x.Value, 0), oneLine(x.From.String(), 0))
	}
	return w.Flush()
}

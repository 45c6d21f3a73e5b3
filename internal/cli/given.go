package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// given refuses flags and arguments of c that are there and empty. Nobody types them:
// they come of a variable that is not set, as in `belay undo --file "$F"`, and taken
// for ones that are not there they would mean something else, such as the whole turn.
func given(c *cobra.Command, args []string) error {
	if c.DisableFlagParsing { // it is for a shell that completes a line
		return nil
	}
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		if text := f.Value.String(); text != "" && (text != "[]" || f.Value.Type() != "stringArray") {
			return
		}
		err = usage("--%s is empty: give it a value, or leave it out", f.Name)
	})
	switch c.CommandPath() {
	case "belay run": // which says what a goal is
		return err
	case "belay config set":
		args = args[:1] // a value may be empty
	}
	for i, a := range args {
		if a == "" && err == nil {
			err = usage("argument %d of `%s` is empty; usage: %s", i+1, c.CommandPath(), c.UseLine())
		}
	}
	return err
}

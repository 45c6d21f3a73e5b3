package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// given refuses flags and arguments of c that are there and say nothing: that are empty,
// or a number from 1 that is 0. Nobody types the former: they come of a variable that is
// not set, as in `belay undo --file "$F"`. Taken for ones that are not there they would
// mean something else, such as the whole turn, or the limit in the settings.
func given(c *cobra.Command, args []string) error {
	if c.DisableFlagParsing { // it is for a shell that completes a line
		return nil
	}
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		text := f.Value.String()
		switch kind := f.Value.Type(); {
		case text == "", text == "[]" && kind == "stringArray":
			err = usage("--%s is empty: give it a value, or leave it out", f.Name)
		case kind == "int" && (text == "0" || strings.HasPrefix(text, "-")):
			err = usage("--%s is %s: give it 1 or more, or leave it out", f.Name, text)
		case kind == "duration" && (text == "0s" || strings.HasPrefix(text, "-")):
			err = usage("--%s is %s: give it a time such as 10m, or leave it out", f.Name, text)
		}
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

// oneDash returns the flag of several letters that was written with one dash, which is
// read letter by letter: -mode as -m ode.
func oneDash(root *cobra.Command, args []string) (name string, ok bool) {
	for _, a := range args {
		if a == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if !strings.HasPrefix(a, "-") || len(name) < 2 {
			continue
		}
		for c := range commands(root) {
			if c.Flags().Lookup(name) != nil {
				return name, true
			}
		}
	}
	return "", false
}

// A noted writer keeps the first error of out. The library that prints help does
// not look at any.
type noted struct {
	out io.Writer
	err error
}

func (w *noted) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

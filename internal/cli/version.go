package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for a release.
var version = "dev"

func (s System) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs, Example: "  belay version",
		RunE: func(*cobra.Command, []string) error { return s.printVersion() },
	}
}

// printVersion says which build this is.
func (s System) printVersion() error {
	_, err := fmt.Fprintf(s.Stdout, "belay %s (%s, %s/%s)\n", fullVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// fullVersion returns the version with the commit it was built from, where
// that is known.
func fullVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return version + "+" + s.Value[:12]
		}
	}
	return version
}

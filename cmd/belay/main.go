// Belay is a coding agent for the command line.
package main

import (
	"os"

	"github.com/belay-agent/belay/internal/cli"
	"github.com/belay-agent/belay/internal/world/process"
)

// main is also what its own sandboxes start, to begin with.
func main() {
	if code, ours := process.Main(os.Args); ours {
		os.Exit(code)
	}
	os.Exit(cli.Main(cli.Process()))
}

// Belay is a coding agent for the command line.
package main

import (
	"os"

	"github.com/belay-agent/belay/internal/cli"
)

func main() { os.Exit(cli.Main(cli.Process())) }

// Eval measures what Belay promises, and learns what it has to.
//
//	go run ./eval compaction [SESSION...]
//	go run ./eval constraints [-faults] [-write]
//
// What a run costs beside the model has a program of its own, eval/bench, and
// what crashes leave is tested in eval/crash and eval/power.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/belay-agent/belay/eval/compaction"
	"github.com/belay-agent/belay/eval/constraints"
)

const usage = `usage: go run ./eval compaction [-h] [SESSION...]
       go run ./eval constraints [-h] [-faults] [-write]

Costs and speed: go run ./eval/bench (docs/performance.md).
`

// programs are known by the first argument.
var programs = map[string]func(ctx context.Context, args []string, out, errors io.Writer) int{
	"compaction":  compaction.Main,
	"constraints": constraints.Main,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 2 || programs[os.Args[1]] == nil {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	status := programs[os.Args[1]](ctx, os.Args[2:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// Eval measures what Belay promises, on real repositories.
//
//	go run ./eval compaction [SESSION...]
//
// What a run costs beside the model has a program of its own, eval/bench, and
// what crashes leave is tested in eval/crash and eval/power.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/belay-agent/belay/eval/compaction"
)

const usage = `usage: go run ./eval compaction [-h] [SESSION...]

Costs and speed: go run ./eval/bench (docs/performance.md).
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 2 || os.Args[1] != "compaction" {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	status := compaction.Main(ctx, os.Args[2:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

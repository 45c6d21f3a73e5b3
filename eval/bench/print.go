package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
)

func (s spread) String() string { return fmt.Sprintf("%.1f (%.1f-%.1f)", s.median, s.low, s.high) }

// printMachine prints what the figures depend on.
func printMachine(w io.Writer) {
	fmt.Fprintf(w, "%d cores, %s/%s, built by %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, f := range []struct{ label, name string }{{"kernel", "/proc/sys/kernel/osrelease"}, {"load", "/proc/loadavg"}} {
		if text, err := os.ReadFile(f.name); err == nil { // there is none but on Linux
			fmt.Fprintf(w, ", %s %s", f.label, strings.TrimSpace(string(text)))
		}
	}
	fmt.Fprint(w, ".\n\n")
}

// printTimes prints what whole runs took.
func printTimes(w io.Writer, subjects []*subject) {
	fmt.Fprintf(w, "Median (lowest-highest) of %d runs:\n\n", len(subjects[0].runs))
	fmt.Fprintln(w, "| run | first byte sent, ms | CPU, ms | wall, ms | peak MiB |")
	fmt.Fprintln(w, "|---|---|---|---|---|")
	for _, s := range subjects {
		sent := "-"
		if s.dialect != "" {
			sent = s.spread(first).String()
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", s.name, sent, s.spread(cpu), s.spread(wall), s.spread(mib))
	}
}

// printSteps prints what a step takes: the long session less the one with one
// reply.
func printSteps(w io.Writer, subjects []*subject) {
	fmt.Fprintln(w, "\n| a step | CPU, ms | wall, ms |")
	fmt.Fprintln(w, "|---|---|---|")
	for _, long := range subjects {
		of, ok := strings.CutPrefix(long.name, "50 steps, ")
		if !ok {
			continue
		}
		short := subjects[slices.IndexFunc(subjects, func(s *subject) bool { return s.name == "one reply, "+of })]
		each := func(of func(usage) float64) float64 {
			return (long.spread(of).median - short.spread(of).median) / steps
		}
		fmt.Fprintf(w, "| %s | %.2f | %.2f |\n", of, each(cpu), each(wall))
	}
}

// printBytes prints what the first request is made of, and how much of each
// request the next one repeats.
func printBytes(ctx context.Context, w io.Writer, p place, belay string) error {
	fmt.Fprintln(w, "| first request | bytes | tools | system | messages | tools offered | prefix repeated, lowest of 50 | of it what is not for one step alone |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, d := range []dialect{openAI, anthropic} {
		if err := p.restore(ctx); err != nil {
			return err
		}
		srv, err := serve(d, longSession(p.files), true)
		if err != nil {
			return err
		}
		env := append(srv.environ(), "HOME="+p.home, "PATH="+os.Getenv("PATH"))
		argv := []string{belay, "run", "--mode", "full", "--max-steps", "1000", "--model", string(d) + "/m", "Do what the script says."}
		if _, err := measure(ctx, argv, p.work, env); err != nil {
			return err
		}
		if err := srv.close(); err != nil {
			return err
		}
		_, _, bodies := srv.heard()
		first, err := parse(bodies[0])
		if err != nil {
			return err
		}
		all, err := shares(bodies, whole)
		if err != nil {
			return err
		}
		lasting, err := shares(bodies, ending)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %.4f | %.4f |\n", d,
			first.whole, first.tools, first.system, first.messages, first.offered, slices.Min(all), slices.Min(lasting))
	}
	return nil
}

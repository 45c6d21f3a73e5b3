// Bench measures what Belay costs beside the model: time and processor time to
// its first request and for each step, memory, bytes. docs/performance.md has
// its figures and what they mean.
//
//	go run ./eval/bench [-n 20] [-dir DIR] BELAY
//
// The subjects run in turn, round after round, so that whatever else the
// machine does falls on all of them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	n := flag.Int("n", 20, "runs of each subject")
	dir := flag.String("dir", os.TempDir(), "where sessions and workspaces are; its disk is measured too")
	hello := flag.Bool("hello", false, "only send one request: the floor for a Go program")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := errors.New("usage: bench [-n 20] [-dir DIR] BELAY")
	switch {
	case *hello:
		err = sayHello(ctx)
	case flag.NArg() == 1:
		err = bench(ctx, flag.Arg(0), *dir, *n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func sayHello(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("OPENAI_BASE_URL"), strings.NewReader("{}"))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() // it was only read
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// bench measures and prints.
func bench(ctx context.Context, belay, dir string, n int) (err error) {
	if belay, err = filepath.Abs(belay); err != nil {
		return err
	}
	if dir, err = os.MkdirTemp(dir, "belay-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := newPlace(ctx, dir)
	if err != nil {
		return err
	}
	s, err := subjects(p, belay)
	if err != nil {
		return err
	}
	d, err := openDisk(p.dir)
	if err != nil {
		return fmt.Errorf("measure the disk: %w", err)
	}
	defer func() { err = errors.Join(err, d.close()) }()
	for i := range n + 1 {
		for _, one := range s {
			if err := one.run(ctx, p); err != nil {
				return err
			}
			if i == 0 { // it has only warmed caches
				one.runs = nil
			}
			if err := d.measure(); err != nil {
				return fmt.Errorf("measure the disk: %w", err)
			}
		}
		fmt.Fprintf(os.Stderr, "\rround %d of %d", i, n)
	}
	fmt.Fprintln(os.Stderr)
	printMachine(os.Stdout)
	printTimes(os.Stdout, s)
	printSteps(os.Stdout, s)
	fmt.Printf("\nThe disk: %.2f ms to add a record and sync, %.2f ms to replace a file and sync both it and its directory.\n\n",
		spreadOf(d.records).median, spreadOf(d.replaces).median)
	return printBytes(ctx, os.Stdout, p, belay)
}

// subjects are all that is measured. Those with a long session come with the
// number of their steps.
func subjects(p place, belay string) ([]*subject, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	long, short := longSession(p.files), []reply{{Text: "Done."}}
	written := map[string][]reply{"one.txtar": short, "long.txtar": long}
	for name, replies := range written {
		if err := os.WriteFile(filepath.Join(p.dir, name), script(replies), 0o644); err != nil {
			return nil, err
		}
	}
	run := func(model string) []string {
		return []string{belay, "run", "--quiet", "--mode", "full", "--max-steps", "1000", "--model", model, "Do what the script says."}
	}
	play := func(name string) []string { return run("script:" + filepath.Join(p.dir, name)) }
	return []*subject{
		{name: "`true`", argv: []string{"true"}},
		{name: "a Go program that sends one request", argv: []string{self, "-hello"}, dialect: openAI, replies: short},
		{name: "`belay version`", argv: []string{belay, "version"}},
		{name: "one reply, OpenAI, in a new home", argv: run("openai/m"), dialect: openAI, replies: short, fresh: true},
		{name: "one reply, OpenAI", argv: run("openai/m"), dialect: openAI, replies: short},
		{name: "one reply, Anthropic", argv: run("anthropic/m"), dialect: anthropic, replies: short},
		{name: "one reply, rehearsed", argv: play("one.txtar")},
		{name: "50 steps, OpenAI", argv: run("openai/m"), dialect: openAI, replies: long},
		{name: "50 steps, Anthropic", argv: run("anthropic/m"), dialect: anthropic, replies: long},
		{name: "50 steps, rehearsed", argv: play("long.txtar")},
	}, nil
}

// Package compaction proves what a compaction keeps: sessions on real
// repositories, with labels of the facts in them, are compacted, and what the
// model sees afterwards is held against the labels and the workspace.
//
// A session is a story that somebody wrote (stories/NAME.txtar) and a labels
// file that lists its facts (labels/NAME.json). The story is played by the real
// loop, with real tools, on a real checkout; only the model is rehearsed.
package compaction

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io"
	"path"
	"strings"
)

//go:embed stories/*.txtar labels/*.json
var files embed.FS

// Names returns the sessions, sorted.
func Names() []string {
	entries, err := files.ReadDir("stories")
	if err != nil {
		panic("compaction: the stories are embedded: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
	}
	return names
}

// Main is the command. It returns the exit status: 1 where a target is missed or
// something could not be measured, 2 for wrong usage.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("compaction", flag.ContinueOnError)
	f.SetOutput(stderr)
	keep := f.String("keep", "", "make the sessions below this directory, and leave them there")
	f.Usage = func() {
		fmt.Fprintf(stderr, "usage: go run ./eval compaction [flags] [SESSION...]\nwithout a session: all of %s\n", strings.Join(Names(), ", "))
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return 2
	}
	names := f.Args()
	if len(names) == 0 {
		names = Names()
	}
	for _, name := range names {
		if err := describe(ctx, stdout, name, *keep); err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", name, err)
			return 1
		}
	}
	return 0
}

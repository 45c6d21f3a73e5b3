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
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/world/provider"
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
	asJSON := f.Bool("json", false, "print the reports as JSON")
	by := f.String("model", "", "a model of provider/name that writes the notes, instead of the scripted summariser")
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
		if !slices.Contains(Names(), name) {
			fmt.Fprintf(stderr, "compaction: no session is named %q\n", name)
			f.Usage()
			return 2
		}
	}
	notes, err := notesBy(*by)
	if err != nil {
		fmt.Fprintln(stderr, "compaction:", err)
		return 2
	}
	reports, err := measureAll(ctx, names, *keep, notes, stderr)
	if err == nil && *asJSON {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		err = e.Encode(reports)
	} else if err == nil {
		err = print(stdout, reports)
	}
	if err != nil {
		fmt.Fprintln(stderr, "compaction:", err)
		return 1
	}
	status := 0
	for _, r := range reports {
		for _, m := range r.misses() {
			fmt.Fprintln(stderr, "missed:", m)
			status = 1
		}
	}
	return status
}

// notesBy returns who writes notes: a model, or the summariser where none is named.
func notesBy(name string) (model.Provider, error) {
	if name == "" {
		return summariser{}, nil
	}
	maker, _, _ := strings.Cut(name, "/")
	p, info, err := provider.Open(provider.Options{Name: name, Key: os.Getenv(provider.KeyVariable(maker))})
	return named{p, info.Name}, err
}

// named is a provider of one model, whatever a request names.
type named struct {
	model.Provider
	model string
}

func (n named) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	r := *req
	r.Model = n.model
	return n.Provider.Stream(ctx, &r)
}

func measureAll(ctx context.Context, names []string, keep string, notes model.Provider, progress io.Writer) (all []Report, err error) {
	dir := keep
	if keep == "" {
		if dir, err = os.MkdirTemp("", "belay-eval-"); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	w, err := newWire()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		fmt.Fprintln(progress, name)
		b := bench{wire: w, notes: notes, compact: ordinary, dir: filepath.Join(dir, name)}
		r, err := b.measure(ctx, name)
		if err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
	return all, nil
}

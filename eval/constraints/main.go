package constraints

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/decide/constraint"
)

const (
	textsFolder   = "eval/constraints/texts"
	weightsFolder = "internal/decide/constraint"
)

const usage = `usage: go run ./eval constraints [-faults] [-write]

Measures what the reader of constraints finds in the texts of each author, having
learned only from the others.

  -faults  tell each that was missed or wrongly found
  -write   learn from all texts, and write the weights
`

// Main is the command. It returns its exit status.
func Main(ctx context.Context, args []string, out, errors_ io.Writer) int {
	flags := flag.NewFlagSet("constraints", flag.ContinueOnError)
	flags.SetOutput(errors_)
	flags.Usage = func() { fmt.Fprint(errors_, usage) }
	faults := flags.Bool("faults", false, "")
	write := flags.Bool("write", false, "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil || flags.NArg() > 0:
		flags.Usage()
		return 2
	}
	texts, err := Read(textsFolder)
	if err == nil && *write {
		err = Write(weightsFolder, Train(texts))
	} else if err == nil {
		err = compare(ctx, texts, *faults, out)
	}
	if err != nil {
		fmt.Fprintln(errors_, "eval constraints:", err)
		return 1
	}
	return 0
}

// compare prints, for the texts of each author, what is found by a reader that has
// learned from the others.
func compare(ctx context.Context, texts []Text, faults bool, out io.Writer) error {
	authors := make(map[string][]Text)
	for _, t := range texts {
		authors[t.Author] = append(authors[t.Author], t)
	}
	whole := make(map[string]Score)
	for _, author := range slices.Sorted(maps.Keys(authors)) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		reader := Train(slices.DeleteFunc(slices.Clone(texts), func(t Text) bool { return t.Author == author }))
		for _, language := range []string{"en", "zh"} {
			of := slices.DeleteFunc(slices.Clone(authors[author]), func(t Text) bool { return t.Language != language })
			if len(of) == 0 {
				continue
			}
			s := Measure(of, reader.Find, func(fault string) {
				if faults {
					fmt.Fprintf(out, "%s: %s\n", author, fault)
				}
			})
			fmt.Fprintf(out, "%-12s %s %4d texts: %s\n", author, language, len(of), s)
			whole[language] = whole[language].Plus(s)
		}
	}
	for _, language := range slices.Sorted(maps.Keys(whole)) {
		fmt.Fprintf(out, "%-12s %s: %s\n", "all", language, whole[language])
	}
	return nil
}

// Write writes the weights of a reader as the tables that are built in.
func Write(folder string, r constraint.Reader) error {
	for name, weights := range map[string]constraint.Weights{"weights.en.tsv": r.English, "weights.zh.tsv": r.Chinese} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(Table(weights)), 0o644); err != nil {
			return fmt.Errorf("weights: %w", err)
		}
	}
	return nil
}

// Table is the table of weights, as constraint.ParseWeights reads it.
func Table(weights constraint.Weights) string {
	var b strings.Builder
	for _, feature := range slices.Sorted(maps.Keys(weights)) {
		w := weights[feature]
		for _, n := range []int32{w.Binds, w.Asks, w.Forbids} {
			if n != 0 { // none is left out: the binary has the tables
				b.WriteString(strconv.Itoa(int(n)))
			}
			b.WriteByte('\t')
		}
		b.WriteString(feature + "\n")
	}
	return b.String()
}

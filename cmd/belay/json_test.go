package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// pick prints of each line of JSON what stands at the given places, but only
// where all of them are there: pick stdout t b.call b.result.error.kind. A
// place may end in =VALUE, which it must have.
func pick(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: pick FILE PLACE...")
	}
	lines := picked(objects(ts, args[0]), args[1:])
	if neg == (len(lines) > 0) {
		ts.Fatalf("%d lines of %s have %v", len(lines), args[0], args[1:])
	}
	fmt.Fprint(ts.Stdout(), strings.Join(lines, ""))
}

// kinds prints the types of events, in a row.
func kinds(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: kinds FILE")
	}
	var all []string
	for _, e := range objects(ts, args[0]) {
		all = append(all, fmt.Sprint(e["t"]))
	}
	fmt.Fprintln(ts.Stdout(), strings.Join(all, " "))
}

// objects reads a file that must have one JSON object on each line.
func objects(ts *testscript.TestScript, file string) []map[string]any {
	var all []map[string]any
	for line := range strings.Lines(ts.ReadFile(file)) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			ts.Fatalf("%s: not a JSON object: %v: %q", file, err, line)
		}
		all = append(all, o)
	}
	return all
}

func picked(objects []map[string]any, places []string) []string {
	var lines []string
	for _, o := range objects {
		if cells, ok := cellsOf(o, places); ok {
			lines = append(lines, strings.Join(cells, " ")+"\n")
		}
	}
	return lines
}

func cellsOf(o map[string]any, places []string) ([]string, bool) {
	var cells []string
	for _, place := range places {
		place, want, must := strings.Cut(place, "=")
		v, ok := at(o, place)
		switch {
		case !ok || must && v != want:
			return nil, false
		case !must:
			cells = append(cells, v)
		}
	}
	return cells, true
}

// at returns what stands at a place such as b.message.parts.0.text.
func at(v any, place string) (string, bool) {
	for name := range strings.SplitSeq(place, ".") {
		switch in := v.(type) {
		case map[string]any:
			inner, ok := in[name]
			if !ok {
				return "", false
			}
			v = inner
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return "", false
			}
			v = in[i]
		default:
			return "", false
		}
	}
	if s, ok := v.(string); ok {
		return s, true
	}
	b, err := json.Marshal(v)
	return string(b), err == nil
}

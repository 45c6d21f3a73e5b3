// Package constraints trains the reader of decide/constraint on labelled texts, and
// measures what it finds in those of authors that it has not learned from.
package constraints

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-agent/belay/internal/decide/constraint"
)

// A Text is what somebody may say, and what of it binds.
type Text struct {
	Text        string `json:"text"`
	Language    string `json:"lang"`
	Constraints []struct {
		Words string          `json:"words"`
		Kind  constraint.Kind `json:"kind"`
	} `json:"constraints"`
	Author string `json:"-"`
}

// Read returns the texts of a folder, of which each file is by an author of its own.
func Read(folder string) (all []Text, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("labelled texts: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("labelled texts: none in %s; run this from the root of the repository", folder)
	}
	for _, file := range files {
		lines, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("labelled texts: %w", err)
		}
		for line := range strings.Lines(string(lines)) {
			t := Text{Author: strings.TrimSuffix(filepath.Base(file), ".jsonl")}
			if err := json.Unmarshal([]byte(line), &t); err != nil {
				return nil, fmt.Errorf("labelled texts: %s: %w", file, err)
			}
			for _, c := range t.Constraints {
				if c.Words == "" || !strings.Contains(t.Text, c.Words) {
					return nil, fmt.Errorf("labelled texts: %s: %q is not in %q", file, c.Words, t.Text)
				}
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// met returns which of the constraints of t the bytes from start to end are of: at
// least half of the shorter one is in the other.
func (t Text) met(start, end int) (which []int) {
	for i, c := range t.Constraints {
		from := strings.Index(t.Text, c.Words)
		to := from + len(c.Words)
		if 2*(min(end, to)-max(start, from)) >= min(end-start, to-from) {
			which = append(which, i)
		}
	}
	return which
}

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/rulefile"
)

// NewRule returns the edit that adds rule, one line, to the rule file that counts most,
// as the last item of the section under heading, such as "## Lessons". Both are made where
// they are not there. It is false if the file has that item already.
func (w *Workspace) NewRule(heading, rule string) (e edit.Intent, ok bool, err error) {
	names := rulefile.Names()
	name := names[len(names)-1]
	text, err := w.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		_, content := ruled("", heading, rule)
		return edit.Intent{Path: name, Regions: []edit.Region{{Len: len(content), New: []byte(content)}}}, true, nil
	}
	if err != nil {
		return e, false, fmt.Errorf("add a rule: %w", err)
	}
	for line := range strings.Lines(text.Content) {
		if strings.TrimSpace(line) == "- "+rule {
			return e, false, nil
		}
	}
	at, item := ruled(text.Content, heading, rule)
	region, err := text.Region(at, at, item)
	if err != nil {
		return e, false, fmt.Errorf("add a rule to %s: %w", name, err)
	}
	if size := text.Size + int64(region.Len); size > maxRules {
		return e, false, fmt.Errorf("add a rule to %s: %w: it would have %d bytes, and may have %d", name, ErrTooLarge, size, maxRules)
	}
	return edit.Intent{Path: text.Path, Base: text.Digest, Regions: []edit.Region{region}}, true, nil
}

// ruled returns where in content rule goes, and what is put there.
func ruled(content, heading, rule string) (at int, item string) {
	item = "- " + rule + "\n"
	inside, fenced, empty, offset := false, false, true, 0
	for line := range strings.Lines(content) {
		end := offset + len(line)
		words := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(words, "```"):
			fenced = !fenced
		case !fenced && !inside && words == heading:
			inside, at = true, end
			offset = end
			continue
		case !fenced && inside && isHeading(words):
			return at, above(content[:at], empty) + item
		}
		if inside && words != "" {
			at, empty = end, false
		}
		offset = end
	}
	if inside {
		return at, above(content[:at], empty) + item
	}
	return len(content), above(content, content != "") + heading + "\n\n" + item
}

// above is what ends what stands before something new, with an empty line between
// if apart is set.
func above(before string, apart bool) string {
	lines := ""
	if before != "" && !strings.HasSuffix(before, "\n") {
		lines = "\n"
	}
	if apart {
		lines += "\n"
	}
	return lines
}

func isHeading(line string) bool {
	rest := strings.TrimLeft(line, "#")
	return len(rest) < len(line) && (rest == "" || rest[0] == ' ')
}

package shell

import "strings"

// Programs returns the names of all entries of the tables.
func Programs() (names []string) {
	for _, text := range [...]string{filesTable, textTable, gitTable, buildTable, netTable, wrapTable, systemTable} {
		for line := range strings.Lines(text) {
			if rest, ok := strings.CutPrefix(line, "= "); ok {
				names = append(names, strings.Fields(rest)...)
			}
		}
	}
	return names
}

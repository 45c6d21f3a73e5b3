package toolbox

import (
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A fileOp is what a patch does to a file.
type fileOp int

const (
	updateFile fileOp = iota
	addFile
	removeFile
)

// A filePatch is what a patch does to one file.
type filePatch struct {
	op       fileOp
	path, to string // to is where it moves, "" if it does not
	mode     string // git's, "" if it says none
	content  string // of a new file
	hunks    []patchHunk
}

// A patchHunk is a hunk and what a patch says of its place.
type patchHunk struct {
	hunk
	line    int      // from 1; 0 if it names none
	anchors []string // lines that stand before it
	atEnd   bool     // its lines are the last
	anyLine bool     // the format names no lines
}

// parsePatch reads a patch in either format.
func parsePatch(text string) ([]filePatch, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var files []filePatch
	var err error
	if begun := strings.TrimLeft(text, " \t\n"); strings.HasPrefix(begun, "*** ") && strings.HasPrefix(begun, beginPatch) {
		files, err = parseBegun(begun)
	} else {
		files, err = parseUnified(text)
	}
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, misread(0, "it names no file", "begin with --- a/PATH and +++ b/PATH, or with "+beginPatch)
	}
	return files, nil
}

// misread is the failure of a patch that cannot be read, at a line of it from 1.
func misread(line int, message, hint string) *tool.Failure {
	if line == 0 {
		return invalid(hint, "the patch cannot be read: %s", message)
	}
	return invalid(hint, "line %d of the patch cannot be read: %s", line, message)
}

// A hunkBuilder collects the lines of a hunk.
type hunkBuilder struct {
	patchHunk
	current *swap
	last    byte // the sign of the last line
}

// add takes a line of a hunk, the sign first; an empty line is an empty line of
// context. It reports whether there is such a sign.
func (b *hunkBuilder) add(line string) bool {
	sign, text := byte(' '), ""
	if line != "" {
		sign, text = line[0], line[1:]
	}
	switch sign {
	case ' ':
		b.flush()
		b.old = append(b.old, text)
	case '-':
		b.pending().to++
		b.old = append(b.old, text)
	case '+':
		s := b.pending()
		s.fresh = append(s.fresh, text)
	case '\\':
		b.marked = true
		b.hunk.open = b.hunk.open || b.last != '-'
		return true
	default:
		return false
	}
	b.last = sign
	return true
}

// pending returns the swap that the next line belongs to.
func (b *hunkBuilder) pending() *swap {
	if b.current == nil {
		b.current = &swap{from: len(b.old), to: len(b.old)}
	}
	return b.current
}

func (b *hunkBuilder) flush() {
	if b.current != nil {
		b.swaps = append(b.swaps, *b.current)
		b.current = nil
	}
}

// finish returns the hunk.
func (b *hunkBuilder) finish() patchHunk {
	b.flush()
	return b.patchHunk
}

// text returns what a hunk that only adds lines makes of nothing.
func (h patchHunk) text() string {
	return spliced("", h.splices(sheetOf(""), 0))
}

const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	addMark    = "*** Add File: "
	updateMark = "*** Update File: "
	removeMark = "*** Delete File: "
	moveMark   = "*** Move to: "
	endOfFile  = "*** End of File"
)

// parseBegun reads the format that begins with *** Begin Patch.
func parseBegun(text string) ([]filePatch, error) {
	all := lines(text)
	n := 1
	var files []filePatch
	for ; ; n++ {
		switch {
		case n >= len(all):
			return nil, misread(n, "it ends without "+endPatch, "send the whole patch")
		case strings.TrimSpace(all[n]) == endPatch:
			return files, nil
		case strings.TrimSpace(all[n]) == "":
			continue
		}
		p, next, err := parseBegunFile(all, n)
		if err != nil {
			return nil, err
		}
		files = append(files, p)
		n = next - 1
	}
}

// parseBegunFile reads what is said of one file, from line n, and returns the line after it.
func parseBegunFile(all []string, n int) (filePatch, int, error) {
	var p filePatch
	for mark, op := range map[string]fileOp{addMark: addFile, updateMark: updateFile, removeMark: removeFile} {
		if rest, ok := strings.CutPrefix(all[n], mark); ok {
			p.op, p.path = op, strings.TrimSpace(rest)
		}
	}
	if p.path == "" {
		return p, n, misread(n+1, "there is no file here", "begin each file with "+addMark+", "+updateMark+" or "+removeMark)
	}
	n++
	if p.op == updateFile && n < len(all) {
		if to, ok := strings.CutPrefix(all[n], moveMark); ok {
			p.to = strings.TrimSpace(to)
			n++
		}
	}
	var b hunkBuilder
	begun := false
	flush := func() {
		if h := b.finish(); begun {
			h.anyLine = true
			p.hunks = append(p.hunks, h)
		}
		b, begun = hunkBuilder{}, false
	}
	for ; n < len(all) && !fileMark(all[n]); n++ {
		anchor, isAnchor := strings.CutPrefix(all[n], "@@")
		switch {
		case all[n] == endOfFile:
			b.atEnd = true
		case isAnchor && p.op == updateFile:
			if len(b.old)+len(b.swaps) > 0 || b.current != nil {
				flush()
			}
			if anchor = strings.TrimSpace(anchor); anchor != "" {
				b.anchors = append(b.anchors, anchor)
			}
		case p.op == removeFile && strings.TrimSpace(all[n]) == "":
		case p.op == removeFile || p.op == addFile && !strings.HasPrefix(all[n], "+") || !b.add(all[n]):
			return p, n, misread(n+1, "it begins with none of blank, - and +", "begin each line of a hunk with a blank, - or +; of a new file with +")
		default:
			begun = true
		}
	}
	flush()
	if p.op == addFile {
		for _, h := range p.hunks {
			p.content += h.text()
		}
		p.hunks = nil
	}
	if p.op == updateFile && len(p.hunks) == 0 && p.to == "" {
		return p, n, misread(n, "it says nothing of "+p.path, "give the lines to change")
	}
	return p, n, nil
}

// fileMark reports whether a line begins another file, or ends the patch.
func fileMark(line string) bool {
	return strings.HasPrefix(line, addMark) || strings.HasPrefix(line, updateMark) ||
		strings.HasPrefix(line, removeMark) || strings.TrimSpace(line) == endPatch
}

package toolbox

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/tool"
)

var hunkRE = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// A unifiedReader reads a unified diff, with or without git's lines between.
type unifiedReader struct {
	lines []string
	n     int
	files []filePatch
}

// parseUnified reads a unified diff. Text before the first file is passed over.
// The numbers of a hunk are believed where they agree with its lines.
func parseUnified(text string) ([]filePatch, error) {
	r := unifiedReader{lines: lines(text)}
	for r.n < len(r.lines) {
		l := r.lines[r.n]
		var err error
		switch {
		case strings.HasPrefix(l, "diff --git "):
			err = r.git()
		case r.heads(r.n):
			err = r.file(filePatch{})
		case strings.HasPrefix(l, "@@ "):
			err = misread(r.n+1, "a hunk without a file", "name the file first: --- a/PATH and +++ b/PATH")
		default:
			r.n++
		}
		if err != nil {
			return nil, err
		}
	}
	return r.files, nil
}

// heads reports whether the names of a file are at line n.
func (r *unifiedReader) heads(n int) bool {
	return n+1 < len(r.lines) && strings.HasPrefix(r.lines[n], "--- ") && strings.HasPrefix(r.lines[n+1], "+++ ")
}

// git reads what git says of a file before its hunks.
func (r *unifiedReader) git() error {
	start := r.n
	p := filePatch{}
	created, gone := false, false
	for r.n++; r.n < len(r.lines); r.n++ {
		l := r.lines[r.n]
		key, value := cutWords(l)
		switch key {
		case "old mode", "index", "similarity index", "dissimilarity index":
		case "new mode":
			p.mode = value
		case "new file mode":
			p.mode, created = value, true
		case "deleted file mode":
			gone = true
			if err := plainMode(r.n, value); err != nil {
				return err
			}
		case "rename from":
			p.path = unquote(value)
		case "rename to":
			p.to = unquote(value)
		case "copy from", "copy to":
			return misread(r.n+1, "copies cannot be made", "add the file instead")
		case "Binary files", "GIT binary patch":
			return &tool.Failure{Kind: tool.Binary, Message: "the patch changes a binary file", Hint: "use a command for that"}
		default:
			return r.gitEnd(start, p, created, gone)
		}
		if p.mode != "" {
			if err := plainMode(r.n, p.mode); err != nil {
				return err
			}
		}
	}
	return r.gitEnd(start, p, created, gone)
}

// gitEnd reads the hunks of a file of which git has said p, or none.
func (r *unifiedReader) gitEnd(start int, p filePatch, created, gone bool) error {
	if r.heads(r.n) {
		return r.file(p)
	}
	if p.path == "" {
		name, ok := sameName(strings.TrimPrefix(r.lines[start], "diff --git "))
		if !ok {
			return misread(start+1, "the name of the file is not clear", "add the lines --- a/PATH and +++ b/PATH")
		}
		p.path = name
	}
	switch {
	case created:
		p.op = addFile
	case gone:
		p.op = removeFile
	case p.to == "" && p.mode == "":
		return misread(start+1, "it says nothing of "+p.path, "give the lines to change")
	}
	r.files = append(r.files, p)
	return nil
}

// cutWords splits one of git's lines in what it says and of what.
func cutWords(l string) (key, value string) {
	for _, k := range []string{
		"old mode", "new mode", "new file mode", "deleted file mode", "similarity index", "dissimilarity index",
		"rename from", "rename to", "copy from", "copy to", "index", "Binary files", "GIT binary patch",
	} {
		if rest, ok := strings.CutPrefix(l, k); ok && (rest == "" || rest[0] == ' ') {
			return k, strings.TrimSpace(rest)
		}
	}
	return "", ""
}

// plainMode refuses links and submodules.
func plainMode(line int, mode string) error {
	if mode == "100644" || mode == "100755" || mode == "100664" {
		return nil
	}
	return misread(line+1, "mode "+oneLine(mode)+" is not that of a plain file", "use a command for links and submodules")
}

// sameName returns the name that both halves of a/NAME b/NAME have.
func sameName(s string) (string, bool) {
	if half := len(s) / 2; len(s)%2 == 1 && s[half] == ' ' {
		a, okA := strings.CutPrefix(unquote(s[:half]), "a/")
		b, okB := strings.CutPrefix(unquote(s[half+1:]), "b/")
		return a, okA && okB && a == b && a != ""
	}
	return "", false
}

const devNull = "/dev/null"

// file reads the names of a file and its hunks.
func (r *unifiedReader) file(p filePatch) error {
	start := r.n
	from, to := unquote(strings.TrimPrefix(r.lines[r.n], "--- ")), unquote(strings.TrimPrefix(r.lines[r.n+1], "+++ "))
	from, to = strip(from, to)
	r.n += 2
	for r.n < len(r.lines) && strings.HasPrefix(r.lines[r.n], "@@ ") {
		h, err := r.hunk()
		if err != nil {
			return err
		}
		p.hunks = append(p.hunks, h)
	}
	switch {
	case from == devNull && to == devNull:
		return misread(start+1, "it names no file", "name it after +++")
	case from == devNull:
		p.op, p.path = addFile, to
		for _, h := range p.hunks {
			if len(h.old) > 0 {
				return misread(start+1, "a new file has no lines of context", "begin each of its lines with +")
			}
			p.content += h.text()
		}
		p.hunks = nil
	case to == devNull:
		p.op, p.path = removeFile, from
	case p.to == "" && from != to:
		p.path, p.to = from, to
	default:
		p.path = from
	}
	if p.op == updateFile && len(p.hunks) == 0 && p.to == "" && p.mode == "" {
		return misread(start+1, "it says nothing of "+p.path, "give the lines to change, after @@ -LINE,COUNT +LINE,COUNT @@")
	}
	r.files = append(r.files, p)
	return nil
}

// strip takes a/ and b/ off two names, where both have them.
func strip(from, to string) (string, string) {
	a, okA := strings.CutPrefix(from, "a/")
	b, okB := strings.CutPrefix(to, "b/")
	if (okA || from == devNull) && (okB || to == devNull) {
		return a, b
	}
	return from, to
}

// unquote returns the path that a line of a patch names: up to a tab, or as git
// quotes what is not plain. It is text as the workspace wants it.
func unquote(s string) string {
	if !strings.HasPrefix(s, `"`) {
		s, _, _ = strings.Cut(s, "\t")
		return strings.TrimRight(s, " ")
	}
	end := 1
	for end < len(s) && s[end] != '"' {
		if s[end] == '\\' {
			end++
		}
		end++
	}
	raw, err := strconv.Unquote(s[:min(end+1, len(s))])
	if err != nil {
		return s
	}
	var b strings.Builder
	for len(raw) > 0 {
		r, size := utf8.DecodeRuneInString(raw)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02X`, raw[0])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteRune(r)
		}
		raw = raw[size:]
	}
	return b.String()
}

// hunk reads a hunk.
func (r *unifiedReader) hunk() (patchHunk, error) {
	start := r.n
	m := hunkRE.FindStringSubmatch(r.lines[r.n])
	r.n++
	if m != nil {
		line, old, fresh := number(m[1], 0), number(m[2], 1), number(m[4], 1)
		if h, next, ok := r.counted(old, fresh); ok {
			r.n = next
			h.line = line
			return h, nil
		}
		h, err := r.uncounted()
		h.line = line
		return h, err
	}
	h, err := r.uncounted()
	if err == nil && len(h.swaps) == 0 {
		err = misread(start+1, "a hunk without a change", "give the lines to change")
	}
	h.anyLine = true
	return h, err
}

func number(s string, absent int) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return absent
	}
	return n
}

// counted reads a hunk of as many lines as its head says, and reports whether it
// is one: what follows it must not be more of it.
func (r *unifiedReader) counted(old, fresh int) (patchHunk, int, bool) {
	var b hunkBuilder
	n := r.n
	for ; old > 0 || fresh > 0; n++ {
		if n >= len(r.lines) || !b.add(r.lines[n]) {
			return patchHunk{}, 0, false
		}
		switch {
		case r.lines[n] == "" || r.lines[n][0] == ' ':
			old, fresh = old-1, fresh-1
		case r.lines[n][0] == '-':
			old--
		case r.lines[n][0] == '+':
			fresh--
		}
		if old < 0 || fresh < 0 {
			return patchHunk{}, 0, false
		}
	}
	if n < len(r.lines) && strings.HasPrefix(r.lines[n], `\`) {
		b.add(r.lines[n])
		n++
	}
	return b.finish(), n, r.over(n)
}

// over reports whether no hunk goes on at line n.
func (r *unifiedReader) over(n int) bool {
	if n >= len(r.lines) || r.heads(n) || r.lines[n] == "-- " {
		return true
	}
	return !strings.HasPrefix(r.lines[n], " ") && !strings.HasPrefix(r.lines[n], "-") && !strings.HasPrefix(r.lines[n], "+") &&
		(r.lines[n] != "" || r.over(n+1))
}

// uncounted reads a hunk up to the next head.
func (r *unifiedReader) uncounted() (patchHunk, error) {
	end := r.n
	for end < len(r.lines) && !strings.HasPrefix(r.lines[end], "@@ ") && !strings.HasPrefix(r.lines[end], "diff --git ") && !r.heads(end) {
		end++
	}
	next := end
	for end > r.n && strings.TrimSpace(r.lines[end-1]) == "" {
		end--
	}
	var b hunkBuilder
	for ; r.n < end; r.n++ {
		if !b.add(r.lines[r.n]) {
			return patchHunk{}, misread(r.n+1, "it begins with none of blank, - and +", "begin each line of a hunk with a blank, - or +")
		}
	}
	r.n = next
	return b.finish(), nil
}

package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// ErrUndecodable reports a replacement that cannot say which of the file's
// undecodable bytes its U+FFFD characters stand for.
var ErrUndecodable = errors.New("text stands for bytes that cannot be decoded")

// Region returns the region of the file's own bytes that Content[start:end]
// stands for, with replacement in the file's own form.
//
// What content and replacement have in common at their ends is left out, so the
// region may be smaller than asked for, and empty if nothing changes. A line
// ending in the replacement takes the form of the one it replaces, if there are
// as many, and otherwise of the line where the region starts. In the same way a
// U+FFFD keeps the byte it stands for, or is ErrUndecodable. A byte-order mark
// that the file already has is not added again.
func (t Text) Region(start, end int, replacement string) (edit.Region, error) {
	if start < 0 || end < start || end > len(t.Content) {
		return edit.Region{}, fmt.Errorf("%w: %d to %d of %d", edit.ErrRange, start, end, len(t.Content))
	}
	if !t.starts(start) || !t.starts(end) {
		return edit.Region{}, fmt.Errorf("%w: %d to %d cuts a character", edit.ErrRange, start, end)
	}
	replacement = strings.ReplaceAll(replacement, "\r\n", "\n")
	if start == 0 && bytes.HasPrefix(t.raw, []byte(mark)) {
		replacement = strings.TrimPrefix(replacement, mark)
	}
	old := t.Content[start:end]
	head, tail := common(old, replacement)
	start, end = start+head, end-tail
	from, to := t.own(start), t.own(end)
	replaced, err := t.form(start, end, replacement[head:len(replacement)-tail])
	if err != nil {
		return edit.Region{}, err
	}
	return edit.Region{Start: from, End: to, Len: len(replaced), Old: bytes.Clone(t.raw[from:to]), New: replaced}, nil
}

// Regions returns the regions that turn the whole of Content into content: its
// lines that stay keep their bytes, and Region's rules hold for the others.
func (t Text) Regions(content string) ([]edit.Region, error) {
	content = strings.ReplaceAll(content, "\r\n", "\n")
	if bytes.HasPrefix(t.raw, []byte(mark)) {
		content = strings.TrimPrefix(content, mark)
	}
	var regions []edit.Region
	for _, c := range edit.Between([]byte(t.Content), []byte(content)) {
		r, err := t.Region(c.Start, c.End, string(c.New))
		if err != nil {
			return nil, err
		}
		regions = append(regions, r)
	}
	return regions, nil
}

// starts reports whether a character starts, or the content ends, at offset.
func (t Text) starts(offset int) bool {
	return offset == len(t.Content) || utf8.RuneStart(t.Content[offset])
}

// form returns s, which replaces Content[start:end], as bytes of the file.
func (t Text) form(start, end int, s string) ([]byte, error) {
	ends, shown, lossy := t.replaced(start, end)
	if strings.Count(s, "\n") != len(ends) {
		ends = nil
	}
	count := strings.Count(s, instead)
	if lossy && count > 0 && count != len(shown) {
		return nil, fmt.Errorf("%w: U+FFFD appears %d times for %d characters", ErrUndecodable, count, len(shown))
	}
	ending := t.ending(start)
	var out []byte
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\n' && len(ends) > 0:
			out, ends = append(out, ends[0]...), ends[1:]
			i++
		case s[i] == '\n':
			out = append(out, ending...)
			i++
		case lossy && strings.HasPrefix(s[i:], instead):
			out, shown = append(out, shown[0]...), shown[1:]
			i += len(instead)
		default:
			out = append(out, s[i])
			i++
		}
	}
	return out, nil
}

// replaced returns the file's own form of each line ending and of each U+FFFD
// in Content[start:end], and whether one of the latter is an undecodable byte.
func (t Text) replaced(start, end int) (endings, shown [][]byte, lossy bool) {
	for i := start; i < end; {
		_, size := utf8.DecodeRuneInString(t.Content[i:])
		own := t.raw[t.own(i):t.own(i+size)]
		switch {
		case t.Content[i] == '\n':
			endings = append(endings, own)
		case t.Content[i:i+size] == instead:
			shown = append(shown, own)
			lossy = lossy || len(own) == 1
		}
		i += size
	}
	return endings, shown, lossy
}

// ending returns the line ending of the line that holds offset, or of the line
// before if it is the last and has none.
func (t Text) ending(offset int) string {
	at := strings.IndexByte(t.Content[offset:], '\n')
	if at >= 0 {
		at += offset
	} else if at = strings.LastIndexByte(t.Content[:offset], '\n'); at < 0 {
		return LF
	}
	return string(t.raw[t.own(at):t.own(at+1)])
}

// common returns the length of the longest prefix, and of the longest suffix of
// the rest, that a and b share. Both end where characters do.
func common(a, b string) (head, tail int) {
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for head > 0 && (head < len(a) && !utf8.RuneStart(a[head]) || head < len(b) && !utf8.RuneStart(b[head])) {
		head--
	}
	a, b = a[head:], b[head:]
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && (!utf8.RuneStart(a[len(a)-tail]) || !utf8.RuneStart(b[len(b)-tail])) {
		tail--
	}
	return head, tail
}

package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/edit"
)

var (
	// ErrUndecodable reports a replacement that cannot say which of the file's
	// undecodable bytes its U+FFFD characters stand for.
	ErrUndecodable = errors.New("text stands for bytes that cannot be decoded")
	// ErrUnencodable reports a replacement with a character that the file's
	// encoding does not have.
	ErrUnencodable = errors.New("text has a character that the file's encoding has not")
)

// Region returns the region of the file's own bytes that Content[start:end]
// stands for, with replacement in the file's own form.
//
// What content and replacement have in common at their ends is left out, so the
// region may be smaller than asked for, and empty if nothing changes. The rest is
// written in the encoding of the file, or is ErrUnencodable. A line ending in the replacement takes the form of the one it replaces, if there are
// as many, and otherwise of the line where the region starts. A byte-order mark
// that the file already has is not added again.
//
// A U+FFFD in the replacement keeps the undecodable byte in whose place it
// stands. Where more than one byte could be meant the answer is ErrUndecodable;
// for that, the lines with U+FFFD must be the same before and after, but for one
// in which all of them are in a row.
func (t Text) Region(start, end int, replacement string) (edit.Region, error) {
	if start < 0 || end < start || end > len(t.Content) {
		return edit.Region{}, fmt.Errorf("%w: %d to %d of %d", edit.ErrRange, start, end, len(t.Content))
	}
	if !t.starts(start) || !t.starts(end) {
		return edit.Region{}, fmt.Errorf("%w: %d to %d cuts a character", edit.ErrRange, start, end)
	}
	replacement = strings.ReplaceAll(replacement, "\r\n", "\n")
	if start == 0 && t.code.mark != "" {
		replacement = strings.TrimPrefix(replacement, mark)
	}
	old := t.Content[start:end]
	if t.gap(start, end) && !sameGaps(old, replacement) {
		return edit.Region{}, fmt.Errorf("%w: replace less, without U+FFFD", ErrUndecodable)
	}
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
	if t.code.mark != "" {
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

// sameGaps reports whether each U+FFFD of replacement can only mean the one of
// old with the same number, or there are none in replacement.
func sameGaps(old, replacement string) bool {
	before, after := gaps(old), gaps(replacement)
	if len(after) == 0 {
		return true
	}
	if len(before) != len(after) {
		return false
	}
	changed := 0
	for i, line := range after {
		if line == before[i] {
			continue
		}
		changed++
		n := strings.Count(line, instead)
		row := strings.Repeat(instead, n)
		if changed > 1 || slices.Contains(before, line) || strings.Count(before[i], instead) != n ||
			!strings.Contains(before[i], row) || !strings.Contains(line, row) {
			return false
		}
	}
	return true
}

// gaps returns the lines of s that have a U+FFFD.
func gaps(s string) []string {
	var out []string
	if !strings.Contains(s, instead) {
		return nil
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.Contains(line, instead) {
			out = append(out, line)
		}
	}
	return out
}

// form returns s, which replaces Content[start:end], as bytes of the file.
func (t Text) form(start, end int, s string) ([]byte, error) {
	endings, kept := t.replaced(start, end)
	if strings.Count(s, "\n") != len(endings) {
		endings = nil
	}
	if strings.Count(s, instead) != len(kept) {
		kept = nil // none of them is an undecodable byte: see sameGaps
	}
	ending := t.ending(start)
	var out []byte
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\n' && len(endings) > 0:
			out, endings = append(out, endings[0]...), endings[1:]
		case r == '\n':
			out = append(out, ending...)
		case len(kept) > 0 && s[i:i+size] == instead:
			out, kept = append(out, kept[0]...), kept[1:]
		default:
			var ok bool
			if out, ok = t.put(out, r, s[i:i+size]); !ok {
				return nil, fmt.Errorf("%w: %q is not in %s", ErrUnencodable, r, t.Encoding)
			}
		}
		i += size
	}
	return out, nil
}

// put adds a character, s, as the file has it.
func (t Text) put(out []byte, r rune, s string) ([]byte, bool) {
	switch {
	case t.code.put == nil:
		return append(out, s...), true
	case r == utf8.RuneError && len(s) == 1:
		return out, false
	}
	return t.code.put(out, r)
}

// gap reports whether some of Content[start:end] stands for undecodable bytes.
func (t Text) gap(start, end int) bool {
	if t.gaps {
		for r := range t.characters(start, end) {
			if r == undecoded {
				return true
			}
		}
	}
	return false
}

// characters yields those of Content[start:end], and the file's own bytes of each.
func (t Text) characters(start, end int) iter.Seq2[rune, []byte] {
	return func(yield func(rune, []byte) bool) {
		for at := t.own(start); start < end; {
			r, size := t.code.step(t.raw[at:])
			if !yield(r, t.raw[at:at+size]) {
				return
			}
			at, start = at+size, start+shown(r)
		}
	}
}

// replaced returns the file's own form of each line ending and of each U+FFFD
// in Content[start:end].
func (t Text) replaced(start, end int) (endings, kept [][]byte) {
	for r, own := range t.characters(start, end) {
		switch r {
		case '\n':
			endings = append(endings, own)
		case undecoded, utf8.RuneError:
			kept = append(kept, own)
		}
	}
	return endings, kept
}

// ending returns the line ending of the line that holds offset, or of the line
// before if it is the last and has none.
func (t Text) ending(offset int) []byte {
	at := strings.IndexByte(t.Content[offset:], '\n')
	if at >= 0 {
		at += offset
	} else if at = strings.LastIndexByte(t.Content[:offset], '\n'); at < 0 {
		lf, _ := t.put(nil, '\n', LF)
		return lf
	}
	return t.raw[t.own(at):t.own(at+1)]
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

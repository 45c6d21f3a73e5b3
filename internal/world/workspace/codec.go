package workspace

import (
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/transform"
)

// Encodings of a Text.
const (
	UTF8        = "utf-8"
	UTF8Mark    = "utf-8 with byte-order mark"
	UTF8Damaged = "utf-8 with undecodable bytes"
	UTF16LE     = "utf-16le"
	UTF16LEMark = "utf-16le with byte-order mark"
	UTF16BE     = "utf-16be"
	UTF16BEMark = "utf-16be with byte-order mark"
	Latin1      = "iso-8859-1"
	Windows1252 = "windows-1252"
	GB18030     = "gb18030"
	ShiftJIS    = "shift_jis"
	Unknown     = "unknown" // each byte is shown as in windows-1252, right or wrong
)

// What comes first in a file that says how it is encoded.
const (
	markOfUTF8    = "\xEF\xBB\xBF"
	markOfUTF16LE = "\xFF\xFE"
	markOfUTF16BE = "\xFE\xFF"
)

// undecoded stands for bytes that are no character.
const undecoded = rune(-1)

// A codec is how the characters of a text are written as bytes. None has a state:
// a character's bytes do not depend on those before it.
type codec struct {
	name  string
	mark  string // the bytes before the first character
	ascii bool   // a byte below 0x80 where a character starts is that character

	// next returns the character at the start of b, which is not empty, and how
	// many bytes it has; undecoded for bytes that are none.
	next func(b []byte) (rune, int)

	// put adds a character to dst, or reports that it cannot be written. It is
	// nil where a text's own bytes are what is written.
	put func(dst []byte, r rune) ([]byte, bool)
}

var (
	codecUTF8        = codec{name: UTF8, ascii: true, next: nextUTF8}
	codecUTF8Mark    = codec{name: UTF8Mark, mark: markOfUTF8, ascii: true, next: nextUTF8}
	codecUTF8Damaged = codec{name: UTF8Damaged, ascii: true, next: nextUTF8}
	codecUTF16LE     = codec{name: UTF16LE, next: nextUTF16LE, put: putUTF16LE}
	codecUTF16LEMark = codec{name: UTF16LEMark, mark: markOfUTF16LE, next: nextUTF16LE, put: putUTF16LE}
	codecUTF16BE     = codec{name: UTF16BE, next: nextUTF16BE, put: putUTF16BE}
	codecUTF16BEMark = codec{name: UTF16BEMark, mark: markOfUTF16BE, next: nextUTF16BE, put: putUTF16BE}
	codecLatin1      = codec{name: Latin1, ascii: true, next: nextLatin1, put: putLatin1}
	codecWindows1252 = codec{name: Windows1252, ascii: true, next: nextWindows1252, put: putWindows1252}
	codecUnknown     = codec{name: Unknown, ascii: true, next: nextWindows1252, put: putWindows1252}
	codecGB18030     = codec{name: GB18030, ascii: true, next: nextGB18030, put: putGB18030}
	codecShiftJIS    = codec{name: ShiftJIS, ascii: true, next: nextShiftJIS, put: putShiftJIS}
)

// step is next for what is shown as one character: CR LF is a line ending.
func (c *codec) step(b []byte) (rune, int) {
	r, size := c.next(b)
	if r == '\r' && len(b) > size {
		if r, n := c.next(b[size:]); r == '\n' {
			return r, size + n
		}
	}
	return r, size
}

func nextUTF8(b []byte) (rune, int) {
	r, size := utf8.DecodeRune(b)
	if r == utf8.RuneError && size == 1 {
		return undecoded, 1
	}
	return r, size
}

func nextUTF16LE(b []byte) (rune, int) {
	return nextUTF16(b, func(b []byte) rune { return rune(b[0]) | rune(b[1])<<8 })
}

func nextUTF16BE(b []byte) (rune, int) {
	return nextUTF16(b, func(b []byte) rune { return rune(b[0])<<8 | rune(b[1]) })
}

func nextUTF16(b []byte, unit func([]byte) rune) (rune, int) {
	if len(b) < 2 {
		return undecoded, len(b)
	}
	r := unit(b)
	if !utf16.IsSurrogate(r) {
		return r, 2
	}
	if len(b) >= 4 {
		if r := utf16.DecodeRune(r, unit(b[2:])); r != utf8.RuneError {
			return r, 4
		}
	}
	return undecoded, 2
}

func putUTF16LE(dst []byte, r rune) ([]byte, bool) {
	for _, u := range utf16.AppendRune(nil, r) {
		dst = append(dst, byte(u), byte(u>>8))
	}
	return dst, true
}

func putUTF16BE(dst []byte, r rune) ([]byte, bool) {
	for _, u := range utf16.AppendRune(nil, r) {
		dst = append(dst, byte(u>>8), byte(u))
	}
	return dst, true
}

func nextLatin1(b []byte) (rune, int) { return rune(b[0]), 1 }

func putLatin1(dst []byte, r rune) ([]byte, bool) {
	if r > 0xFF {
		return dst, false
	}
	return append(dst, byte(r)), true
}

// high are the characters of windows-1252 from 0x80 to 0x9F. The five bytes that
// stand for none are themselves, as on the web: every byte has a character.
var high = [32]rune{
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8D, 'Ž', 0x8F,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9D, 'ž', 'Ÿ',
}

func nextWindows1252(b []byte) (rune, int) {
	if b[0]&0xE0 == 0x80 {
		return high[b[0]&0x1F], 1
	}
	return rune(b[0]), 1
}

func putWindows1252(dst []byte, r rune) ([]byte, bool) {
	for i, h := range high {
		if h == r {
			return append(dst, 0x80+byte(i)), true
		}
	}
	if r > 0xFF || r&^0x1F == 0x80 {
		return dst, false
	}
	return append(dst, byte(r)), true
}

// These have no state, so that all texts can share them.
var (
	fromGB18030, toGB18030   = simplifiedchinese.GB18030.NewDecoder(), simplifiedchinese.GB18030.NewEncoder()
	fromShiftJIS, toShiftJIS = japanese.ShiftJIS.NewDecoder(), japanese.ShiftJIS.NewEncoder()
)

func nextGB18030(b []byte) (rune, int) {
	size := 2
	switch {
	case b[0] <= 0x80:
		size = 1
	case len(b) > 1 && b[1] >= '0' && b[1] <= '9':
		size = 4
	}
	return nextOf(fromGB18030, b, size)
}

func nextShiftJIS(b []byte) (rune, int) {
	size := 2
	if b[0] <= 0x80 || b[0] >= 0xA0 && b[0] < 0xE0 || b[0] > 0xFC {
		size = 1
	}
	return nextOf(fromShiftJIS, b, size)
}

// nextOf decodes a character of size bytes. What is none is one byte alone, as
// what follows may well be a character.
func nextOf(t transform.Transformer, b []byte, size int) (rune, int) {
	if b[0] < utf8.RuneSelf {
		return rune(b[0]), 1
	}
	if len(b) < size {
		return undecoded, 1
	}
	var one [2 * utf8.UTFMax]byte
	n, used, err := t.Transform(one[:], b[:size], true)
	r, length := utf8.DecodeRune(one[:n])
	if err != nil || used != size || length != n || r == utf8.RuneError {
		return undecoded, 1
	}
	return r, size
}

func putGB18030(dst []byte, r rune) ([]byte, bool) {
	return putOf(toGB18030, nextGB18030, dst, r)
}

func putShiftJIS(dst []byte, r rune) ([]byte, bool) {
	return putOf(toShiftJIS, nextShiftJIS, dst, r)
}

// putOf encodes a character, if it comes back as the same.
func putOf(t transform.Transformer, next func([]byte) (rune, int), dst []byte, r rune) ([]byte, bool) {
	if r < utf8.RuneSelf {
		return append(dst, byte(r)), true
	}
	var one [8]byte
	n, _, err := t.Transform(one[:], utf8.AppendRune(nil, r), true)
	if err != nil || n == 0 {
		return dst, false
	}
	if back, size := next(one[:n]); back != r || size != n {
		return dst, false
	}
	return append(dst, one[:n]...), true
}

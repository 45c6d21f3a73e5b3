package workspace

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// detect returns how raw is to be read as text, nil if it is none. No text holds
// a NUL, so that none reaches a model or a screen. What is valid UTF-8 is UTF-8.
// Of the rest nothing can be known, only guessed: an encoding is named if nearly
// all of the bytes that are no ASCII are what is usual in it, and otherwise the
// text is Unknown. The answer depends on the bytes alone.
func detect(raw []byte) *codec {
	switch {
	case bytes.HasPrefix(raw, []byte(markOfUTF8)):
		return without0(raw, &codecUTF8Mark)
	case bytes.HasPrefix(raw, []byte(markOfUTF16LE)):
		return wide(raw[len(markOfUTF16LE):], &codecUTF16LEMark, 0)
	case bytes.HasPrefix(raw, []byte(markOfUTF16BE)):
		return wide(raw[len(markOfUTF16BE):], &codecUTF16BEMark, 0)
	case bytes.IndexByte(raw, 0) >= 0:
		if c := wide(raw, &codecUTF16LE, mostly); c != nil {
			return c
		}
		return wide(raw, &codecUTF16BE, mostly)
	case utf8.Valid(raw):
		return &codecUTF8
	case controls(raw)*20 > len(raw):
		return nil
	}
	return guess(raw)
}

func without0(raw []byte, c *codec) *codec {
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil
	}
	return c
}

// mostly is how much of a hundred characters must be ASCII, and leastWide how
// many bytes there must be, for UTF-16 to be seen without a mark.
const (
	mostly    = 60
	leastWide = 16
)

// wide returns c, which is UTF-16, if raw is text in it: no NUL, no other control
// characters to speak of, at most one that is cut, and ascii in a hundred ASCII.
func wide(raw []byte, c *codec, ascii int) *codec {
	if ascii > 0 && len(raw) < leastWide {
		return nil
	}
	all, plain, odd, cut := 0, 0, 0, 0
	for at := 0; at < len(raw); all++ {
		r, size := c.next(raw[at:])
		switch {
		case r == 0:
			return nil
		case r == undecoded:
			cut++
		case r < ' ' && isControl(byte(r)) || r >= 0xE000 && r < 0xF900 || r == 0xFFFE || r == 0xFFFF:
			odd++
		case r < utf8.RuneSelf:
			plain++
		}
		at += size
	}
	if cut > 1 || ascii > 0 && cut+odd > 0 || odd*20 > all || plain*100 < ascii*all {
		return nil
	}
	return c
}

// isControl reports whether c, below ' ', is no part of usual text.
func isControl(c byte) bool {
	return c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\b' && c != 0x1B
}

func controls(raw []byte) (n int) {
	for _, c := range raw {
		if isControl(c) {
			n++
		}
	}
	return n
}

// guess returns the codec of a text that is not UTF-8.
func guess(raw []byte) *codec {
	start := raw[:min(len(raw), telling)]
	switch {
	case damaged(raw):
		return &codecUTF8Damaged
	case usual(start, &codecGB18030, usualGB18030) && !hangul(start):
		return &codecGB18030
	case usual(start, &codecShiftJIS, usualShiftJIS):
		return &codecShiftJIS
	case !western(raw):
		return &codecUnknown
	case hasHigh(raw):
		return &codecWindows1252
	}
	return &codecLatin1
}

// hasHigh reports whether a byte is one that ISO 8859-1 has no character for.
func hasHigh(raw []byte) bool {
	for _, c := range raw {
		if c&0xE0 == 0x80 {
			return true
		}
	}
	return false
}

// damaged reports whether raw is UTF-8 but for a few bytes, or for its end.
func damaged(raw []byte) bool {
	good, bad := 0, 0
	for at := 0; at < len(raw); {
		if raw[at] < utf8.RuneSelf {
			at++
			continue
		}
		r, size := nextUTF8(raw[at:])
		if r != undecoded {
			good += size
		} else if rest := raw[at:]; bad == 0 && len(rest) > 1 && !utf8.FullRune(rest) {
			return true // cut in the middle of a character
		} else {
			bad++
		}
		at += size
	}
	return good >= 2*bad
}

// telling is how many bytes at the start tell in what they are written, and
// maxGaps how many bytes of those may be none of it.
const (
	telling = 256 << 10
	maxGaps = 100
)

// usual reports whether raw is written in c: what is no ASCII can be decoded but
// for one in a hundred, is at least two characters, and three of four are usual.
func usual(raw []byte, c *codec, isUsual func([]byte) bool) bool {
	all, common, gaps := 0, 0, 0
	for at := 0; at < len(raw); {
		if raw[at] < utf8.RuneSelf {
			at++
			continue
		}
		r, size := c.next(raw[at:])
		if all++; r == undecoded {
			if gaps++; gaps > maxGaps {
				return false
			}
		} else if isUsual(raw[at : at+size]) {
			common++
		}
		at += size
	}
	return all-gaps >= 2 && gaps*100 <= all && common*4 >= all*3
}

// usualGB18030: punctuation, and the first level of GB 2312.
func usualGB18030(b []byte) bool {
	return len(b) == 2 && b[1] >= 0xA1 && (b[0] >= 0xA1 && b[0] <= 0xA3 || b[0] >= 0xB0 && b[0] <= 0xD7)
}

// hangul reports whether raw, which can be read as GB 2312, is rather Korean: its
// syllables lie in rows 16 to 40, where Chinese uses twice as many.
func hangul(raw []byte) bool {
	all, above := 0, 0
	for at := 0; at < len(raw); {
		_, size := nextGB18030(raw[at:])
		if size == 2 && raw[at] >= 0xB0 {
			all++
			if raw[at] > 0xC8 {
				above++
			}
		}
		at += size
	}
	return all >= 10 && above*10 < all
}

// usualShiftJIS: punctuation, kana, and the first level of JIS X 0208.
func usualShiftJIS(b []byte) bool {
	if len(b) != 2 {
		return false
	}
	switch b[0] {
	case 0x81:
		return true
	case 0x82:
		return b[1] >= 0x4F && b[1] <= 0xF1
	case 0x83:
		return b[1] <= 0x96
	case 0x88:
		return b[1] >= 0x9F
	case 0x98:
		return b[1] <= 0x72
	}
	return b[0] > 0x88 && b[0] < 0x98
}

// western reports whether raw looks like a language of Western Europe: letters
// and signs of windows-1252 that stand alone or by twos.
func western(raw []byte) bool {
	all, alone, run := 0, 0, 0
	count := func() {
		if all += run; run <= 2 {
			alone += run
		}
		run = 0
	}
	for _, c := range raw {
		switch {
		case c < utf8.RuneSelf:
			count()
		case strings.IndexByte("\x81\x8D\x8F\x90\x9D", c) >= 0:
			return false
		default:
			run++
		}
	}
	count()
	return alone*5 >= all*4
}

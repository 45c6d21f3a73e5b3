package secret

import (
	"bytes"
	"slices"
	"strings"
)

// A private key is a block of lines: as it is in a file, with what tools and
// programs put around each line, or in one line with its line feeds escaped.
const (
	maxBlock = 16 << 10
	minBody  = 24 // characters that a line of a key has, but for its last
	minShort = 20 // characters of a key between its first and its last line
	maxBlank = 8  // lines that are none of the body, one after the other
	maxDecor = 96 // bytes before what is in a line
)

// block takes a private key that begins, or ends, with the armour at start.
func (f *finding) block(rule *rule, start int) {
	b := f.text[start:min(len(f.text), start+maxBlock)]
	head := armour(b)
	switch {
	case head == 0:
	case b[len("-----")]|0x20 == 'e':
		f.tail(rule, start, start+head)
	default:
		size, ended := body(b, head)
		if !ended && !f.whole && start+len(b) == len(f.text) && len(b) < maxBlock {
			f.open = min(f.open, start)
		} else if size > 0 {
			f.add(rule, start, start+size)
		}
	}
}

const maxArmour = 120

// armour returns the length of the line of a private key with which b begins, 0
// if it begins with none.
func armour(b []byte) int {
	const dashes = "-----"
	b = b[:min(len(b), maxArmour)]
	if len(b) < len(dashes) {
		return 0
	}
	n := bytes.Index(b[len(dashes):], []byte(dashes)) + len(dashes)
	if n < len(dashes) {
		return 0
	}
	title := bytes.TrimSuffix(b[:n], []byte(" BLOCK"))
	if !bytes.HasSuffix(title, []byte("PRIVATE KEY")) || bytes.IndexByte(title, '\n') >= 0 {
		return 0
	}
	return n + len(dashes)
}

// body returns how far the key goes that b begins with, 0 if what follows the
// head is no key, and whether it is known to end there.
func body(b []byte, head int) (size int, ended bool) {
	chars, blank, short := 0, 0, 0
	for i := head; i < len(b); {
		end := lineEnd(b, i)
		line := b[i:end]
		if at := bytes.Index(line, []byte("-----END")); at >= 0 {
			n := armour(line[at:])
			if i == head {
				chars += inline(line[:at])
			}
			if chars+short >= minShort && n > 0 {
				size = i + at + n
			}
			return size, n > 0 || end < len(b)
		}
		n := inBody(line)
		if n == 0 && i == head {
			n = inline(line)
		}
		switch chars += n; {
		case n > 0:
			size, blank = i+len(bytes.TrimRight(line, "\r\n")), 0
		case isBlank(line) && blank < maxBlank:
			blank++
			if line = bytes.TrimSpace(line); isAllCode(line) {
				short += len(line)
			}
		default:
			return size, end < len(b)
		}
		i = end
	}
	if chars > 0 && blank > 0 {
		size = len(b) // the last line may be the beginning of one
	}
	return size, false
}

// lineEnd returns where the line ends that i is in, after its line feed.
func lineEnd(b []byte, i int) int {
	if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(b)
}

// inBody returns how many characters of a key are in line, 0 if it is none of a
// body.
func inBody(line []byte) int {
	line = bytes.TrimRight(line, "\r\n")
	end := len(line)
	for end > 0 && len(line)-end < 8 && strings.IndexByte("\"'`+,;)]\\ \tnr", line[end-1]) >= 0 {
		if (line[end-1] == 'n' || line[end-1] == 'r') && (end < 2 || line[end-2] != '\\') {
			break
		}
		if line[end-1] == '+' && end >= 2 && isCode(line[end-2]) {
			break
		}
		end--
	}
	from := end
	for from > 0 && isCode(line[from-1]) {
		from--
	}
	if n := end - from; n >= minBody && from <= maxDecor {
		return n
	}
	return 0
}

// isCode reports whether c is a character of base64.
func isCode(c byte) bool { return isWord(c) && c != '_' || c == '+' || c == '/' || c == '=' }

// inline returns how many characters of a key are in text, in which its line
// feeds are escapes or spaces, 0 if there is more in it.
func inline(text []byte) int {
	n := 0
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte(`\n`))
		text = rest
		if isHeader(bytes.TrimLeft(line, ` \r"`)) {
			continue
		}
		for _, c := range line {
			switch {
			case isCode(c):
				n++
			case strings.IndexByte(" \\\"\r\n", c) < 0:
				return 0
			}
		}
	}
	if n < minBody {
		return 0
	}
	return n
}

// isBlank reports whether line can be between those of a body: it has nothing
// but decoration, a header, or the end of a key.
func isBlank(line []byte) bool {
	line = bytes.TrimLeft(bytes.TrimSpace(line), "0123456789 \t:|+-\"'`#/>*")
	line = bytes.TrimPrefix(line, []byte("→"))
	line = bytes.TrimRight(line, "\"'`+,;)\\ \t")
	line = bytes.TrimSuffix(line, []byte(`\n`))
	if len(line) == 0 || isHeader(line) {
		return true
	}
	return len(line) < minBody && isAllCode(line)
}

func isAllCode(line []byte) bool {
	return !slices.ContainsFunc(line, func(c byte) bool { return !isCode(c) })
}

// isHeader reports whether line says something of the key that it is in.
func isHeader(line []byte) bool {
	for _, header := range [...]string{"Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:", "MessageID:"} {
		if bytes.HasPrefix(line, []byte(header)) {
			return true
		}
	}
	return false
}

// tail takes what is left of a private key, the end of which is from start to
// end, where its beginning is not in the text.
func (f *finding) tail(rule *rule, start, end int) {
	for _, s := range f.found {
		if s.start <= start && s.end >= end {
			return
		}
	}
	line := lineStart(f.text, start)
	from := runStart(f.text, line, maxBlock)
	if from == line {
		if inline(f.text[line:start]) == 0 {
			return
		}
	}
	f.add(rule, from, end)
}

// runStart returns where the lines of a body begin that end at end, of which the
// last may be short. It looks at little more than most bytes.
func runStart(b []byte, end, most int) int {
	from, blank := end, 0
	for at := end; at > 0 && end-at < most; {
		line := lineStart(b, at-1)
		switch {
		case inBody(b[line:at]) > 0:
			from = line
		case from == end && blank < 2 && isBlank(b[line:at]):
			blank++
		default:
			return from
		}
		at = line
	}
	return from
}

// lineStart returns where the line begins that i is in.
func lineStart(b []byte, i int) int { return bytes.LastIndexByte(b[:i], '\n') + 1 }

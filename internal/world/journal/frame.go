package journal

import (
	"bytes"
	"fmt"
	"hash/crc32"

	"github.com/belay-agent/belay/internal/contract/event"
)

// A frame is a line: "J1 <len> <crc> <prev> <json>\n", numbers as 8 hex digits.
const (
	magic     = "J1 "
	headLen   = len(magic) + 3*9
	lineLimit = 1 << 20 // bytes of json
)

// castagnoli is computed once: the table is the same for everyone.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A frame is one record as it was found.
type frame struct {
	event.Record // shares memory with raw
	crc, prev    uint32
	segment      int // number of the file
	offset       int64
	raw          []byte // the whole line; valid until the next frame
}

// appendFrame appends r's line to dst.
func appendFrame(dst []byte, prev uint32, r event.Record) ([]byte, uint32, error) {
	start := len(dst)
	dst = append(dst, make([]byte, headLen)...)
	dst, err := r.Append(dst)
	if err != nil {
		return nil, 0, err
	}
	text := dst[start+headLen:]
	if len(text) > lineLimit {
		return nil, 0, fmt.Errorf("event %d: a line of %d bytes", r.Seq, len(text))
	}
	dst = append(dst, '\n')
	crc := checksum(prev, dst[start+headLen:])
	head := append(dst[start:start], magic...)
	for _, v := range [3]uint32{uint32(len(text)), crc, prev} {
		head = append(appendHex(head, v), ' ')
	}
	return dst, crc, nil
}

func appendHex(dst []byte, v uint32) []byte {
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[v>>shift&15])
	}
	return dst
}

// checksum covers the JSON and its line feed, how long the JSON is, and the
// frame before.
func checksum(prev uint32, line []byte) uint32 {
	crc := ^uint32(0)
	for _, v := range [2]uint32{prev, uint32(len(line) - 1)} {
		for range 4 { // by hand, since crc32.Update makes garbage of what it is given
			crc = castagnoli[byte(crc)^byte(v)] ^ crc>>8
			v >>= 8
		}
	}
	return crc32.Update(^crc, castagnoli, line)
}

// frameLen returns the length of the frame that begins with head, or 0 if none
// does.
func frameLen(head []byte) int {
	if len(head) < headLen || string(head[:len(magic)]) != magic {
		return 0
	}
	n, ok := parseHex(head[3:])
	if !ok || n > lineLimit {
		return 0
	}
	return headLen + int(n) + 1
}

// parseFrame takes apart one whole frame.
func parseFrame(raw []byte) (frame, string) {
	if n := frameLen(raw); n == 0 || n != len(raw) {
		return frame{}, "no record begins here"
	}
	f := frame{raw: raw}
	var ok1, ok2 bool
	f.crc, ok1 = parseHex(raw[12:])
	f.prev, ok2 = parseHex(raw[21:])
	if !ok1 || !ok2 || raw[len(raw)-1] != '\n' || f.crc != checksum(f.prev, raw[headLen:]) {
		return frame{}, "the checksum does not fit"
	}
	r, err := event.Parse(raw[headLen : len(raw)-1])
	if err != nil {
		return frame{}, err.Error()
	}
	f.Record = r
	return f, ""
}

// parseHex reads 8 lower-case hex digits and the space after them.
func parseHex(b []byte) (v uint32, ok bool) {
	for _, c := range b[:8] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		default:
			return 0, false
		}
		v = v<<4 | uint32(c)
	}
	return v, b[8] == ' '
}

// nextFrame returns the offset in b of the first intact frame, or -1.
func nextFrame(b []byte) int {
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], []byte(magic))
		if i < 0 {
			return -1
		}
		at += i
		if n := frameLen(b[at:]); n > 0 && at+n <= len(b) {
			if _, why := parseFrame(b[at : at+n]); why == "" {
				return at
			}
		}
	}
}

package secret

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// table has the rules, one a line; its head says how to read it.
//
//go:embed rules.tsv
var table string

// A kind is how the text around an anchor is looked at.
type kind string

const (
	token  kind = "token"  // the anchor is in the secret, offset bytes from its beginning
	random kind = "random" // the same, and the secret looks like chance
	basic  kind = "basic"  // the same, and the secret is a user and a password in base64
	assign kind = "assign" // the anchor is in a name to which the secret is given
	named  kind = "named"  // the same, and the name alone says what is secret
	login  kind = "login"  // the anchor is the "://" of a URL
	block  kind = "block"  // the anchor begins or ends a block of lines
)

// A rule is how one sort of secret is found.
type rule struct {
	id      string
	kind    kind
	offset  int
	entropy float64 // that the secret has at least, in bits a byte
	re      func() *regexp.Regexp
	rank    int
}

// An anchor is text, in lower case, with which the search for a secret begins.
type anchor struct {
	text  string
	rules []*rule
}

// rules are the rules by their anchors.
type rules struct {
	// by says of a hash of three bytes in which bucket the anchors are that begin
	// with such: 0 for none.
	by      [1 << hashBits]uint8
	buckets [][]anchor
}

const hashBits = 14

// fold makes letters lower-case, and of other bytes what is equal for equal ones.
const fold = 0x20202020

// hash is of the lowest three bytes of v, which are folded.
func hash(v uint32) uint32 { return v << 8 * 0x9E3779B1 >> (32 - hashBits) }

// load reads the table. Once compiles what is needed, or nil all at once.
func load(once func(func() *regexp.Regexp) func() *regexp.Regexp) *rules {
	if once == nil {
		once = func(compile func() *regexp.Regexp) func() *regexp.Regexp {
			re := compile()
			return func() *regexp.Regexp { return re }
		}
	}
	r := &rules{buckets: make([][]anchor, 1, 128)}
	rank := 0
	for line := range strings.Lines(table) {
		if line[0] == '#' {
			continue
		}
		rule, anchors, err := parse(strings.TrimSuffix(line, "\n"), once)
		if err != nil {
			panic("secret: the table of rules is embedded and tested: " + err.Error())
		}
		rule.rank = rank
		rank++
		for _, text := range anchors {
			r.add(text, rule)
		}
	}
	return r
}

func parse(line string, once func(func() *regexp.Regexp) func() *regexp.Regexp) (*rule, []string, error) {
	f := strings.Split(line, "\t")
	if len(f) != 6 {
		return nil, nil, fmt.Errorf("%q has %d fields", line, len(f))
	}
	r := &rule{id: f[0], kind: kind(f[1])}
	var err error
	if r.offset, err = strconv.Atoi(f[3]); err != nil {
		return nil, nil, err
	}
	if r.entropy, err = strconv.ParseFloat(f[4], 64); err != nil {
		return nil, nil, err
	}
	expr := `\A(?:` + f[5] + `)`
	if r.kind == assign {
		expr += `\z`
	}
	r.re = once(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	return r, strings.Split(f[2], " "), nil
}

func (r *rules) add(text string, to *rule) {
	in := &r.by[hash(first(text))]
	if *in == 0 {
		if len(r.buckets) > math.MaxUint8 {
			panic("secret: the table of rules is embedded and tested: it has too many anchors")
		}
		*in = uint8(len(r.buckets))
		r.buckets = append(r.buckets, nil)
	}
	bucket := &r.buckets[*in]
	for i, a := range *bucket {
		if a.text == text {
			(*bucket)[i].rules = append(a.rules, to)
			return
		}
	}
	*bucket = append(*bucket, anchor{text, []*rule{to}})
}

func first[T string | []byte](b T) uint32 {
	return (uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16) | fold
}

// next returns the first place in b, from from on, where one of some anchors may
// begin, or len(b).
func (r *rules) next(b []byte, from int) (at int, some []anchor) {
	i := from
	for ; i+8 <= len(b); i += 6 {
		v := binary.LittleEndian.Uint64(b[i:]) | fold<<32 | fold
		b0, b1, b2 := r.by[hash(uint32(v))], r.by[hash(uint32(v>>8))], r.by[hash(uint32(v>>16))]
		b3, b4, b5 := r.by[hash(uint32(v>>24))], r.by[hash(uint32(v>>32))], r.by[hash(uint32(v>>40))]
		if b0|b1|b2|b3|b4|b5 == 0 {
			continue
		}
		for n, in := range [...]uint8{b0, b1, b2, b3, b4, b5} {
			if in != 0 {
				return i + n, r.buckets[in]
			}
		}
	}
	for ; i+3 <= len(b); i++ {
		if in := r.by[hash(first(b[i:]))]; in != 0 {
			return i, r.buckets[in]
		}
	}
	return len(b), nil
}

// equalFold reports whether b is lower but for the case of ASCII letters.
func equalFold(b []byte, lower string) bool {
	for i := range len(lower) {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

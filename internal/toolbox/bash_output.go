package toolbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/toolbox/diagnostic"
)

const (
	artifactMax = 56 << 20 // bytes of output that are kept, without its tail: an artifact may have 64 MiB, and marks in the place of secrets can be longer than they
	endsMax     = 64 << 10 // bytes of its tail
	sniffed     = 8 << 10  // bytes that tell whether output is text
	previewMax  = 500      // bytes of a text that was cut which programs get
	endingMax   = 8 << 10  // bytes of a text for what follows the output
	readMax     = 16 << 20 // bytes of output in which failures are looked for
	failuresMax = 4 << 10  // bytes of a text for them
)

// An output takes what a command prints: it shows it to whoever watches, keeps
// it as an artifact once it is too long for a result, and makes of it the text
// that the model reads.
type output struct {
	live io.Writer // nil for nobody
	open func(name string) (tool.Spill, error)
	most int64 // bytes of the artifact, without the tail

	total int64
	raw   []byte // all so far, until it is spilled; then its start
	sum   hash.Hash
	text  transcript
	seen  *diagnostic.Reader

	spill   tool.Spill
	spilled int64
	lines   int64 // in the artifact
	lost    error // why the artifact is not whole
}

func newOutput(env tool.Env, script string, l tool.Limits) *output {
	return &output{
		live: env.Live, open: env.Spill, most: artifactMax,
		sum: sha256.New(), seen: diagnostic.New(script), text: newTranscript(l),
	}
}

// newTranscript returns one with room for what follows an output.
func newTranscript(l tool.Limits) transcript {
	l = l.Whole()
	return transcript{room: max(l.Bytes-endingMax, l.Bytes/2), most: int64(max(l.Lines-10, l.Lines/2)), ends: l}
}

// Write never fails: a command does not end because nobody can keep what it
// prints.
func (o *output) Write(b []byte) (int, error) {
	o.watch(b)
	o.total += int64(len(b))
	o.sum.Write(b)
	o.text.write(b)
	if o.total <= readMax {
		_, _ = o.seen.Write(b) // never fails
	}
	if o.spill == nil && o.lost == nil {
		o.raw = append(o.raw, b...)
		if len(o.raw) > o.text.room || o.text.long() {
			o.begin()
		}
		return len(b), nil
	}
	o.keep(b)
	return len(b), nil
}

// watch shows b to whoever watches, who may have stopped. Nobody can follow a
// flood: of it only as much is shown as is kept.
func (o *output) watch(b []byte) {
	if o.live == nil {
		return
	}
	if o.total > o.most {
		_, _ = io.WriteString(o.live, "\n[it prints so much that the rest is not shown here]\n")
		o.live = nil
		return
	}
	_, _ = o.live.Write(b)
}

// begin opens the artifact and puts into it what came so far.
func (o *output) begin() {
	if o.open == nil {
		o.lost = errors.New("there is no place for it")
	} else {
		o.spill, o.lost = o.open("output")
	}
	o.keep(o.raw)
	o.raw = o.raw[:min(len(o.raw), sniffed)]
}

func (o *output) keep(b []byte) {
	if room := o.most - o.spilled; int64(len(b)) > room {
		b = b[:room]
	}
	o.append(b)
	o.spilled += int64(len(b))
}

func (o *output) append(b []byte) {
	if o.lost != nil {
		return
	}
	_, o.lost = o.spill.Write(b)
	o.lines += int64(bytes.Count(b, []byte("\n")))
}

// finish returns the text, which ends a line, what was kept of the output, whose
// last bytes are tail, and what there is to say about it.
func (o *output) finish(tail []byte) (text string, kept []tool.Artifact, f bashFacts) {
	o.text.close()
	f.Bytes = o.total
	f.Binary = binary(o.raw[:min(len(o.raw), sniffed)])
	f.Truncated = f.Binary || o.text.long()
	if f.Truncated {
		f.Sum = hex.EncodeToString(o.sum.Sum(nil))
		if !f.Binary {
			f.Preview, f.Lines = strings.ToValidUTF8(string(o.text.head[:min(previewMax, len(o.text.head))]), ""), o.text.lines
		}
	}
	if f.Binary && o.spill == nil && o.lost == nil {
		o.begin()
	}
	a := o.end(tail, &f)
	where := ""
	switch {
	case a != nil:
		kept = []tool.Artifact{*a}
		where = "; the whole is in " + a.Handle
		if f.Dropped > 0 {
			where = fmt.Sprintf("; all but %d bytes of it are in %s", f.Dropped, a.Handle)
		}
	case o.lost != nil:
		where = fmt.Sprintf("; the rest is lost: %.200s", o.lost)
	}
	switch {
	case f.Binary:
		return fmt.Sprintf("[binary output, %d bytes beginning % x%s]\n", o.total, o.raw[:min(len(o.raw), 16)], where), kept, f
	case o.total == 0:
		return "(no output)\n", nil, f
	}
	return o.text.excerpt(where), kept, f
}

// end closes the artifact, if there is one, after the tail of what did not fit.
func (o *output) end(tail []byte, f *bashFacts) *tool.Artifact {
	if o.spill == nil {
		if o.lost != nil && f.Truncated {
			f.Dropped = o.total - int64(len(o.text.head))
		}
		return nil
	}
	size := o.spilled
	if rest := o.total - o.spilled; rest > 0 {
		tail = tail[max(0, len(tail)-int(min(rest, endsMax))):]
		f.Dropped = rest - int64(len(tail))
		gap := ""
		if f.Dropped > 0 {
			gap = fmt.Sprintf("\n[... %d bytes were not kept ...]\n", f.Dropped)
		}
		o.append([]byte(gap))
		o.append(tail)
		size += int64(len(gap) + len(tail))
	}
	if err := errors.Join(o.lost, o.spill.Close()); err != nil {
		o.lost = err
		f.Dropped = o.total - int64(len(o.text.head))
		return nil
	}
	kind := "text/plain"
	if f.Binary {
		kind = "application/octet-stream"
	}
	return &tool.Artifact{Handle: o.spill.Handle(), Type: kind, Bytes: size, Lines: o.lines}
}

// binary reports whether b, the start of an output, has NUL bytes and more than
// a tenth of it is what no text has. Names that end in NUL are still text.
func binary(b []byte) bool {
	if bytes.IndexByte(b, 0) < 0 {
		return false
	}
	all, strange := len(b), 0
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 || r < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\a\x1b", r) {
			strange++
		}
		b = b[n:]
	}
	return strange*10 > all
}

package toolbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

const (
	window = 128 << 10 // bytes read for one page: more than a result can show, in any encoding
	stride = 256 << 10 // bytes looked at in one go for line endings
)

// readLarge shows a page of a file that is too large to be read whole. What it
// holds in memory does not depend on the file. The file has no digest and does
// not count as seen, so that it cannot be changed.
func readLarge(ctx context.Context, f *workspace.Raw, head []byte, args readArgs) (tool.Result, error) {
	switch {
	case args.Symbol != "":
		return tool.Result{}, tooLong(f, "symbols are found in files of at most %d bytes", workspace.MaxFile)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return tool.Result{}, tooLong(f, "UTF-16 is read in files of at most %d bytes", workspace.MaxFile)
	}
	d := readData{
		Path: f.Path, Offset: cmp.Or(args.Offset, 1), Size: f.Size, Modified: f.ModTime.UnixMilli(), Inode: f.Inode,
		Generated: generated(string(head)),
	}
	p := pager{f: f, buf: make([]byte, stride)}
	at, err := p.find(ctx, &d, args.Column)
	if err != nil {
		return interruptedOr(err)
	}
	raw := make([]byte, min(window, f.Size-at))
	if n, err := f.ReadAt(raw, at); err != nil && !errors.Is(err, io.EOF) {
		return tool.Result{}, err
	} else if raw = raw[:n]; n == 0 {
		return tool.Result{}, tooLong(f, "it became shorter while it was read")
	}
	raw = part(raw, cmp.Or(args.Limit, tool.MaxLines))
	text, err := workspace.Decode(raw)
	if err != nil {
		return tool.Result{}, notText(fmt.Sprintf("line %d of %s", d.Offset, f.Path), raw, f.Size)
	}
	d.page(text, args, at+int64(len(raw)) >= f.Size)
	var b strings.Builder
	d.number(&b, text.Content, args)
	if d.NextColumn > 0 { // in bytes of the file, as only they can be gone to
		column := cmp.Or(args.Column, 1)
		d.NextColumn = column + text.Own(d.NextColumn-column)
	}
	of := fmt.Sprintf("of a file of %d bytes", f.Size)
	if d.TotalLines = 0; !d.Truncated {
		d.TotalLines = d.Offset + d.Lines - 1
	}
	return d.result(&b, of), nil
}

// part returns at most so many lines of raw, and none from one with a NUL on, if
// there is any before it: what is around text does not make it less readable.
func part(raw []byte, lines int) []byte {
	end := 0
	for ; lines > 0; lines-- {
		i := bytes.IndexByte(raw[end:], '\n')
		if i < 0 {
			end = len(raw)
			break
		}
		end += i + 1
	}
	if nul := bytes.IndexByte(raw[:end], 0); nul >= 0 {
		if i := bytes.LastIndexByte(raw[:nul], '\n'); i >= 0 {
			end = i + 1
		}
	}
	return raw[:end]
}

// page completes d for text, which is what follows the place asked for, up to
// the end of the file or not.
func (d *readData) page(text workspace.Text, args readArgs, toEnd bool) {
	d.Encoding, d.Newline = text.Encoding, text.Newline
	d.TotalLines = d.Offset + lineCount(text.Content) - 1
	if toEnd {
		d.EndsInLine = strings.HasSuffix(text.Content, "\n")
	} else {
		d.TotalLines++
	}
}

func tooLong(f *workspace.Raw, format string, a ...any) *tool.Failure {
	return &tool.Failure{
		Kind: tool.TooLarge, Message: fmt.Sprintf("read %s: ", f.Path) + fmt.Sprintf(format, a...) + fmt.Sprintf("; this has %d", f.Size),
		Hint: "take out the part that matters with a command",
	}
}

// interruptedOr is how a call ends in err, which may be that its time is over.
func interruptedOr(err error) (tool.Result, error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return ended(err), nil
	}
	return tool.Result{}, err
}

// A pager finds lines in a file by looking at it piece by piece.
type pager struct {
	f   *workspace.Raw
	buf []byte
}

// find returns where the line of d and the byte of it begin, and makes an offset
// from the end one from the start.
func (p *pager) find(ctx context.Context, d *readData, column int) (int64, error) {
	if d.Offset < 0 {
		lines, err := p.count(ctx, -1)
		if err != nil {
			return 0, err
		}
		d.Offset = max(lines.seen+d.Offset+1, 1)
	}
	before, err := p.count(ctx, d.Offset-1)
	if err != nil {
		return 0, err
	}
	if before.at >= p.f.Size {
		return 0, invalid(fmt.Sprintf("give an offset of at most %d", before.seen),
			"read %s: line %d is past the end: it has %d lines", p.f.Path, d.Offset, before.seen)
	}
	at := before.at + int64(max(column-1, 0))
	if column > 1 {
		if end, err := p.lineEnd(ctx, before.at, at); err != nil || end {
			return 0, cmp.Or(err, error(invalid("leave column out",
				"read %s: line %d has no byte %d", p.f.Path, d.Offset, column)))
		}
	}
	return at, nil
}

// A position is a place in a file and how many lines begin before it.
type position struct {
	at   int64
	seen int
}

// count goes over n lines from the start, over all if n is negative, and returns
// where it has come to: the end, if there are no more.
func (p *pager) count(ctx context.Context, n int) (position, error) {
	var pos position
	open := false // a line has begun and not ended
	for pos.at < p.f.Size && pos.seen != n {
		b, err := p.read(ctx, pos.at, p.f.Size)
		if err != nil || len(b) == 0 {
			return pos, err
		}
		lines := bytes.Count(b, []byte("\n"))
		if n >= 0 && pos.seen+lines >= n { // the last of them ends here
			for ; pos.seen < n; pos.seen++ {
				i := bytes.IndexByte(b, '\n') + 1
				b, pos.at = b[i:], pos.at+int64(i)
			}
			return pos, nil
		}
		pos.at, pos.seen, open = pos.at+int64(len(b)), pos.seen+lines, b[len(b)-1] != '\n'
	}
	if open && pos.seen != n {
		pos.seen++
	}
	return pos, nil
}

// lineEnd reports whether a line ends between two places, or the file does.
func (p *pager) lineEnd(ctx context.Context, from, to int64) (bool, error) {
	for to < p.f.Size && from <= to {
		b, err := p.read(ctx, from, to+1)
		if err != nil || len(b) == 0 || bytes.IndexByte(b, '\n') >= 0 {
			return true, err
		}
		from += int64(len(b))
	}
	return to >= p.f.Size, nil
}

// read returns a piece of the file from a place on, good until the next call.
func (p *pager) read(ctx context.Context, from, end int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, err := p.f.ReadAt(p.buf[:min(int64(len(p.buf)), end-from)], from)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return p.buf[:n], err
}

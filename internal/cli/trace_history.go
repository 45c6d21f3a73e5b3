package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/undo"
	"github.com/belay-agent/belay/internal/ui/trace"
)

// maxTraced is how many bytes of a file, as a session left it, are looked at to say
// whose they are: whose each byte is takes several times as much memory.
const maxTraced = 1 << 20

// A traceHistory knows whose the lines of files are, from the events that passed
// by and the images that are kept for undo. Of an image only line numbers get out.
type traceHistory struct {
	images  string // directory
	changes *undo.History
	newest  map[string]edit.Intent // by path
}

func newTraceHistory(session string) *traceHistory {
	return &traceHistory{images: filepath.Join(session, "undo"), changes: new(undo.History), newest: map[string]edit.Intent{}}
}

// watch passes events on and remembers what they changed.
func (h *traceHistory) watch(events iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range events {
			if err == nil {
				h.add(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (h *traceHistory) add(e event.Event) {
	h.changes.Add(e)
	if b, ok := e.Body.(event.Finished); ok {
		for _, i := range b.Result.Edits {
			if i.Result != "" || i.Remove {
				h.newest[i.Path] = i
			}
		}
	}
}

// owners returns whose each line of the file at path was when the session last
// changed it.
func (h *traceHistory) owners(path string) ([]trace.Span, error) {
	last := h.newest[path]
	if last.Remove || last.Result == "" {
		return []trace.Span{}, nil
	}
	if last.Mode == edit.Link {
		return nil, fmt.Errorf("it is a link")
	}
	now, err := h.image(last.Result)
	if err != nil {
		return nil, err
	}
	if len(now) > maxTraced {
		return nil, fmt.Errorf("it has %d bytes", len(now))
	}
	pieces, err := h.changes.Provenance(path, nil, now, h.image)
	if err != nil {
		return nil, err
	}
	return ownedLines(now, pieces), nil
}

// ownedLines turns pieces of text into lines. A line is the agent's if any of it
// is, or else someone else's if any of it is.
func ownedLines(text []byte, pieces []undo.Piece) []trace.Span {
	rank := map[undo.By]int{undo.Baseline: 0, undo.User: 1, undo.Agent: 2}
	spans := []trace.Span{}
	line, at, next := 1, 0, 0
	for at < len(text) {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		owner := undo.Owner{By: undo.Baseline}
		for next < len(pieces) && pieces[next].Start < end {
			if p := pieces[next]; rank[p.By] > rank[owner.By] || p.By == owner.By && p.Call != "" {
				owner = p.Owner
			}
			if pieces[next].End > end {
				break
			}
			next++
		}
		s := trace.Span{First: line, Last: line, By: string(owner.By), Call: owner.Call}
		if n := len(spans); n > 0 && spans[n-1].By == s.By && spans[n-1].Call == s.Call {
			spans[n-1].Last = line
		} else {
			spans = append(spans, s)
		}
		line++
		at = end
	}
	return spans
}

// image reads one. It changes nothing in the session, which may be in use.
func (h *traceHistory) image(digest string) ([]byte, error) {
	if digest == "" || strings.Trim(digest, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("no image %q", digest)
	}
	b, err := os.ReadFile(filepath.Join(h.images, digest))
	if err != nil {
		if pathErr, ok := err.(*fs.PathError); ok {
			err = pathErr.Err // where it lies is nobody's business
		}
		return nil, fmt.Errorf("the image of the file: %w", err)
	}
	if edit.Digest(b) != digest {
		return nil, fmt.Errorf("the image of the file is damaged")
	}
	return b, nil
}

package toolbox

import (
	"context"
	"sync"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// maxShown is how many bytes of texts are remembered, and maxShownOne of one.
const (
	maxShown    = 64 << 20
	maxShownOne = 8 << 20
)

// A shown remembers what files held when the model was last shown them, by
// digest, so that a change which the model makes to one that someone else has
// changed meanwhile can be merged. What was shown longest ago is forgotten
// first. It is for several goroutines; a nil one remembers nothing.
type shown struct {
	mu    sync.Mutex
	texts map[string]string // Content by digest
	order []string          // digests, oldest first
	bytes int
}

func (s *shown) put(digest, content string) {
	if s == nil || len(content) > maxShownOne {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.texts[digest]; ok {
		s.touch(digest)
		return
	}
	if s.texts == nil {
		s.texts = make(map[string]string)
	}
	s.texts[digest] = content
	s.order = append(s.order, digest)
	s.bytes += len(content)
	for s.bytes > maxShown {
		s.bytes -= len(s.texts[s.order[0]])
		delete(s.texts, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *shown) get(digest string) (string, bool) {
	if s == nil {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.texts[digest]
	if ok {
		s.touch(digest)
	}
	return content, ok
}

// touch makes digest the one that was shown last.
func (s *shown) touch(digest string) {
	for n, d := range s.order {
		if d == digest {
			copy(s.order[n:], s.order[n+1:])
			s.order[len(s.order)-1] = digest
			return
		}
	}
}

// A shower is a tool that shows files; what it shows is remembered.
type shower struct {
	tool.Tool
	w     *workspace.Workspace
	shown *shown
}

// Prepare returns an action that remembers the files it shows. A file is read
// once more for that; if it is not what was shown any more, it is not remembered.
func (s shower) Prepare(ctx context.Context, in tool.Input) (*tool.Action, error) {
	a, err := s.Tool.Prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	do := a.Do
	a.Do = func(ctx context.Context, env tool.Env) (tool.Result, error) {
		r, err := do(ctx, env)
		if err != nil {
			return r, err
		}
		for path, digest := range r.Seen {
			if _, ok := s.shown.get(digest); ok {
				continue
			}
			if info, err := s.w.Stat(path); err != nil || info.Size() > maxShownOne {
				continue
			}
			if text, err := s.w.Read(path); err == nil && text.Digest == digest {
				s.shown.put(digest, text.Content)
			}
		}
		return r, nil
	}
	return a, nil
}

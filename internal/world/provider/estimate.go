package provider

import (
	"context"
	"fmt"
	"iter"

	"github.com/belay-agent/belay/internal/contract/model"
)

// maxTokens is more than any one reply can take or give; counts up to it neither
// overflow in a sum nor in a price.
const maxTokens = 20_000_000

// sparse is how many bytes of text a token stands for at most, but for runs of one
// character: a server that counts fewer tokens of a request of some length has not
// counted all.
const (
	sparse = 16
	long   = 4 << 10
)

// counted returns what the server reports of a reply, as far as it can be true,
// so that no count takes back what others spent. Where it reports nothing, or of
// the input only what was not cached, that is estimated.
func counted(u model.Usage, req *model.Request, parts []model.Part) model.Usage {
	for _, n := range []*int{&u.Input, &u.Cached, &u.CacheWrite, &u.Output, &u.Reasoning} {
		*n = min(max(*n, 0), maxTokens)
	}
	if req == nil {
		return u
	}
	in := textOf(req)
	if u.Total() == 0 || in >= long && u.Input+u.Cached+u.CacheWrite < in/sparse {
		u.Input, u.Cached, u.CacheWrite, u.Estimated = tokens(in), 0, 0, true
	}
	if out := size(parts); u.Output == 0 && out > 0 {
		u.Output, u.Estimated = tokens(out), true
	}
	return u
}

// estimate counts what no one reported.
func estimate(req *model.Request, parts []model.Part) model.Usage {
	return model.Usage{Input: tokens(textOf(req)), Output: tokens(size(parts)), Estimated: true}
}

// tokens is how many tokens n bytes of text are, roughly.
func tokens(n int) int { return (n + 3) / 4 }

// textOf returns the bytes of text in a request.
func textOf(req *model.Request) int {
	n := len(req.System)
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Input)
	}
	for _, m := range req.Messages {
		n += size(m.Parts)
	}
	return n
}

// fitting returns p so that a request which cannot fit into the window of its
// model is not sent: some servers would cut off its beginning and not say so. Of a
// window that is only assumed the server is the better judge.
func fitting(p model.Provider, i model.Info) model.Provider {
	if !i.Known {
		return p
	}
	return fitted{p, i}
}

// A fitted is a provider whose window is known.
type fitted struct {
	model.Provider
	info model.Info
}

// Stream implements model.Provider.
func (f fitted) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	// Five bytes are a token only in plain English. What that lets through a server
	// still refuses.
	need, room := textOf(req)/5, usable(f.info)
	if need <= room {
		return f.Provider.Stream(ctx, req)
	}
	return func(yield func(model.Delta, error) bool) {
		yield(nil, fmt.Errorf("%w: it has about %d tokens, and %d fit into the window of %d of %s beside a reply",
			model.ErrOverflow, need, room, f.info.Window, f.info.Name))
	}
}

// usable returns how many tokens of input fit into the window: what is left beside
// a reply and, as tokens are counted roughly, a margin. A reply may need less than
// it is allowed, so at most a quarter is kept for it.
func usable(i model.Info) int {
	return i.Window - min(i.MaxOutput, i.Window/4) - i.Window/20
}

// size returns the bytes of text in parts.
func size(parts []model.Part) int {
	n := 0
	for _, p := range parts {
		switch p := p.(type) {
		case model.Text:
			n += len(p.Text)
		case model.Reasoning:
			n += len(p.Text)
		case model.Call:
			n += len(p.Tool) + len(p.Args) + len(p.Malformed)
		case model.CallResult:
			n += len(p.Text)
		}
	}
	return n
}

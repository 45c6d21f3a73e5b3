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

// A server that counts of a request which is not short less than a quarter of what
// is estimated has not counted all.
const (
	long   = 1_000
	sparse = 4
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
	in := req.Estimate()
	if u.Total() == 0 || in >= long && u.Input+u.Cached+u.CacheWrite < in/sparse {
		u.Input, u.Cached, u.CacheWrite, u.Estimated = in, 0, 0, true
	}
	if u.Output == 0 && len(parts) > 0 {
		u.Output, u.Estimated = model.EstimateParts(parts), true
	}
	return u
}

// estimate counts what no one reported.
func estimate(req *model.Request, parts []model.Part) model.Usage {
	return model.Usage{Input: req.Estimate(), Output: model.EstimateParts(parts), Estimated: true}
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
	// The estimate is rough: what is let through the server still refuses.
	need, room := req.Estimate()*3/4, usable(f.info)
	if need <= room {
		return f.Provider.Stream(ctx, req)
	}
	return func(yield func(model.Delta, error) bool) {
		yield(nil, fmt.Errorf("%w: it has about %d tokens, and %d fit into the window of %d of %s beside a reply",
			model.ErrOverflow, need, room, f.info.Window, f.info.Name))
	}
}

// usable returns how many tokens of input fit into the window: what is left beside
// a reply and, as tokens are counted roughly, a margin.
func usable(i model.Info) int { return i.Window - i.Reserve() - i.Window/20 }

package provider

import "github.com/belay-agent/belay/internal/contract/model"

// maxTokens is more than any one reply can take or give; counts up to it neither
// overflow in a sum nor in a price.
const maxTokens = 100_000_000

// counted returns what the server reports of a reply, as far as it can be true,
// so that no count takes back what others spent. Where it reports nothing that
// is estimated.
func counted(u model.Usage, req *model.Request, parts []model.Part) model.Usage {
	for _, n := range []*int{&u.Input, &u.Cached, &u.CacheWrite, &u.Output, &u.Reasoning} {
		*n = min(max(*n, 0), maxTokens)
	}
	if u.Total() == 0 {
		return estimate(req, parts)
	}
	return u
}

// estimate counts what no one reported: about four bytes a token.
func estimate(req *model.Request, parts []model.Part) model.Usage {
	in := len(req.System)
	for _, t := range req.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Input)
	}
	for _, m := range req.Messages {
		in += size(m.Parts)
	}
	return model.Usage{Input: (in + 3) / 4, Output: (size(parts) + 3) / 4, Estimated: true}
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

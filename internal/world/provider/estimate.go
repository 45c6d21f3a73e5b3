package provider

import "github.com/belay-agent/belay/internal/contract/model"

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

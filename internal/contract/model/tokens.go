package model

import "github.com/belay-agent/belay/internal/contract/tool"

// What a request costs beside its words, in tokens.
const (
	messageTokens = 4   // the marks around a message: OpenAI's guide to counting says 3 or 4
	callTokens    = 10  // those around a call or a result, with the id that joins the two
	rawBytes      = 4   // of JSON are one
	imageTokens   = 800 // between the 258 that Gemini counts for a tile and the 1,600 that Anthropic counts at most
)

// Estimate returns how many tokens r has, roughly: Tokens, where its builder has
// counted already.
func (r *Request) Estimate() int {
	if r.Tokens > 0 {
		return r.Tokens
	}
	n := r.HeadEstimate()
	for _, m := range r.Messages {
		n += m.Estimate()
	}
	return n
}

// HeadEstimate returns how many tokens r has before its messages: of the system
// prompt, the tools, and the shape of the answer.
func (r *Request) HeadEstimate() int {
	n := tool.EstimateTokens(r.System) + tool.EstimateTokens(r.Schema)
	for _, t := range r.Tools {
		n += callTokens + tool.EstimateTokens(t.Name) + tool.EstimateTokens(t.Description) + tool.EstimateTokens(t.Input)
	}
	return n
}

// Estimate returns how many tokens m has, roughly.
func (m Message) Estimate() int { return messageTokens + EstimateParts(m.Parts) }

// EstimateParts returns how many tokens parts have, roughly. Where a provider's
// own JSON goes back in place of the words and says more, such as reasoning that
// is encrypted, its bytes count, four to a token.
func EstimateParts(parts []Part) int {
	n := 0
	for _, p := range parts {
		switch p := p.(type) {
		case Text:
			n += max(tool.EstimateTokens(p.Text), len(p.Raw)/rawBytes)
		case Reasoning:
			n += max(tool.EstimateTokens(p.Text), len(p.Raw)/rawBytes)
		case Image:
			n += imageTokens
		case Call:
			words := tool.EstimateTokens(p.Tool) + tool.EstimateTokens(p.Args) + tool.EstimateTokens(p.Malformed)
			n += callTokens + max(words, len(p.Raw)/rawBytes)
		case CallResult:
			n += callTokens + tool.EstimateTokens(p.Text) + imageTokens*len(p.Media)
		}
	}
	return n
}

// Reserve returns how many tokens of the window are kept for a reply: as many as
// it may have, but at most a quarter of the window, for few replies need all that
// they are allowed.
func (i Info) Reserve() int {
	if i.MaxOutput <= 0 {
		return i.Window / 4
	}
	return min(i.MaxOutput, i.Window/4)
}

package provider

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// responses speaks OpenAI Responses. Nothing is stored at the server: the
// reasoning comes and goes back encrypted.
type responses struct {
	name string // "openai/gpt-..."
	from string // who makes its replies
	post *transport
	lost shed
}

// Stream implements model.Provider.
func (r *responses) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return r.post.shedding(ctx, &r.lost, responsesSheds, func() (sending, error) {
		body, places, err := r.encode(req)
		return sending{body, places, func() listener { return newResponsesListener(r.from, req) }}, err
	})
}

// responsesSheds are what servers are known to refuse of a request, each with
// the words of the refusal.
var responsesSheds = []shedding{
	{noCacheKey, pattern(`prompt_cache_key`)},
	{noInclude, pattern(`(?i)encrypted.content is not supported|unsupported.{0,40}\binclude\b|\binclude\b.{0,60}(not supported|unsupported|unknown|unrecogni[sz]ed)`)},
	{noSummary, pattern(`(?i)reasoning.summar|must be verified to generate reasoning`)},
	{noEffort, pattern(`(?i)reasoning.effort|'?reasoning'? is not supported|unsupported parameter: '?reasoning`)},
	{noStrict, pattern(`(?i)invalid schema for function|strict`)},
	{noSchema, pattern(`(?i)text\.format|json_schema|response.?format`)},
}

type responsesRequest struct {
	Model           string            `json:"model"`
	Stream          bool              `json:"stream"`
	Store           bool              `json:"store"`
	Include         []string          `json:"include,omitempty"`
	MaxOutputTokens int               `json:"max_output_tokens,omitempty"`
	PromptCacheKey  string            `json:"prompt_cache_key,omitempty"`
	Reasoning       *responsesEffort  `json:"reasoning,omitempty"`
	Text            *responsesText    `json:"text,omitempty"`
	Instructions    string            `json:"instructions,omitempty"`
	Tools           []responsesTool   `json:"tools,omitempty"`
	Input           []json.RawMessage `json:"input"`
}

type responsesEffort struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type responsesText struct {
	Format responsesFormat `json:"format"`
}

type responsesFormat struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Strict      bool            `json:"strict"` // said even where it is not: the API's default is true
	Parameters  json.RawMessage `json:"parameters"`
}

// A responsesItem is a message, a function_call or a function_call_output.
type responsesItem struct {
	Type      string           `json:"type"`
	Role      string           `json:"role,omitempty"`
	Phase     string           `json:"phase,omitempty"` // as the model gave it
	Content   []responsesBlock `json:"content,omitempty"`
	CallID    string           `json:"call_id,omitempty"`
	Name      string           `json:"name,omitempty"`
	Arguments string           `json:"arguments,omitempty"`
	Output    any              `json:"output,omitempty"` // a string or []responsesBlock
}

type responsesBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

// encode checks req and returns its body, and where in req its items come from.
func (r *responses) encode(req *model.Request) ([]byte, *sites, error) {
	speeches, err := sendable(req, r.from)
	if err != nil {
		return nil, nil, err
	}
	out := responsesRequest{
		Model: bareModel(req.Model, r.name), Stream: true, MaxOutputTokens: req.MaxOutput, PromptCacheKey: r.post.cacheKey(req),
	}
	if r.lost.has(noCacheKey) {
		out.PromptCacheKey = ""
	}
	if !r.lost.has(noInclude) {
		out.Include = []string{"reasoning.encrypted_content"}
	}
	if req.Effort != "" && !r.lost.has(noEffort) {
		out.Reasoning = &responsesEffort{Effort: req.Effort, Summary: "auto"}
		if r.lost.has(noSummary) {
			out.Reasoning.Summary = ""
		}
	}
	if len(req.Schema) > 0 && !r.lost.has(noSchema) {
		strict := !r.lost.has(noStrict) && strictable(req.Schema)
		out.Text = &responsesText{responsesFormat{Type: "json_schema", Name: "answer", Strict: strict, Schema: req.Schema}}
	}
	if strings.TrimSpace(req.System) != "" {
		out.Instructions = req.System
	}
	for _, s := range req.Tools {
		out.Tools = append(out.Tools, responsesTool{
			Type: "function", Name: s.Name, Description: s.Description, Parameters: s.Input,
			Strict: !r.lost.has(noStrict) && strictable(s.Input),
		})
	}
	w := responsesWriter{req: req}
	w.sites.know(speeches)
	for _, s := range speeches {
		if err := w.add(s); err != nil {
			return nil, nil, err
		}
	}
	out.Input = w.items
	body, err := marshal(out)
	return body, &w.sites, err
}

// A responsesWriter turns speeches into items.
type responsesWriter struct {
	req   *model.Request
	items []json.RawMessage
	sites sites
}

func (w *responsesWriter) put(item json.RawMessage, at ...place) {
	w.items = append(w.items, item)
	w.sites.item(at...)
}

func (w *responsesWriter) add(s speech) error {
	if s.role == model.Assistant {
		return w.addReply(s)
	}
	var said []responsesBlock
	var at []place
	for _, p := range s.parts {
		switch part := p.part.(type) {
		case model.CallResult:
			item, err := w.result(p, part)
			if err != nil {
				return err
			}
			w.put(item, p.place)
		case model.Text:
			said = append(said, responsesBlock{Type: "input_text", Text: part.Text})
			at = append(at, p.place)
		case model.Image:
			image, err := openPicture(w.req, p.place, part.Artifact)
			if err != nil {
				return err
			}
			said = append(said, image.responsesBlock())
			at = append(at, p.place)
		}
	}
	if len(said) == 0 {
		return nil
	}
	item, err := marshal(responsesItem{Type: "message", Role: "user", Content: said})
	if err != nil {
		return err
	}
	w.put(item, at...)
	return nil
}

// addReply writes what the model said. Reasoning after which nothing follows is
// left out: the API wants what it was for behind it.
func (w *responsesWriter) addReply(s speech) error {
	last := -1
	for i, p := range s.parts {
		if _, ok := p.part.(model.Reasoning); !ok {
			last = i
		}
	}
	for _, p := range s.parts[:last+1] {
		var item json.RawMessage
		var err error
		switch part := p.part.(type) {
		case model.Reasoning:
			item = part.Raw
		case model.Text:
			item, err = marshal(responsesItem{
				Type: "message", Role: "assistant", Phase: phase(part.Raw),
				Content: []responsesBlock{{Type: "output_text", Text: part.Text}},
			})
		case model.Call:
			item, err = marshal(responsesItem{
				Type: "function_call", CallID: part.ID, Name: sentName(part.Tool), Arguments: string(sentArgs(part.Args)),
			})
		}
		if err != nil {
			return err
		}
		w.put(item, p.place)
	}
	return nil
}

// phase is what the API wants to hear again of a text of its own.
func phase(raw json.RawMessage) string {
	var item struct {
		Phase string `json:"phase"`
	}
	if json.Unmarshal(raw, &item) != nil {
		return ""
	}
	return item.Phase
}

func (w *responsesWriter) result(p spoken, r model.CallResult) (json.RawMessage, error) {
	item := responsesItem{Type: "function_call_output", CallID: r.Call, Output: r.Text}
	if len(r.Media) > 0 {
		blocks := []responsesBlock{{Type: "input_text", Text: r.Text}}
		for _, a := range r.Media {
			image, err := openPicture(w.req, p.place, a)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, image.responsesBlock())
		}
		item.Output = blocks
	}
	return marshal(item)
}

func (p picture) responsesBlock() responsesBlock {
	return responsesBlock{Type: "input_image", ImageURL: p.dataURL()}
}

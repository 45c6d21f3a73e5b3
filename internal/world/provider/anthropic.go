package provider

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/belay-agent/belay/internal/contract/model"
)

// messages speaks Anthropic Messages. The SDK knows the shapes, but for those of
// which a conversation has many: it encodes them several times over. What goes
// over the wire, and when again, is the transport's.
type messages struct {
	name      string // "anthropic/claude-..."
	from      string // who makes its replies
	maxOutput int    // where the request does not say; the API wants one
	post      *transport
	lost      shed
}

// Stream implements model.Provider.
func (m *messages) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return m.post.shedding(ctx, &m.lost, messagesSheds, func() (sending, error) {
		body, places, err := m.encode(req)
		return sending{body, places, func() listener { return newMessagesListener(m.from, req) }}, err
	})
}

// messagesSheds are what models are known to refuse of a request.
var messagesSheds = []shedding{
	{noSchema, pattern(`output_config\.format|output_format|structured output`)},
	{noEffort, pattern(`(?i)\beffort\b|adaptive|output_config|thinking: |does not support thinking|must start with a thinking block`)},
}

// What stays the same from step to step stands first; the SDK would put the
// messages before the system prompt and the tools.
type messagesRequest struct {
	Model        string                              `json:"model"`
	MaxTokens    int                                 `json:"max_tokens"`
	Stream       bool                                `json:"stream"`
	Thinking     *anthropic.ThinkingConfigParamUnion `json:"thinking,omitempty"`
	OutputConfig *anthropic.OutputConfigParam        `json:"output_config,omitempty"`
	System       []anthropic.TextBlockParam          `json:"system,omitempty"`
	Tools        []messagesTool                      `json:"tools,omitempty"`
	Messages     []messagesTurn                      `json:"messages"`
}

type messagesTool struct {
	Name         string                                `json:"name"`
	Description  string                                `json:"description,omitempty"`
	InputSchema  json.RawMessage                       `json:"input_schema"` // as its author wrote it
	CacheControl *anthropic.CacheControlEphemeralParam `json:"cache_control,omitempty"`
}

// A messagesTurn is all that one side says before the other does.
type messagesTurn struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // *messagesBlock, or what is sent back as it came
}

// A messagesBlock is a text, a tool_use, a tool_result or an image.
type messagesBlock struct {
	Type         string                                `json:"type"`
	Text         string                                `json:"text,omitempty"`
	ID           string                                `json:"id,omitempty"`
	Name         string                                `json:"name,omitempty"`
	Input        json.RawMessage                       `json:"input,omitempty"`
	ToolUseID    string                                `json:"tool_use_id,omitempty"`
	Content      []*messagesBlock                      `json:"content,omitempty"`
	IsError      bool                                  `json:"is_error,omitempty"`
	Source       *anthropic.Base64ImageSourceParam     `json:"source,omitempty"`
	CacheControl *anthropic.CacheControlEphemeralParam `json:"cache_control,omitempty"`
}

// encode checks req and returns its body, and where in req its blocks come from.
func (m *messages) encode(req *model.Request) ([]byte, *sites, error) {
	speeches, err := sendable(req, m.from)
	if err != nil {
		return nil, nil, err
	}
	out := messagesRequest{Model: bareModel(req.Model, m.name), MaxTokens: req.MaxOutput, Stream: true}
	if out.MaxTokens == 0 {
		out.MaxTokens = m.maxOutput
	}
	if err := out.configure(req, &m.lost); err != nil {
		return nil, nil, err
	}
	places := &sites{}
	places.know(speeches)
	mark := lastStable(speeches, req.Stable)
	for i, s := range speeches {
		blocks, err := messagesBlocks(req, s, i == mark)
		if err != nil {
			return nil, nil, err
		}
		if n := len(out.Messages); n == 0 || out.Messages[n-1].Role != string(s.role) {
			out.Messages = append(out.Messages, messagesTurn{Role: string(s.role)})
			places.item()
		}
		last := len(out.Messages) - 1
		out.Messages[last].Content = append(out.Messages[last].Content, blocks...)
		for _, p := range s.parts {
			places.items[last] = append(places.items[last], p.place)
		}
	}
	body, err := marshal(out)
	return body, places, err
}

// configure fills in what stands before the messages. The cache mark at the end
// of the system prompt covers the tools too.
func (out *messagesRequest) configure(req *model.Request, lost *shed) error {
	if req.Effort != "" && !lost.has(noEffort) {
		out.Thinking = &anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{}}
		out.OutputConfig = &anthropic.OutputConfigParam{Effort: anthropic.OutputConfigEffort(req.Effort)}
	}
	if len(req.Schema) > 0 && !lost.has(noSchema) {
		if out.OutputConfig == nil {
			out.OutputConfig = &anthropic.OutputConfigParam{}
		}
		if err := json.Unmarshal(req.Schema, &out.OutputConfig.Format.Schema); err != nil {
			return &model.BadRequest{Reason: "the answer's schema: " + err.Error(), Hint: "mend the schema"}
		}
	}
	for _, s := range req.Tools {
		out.Tools = append(out.Tools, messagesTool{Name: s.Name, Description: s.Description, InputSchema: s.Input})
	}
	ephemeral := anthropic.NewCacheControlEphemeralParam()
	if strings.TrimSpace(req.System) != "" {
		out.System = []anthropic.TextBlockParam{{Text: req.System, CacheControl: ephemeral}}
	} else if n := len(out.Tools); n > 0 {
		out.Tools[n-1].CacheControl = &ephemeral
	}
	return nil
}

// lastStable returns the last of the speeches that the next request repeats, or
// -1.
func lastStable(speeches []speech, stable int) int {
	last := -1
	for i, s := range speeches {
		if s.at < stable {
			last = i
		}
	}
	return last
}

// messagesBlocks encodes one speech, with a cache mark on its last block that
// takes one if mark is set.
func messagesBlocks(req *model.Request, s speech, mark bool) ([]any, error) {
	blocks := make([]any, len(s.parts))
	for i := len(s.parts) - 1; i >= 0; i-- {
		p := s.parts[i]
		if r, ok := p.part.(model.Reasoning); ok {
			blocks[i] = r.Raw
			continue
		}
		block, err := encodeBlock(req, p)
		if err != nil {
			return nil, err
		}
		if mark {
			ephemeral := anthropic.NewCacheControlEphemeralParam()
			block.CacheControl = &ephemeral
			mark = false
		}
		blocks[i] = block
	}
	return blocks, nil
}

func encodeBlock(req *model.Request, p spoken) (*messagesBlock, error) {
	switch part := p.part.(type) {
	case model.Text:
		return &messagesBlock{Type: "text", Text: part.Text}, nil
	case model.Call:
		return &messagesBlock{Type: "tool_use", ID: part.ID, Name: sentName(part.Tool), Input: sentArgs(part.Args)}, nil
	case model.Image:
		image, err := openPicture(req, p.place, part.Artifact)
		if err != nil {
			return nil, err
		}
		return image.messagesBlock(), nil
	case model.CallResult:
		result := &messagesBlock{Type: "tool_result", ToolUseID: part.Call, IsError: part.Error}
		result.Content = append(result.Content, &messagesBlock{Type: "text", Text: part.Text})
		for _, a := range part.Media {
			image, err := openPicture(req, p.place, a)
			if err != nil {
				return nil, err
			}
			result.Content = append(result.Content, image.messagesBlock())
		}
		return result, nil
	}
	return nil, p.reject("a part of unknown type %T", p.part)
}

func (p picture) messagesBlock() *messagesBlock {
	return &messagesBlock{Type: "image", Source: &anthropic.Base64ImageSourceParam{
		Data: p.base64, MediaType: anthropic.Base64ImageSourceMediaType(p.kind),
	}}
}

func messagesHeader(key string) http.Header {
	h := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {userAgent},
		"Anthropic-Version": {"2023-06-01"},
	}
	if key != "" {
		h.Set("X-Api-Key", key)
	}
	return h
}

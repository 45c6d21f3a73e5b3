package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// chat speaks OpenAI Chat Completions, as OpenAI does and as servers do that
// call themselves compatible.
type chat struct {
	name     string // "openai/gpt-..."
	from     string // who makes its replies
	official bool   // the server is OpenAI's own
	post     *transport
	lost     shed
}

// Stream implements model.Provider.
func (c *chat) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return c.post.shedding(ctx, &c.lost, chatSheds, func() (sending, error) {
		body, places, err := c.encode(req)
		return sending{body, places, func() listener { return &chatListener{from: c.from, req: req} }}, err
	})
}

// chatSheds are what servers are known to refuse of a request, each with the
// words of the refusal.
var chatSheds = []shedding{
	{noUsage, pattern(`stream_options|include_usage`)},
	{noCacheKey, pattern(`prompt_cache_key`)},
	{newLimit, pattern(`max_tokens.{0,80}max_completion_tokens`)},
	{oldLimit, pattern(`max_completion_tokens`)},
	{blankThought, pattern(`(?i)reasoning_content.{0,60}(missing|must be passed back)|missing.{0,10}reasoning_content`)},
	{noReasoning, pattern(`reasoning_(content|details)|messages.{0,20}\breasoning\b`)},
	{noEffort, pattern(`(?i)reasoning.?effort|does not support thinking`)},
	{noSchema, pattern(`response_format|json_schema`)},
}

// What stays the same from step to step stands first, so that a request repeats
// the bytes of the one before.
type chatRequest struct {
	Model               string         `json:"model"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
	ResponseFormat      *answerFormat  `json:"response_format,omitempty"`
	Tools               []chatTool     `json:"tools,omitempty"`
	Messages            []chatMessage  `json:"messages"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type answerFormat struct {
	Type       string       `json:"type"`
	JSONSchema answerSchema `json:"json_schema"`
}

type answerSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict,omitempty"`
	Schema json.RawMessage `json:"schema"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // a string, []chatBlock, or null beside calls alone
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	chatThought
}

// A chatThought is reasoning as the server gave it, under the one name that it
// has for it.
type chatThought struct {
	ReasoningContent json.RawMessage `json:"reasoning_content,omitempty"`
	Reasoning        json.RawMessage `json:"reasoning,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
}

type chatBlock struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatCallBody `json:"function"`
	chatExtra
}

// A chatExtra is what a server wants back with the call that it came with.
type chatExtra struct {
	ExtraContent json.RawMessage `json:"extra_content,omitempty"`
}

type chatCallBody struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// encode checks req and returns its body, and where in req its messages come
// from.
func (c *chat) encode(req *model.Request) ([]byte, *sites, error) {
	speeches, err := sendable(req, c.from)
	if err != nil {
		return nil, nil, err
	}
	out := chatRequest{Model: bareModel(req.Model, c.name), Stream: true, PromptCacheKey: c.post.cacheKey(req)}
	if c.lost.has(noCacheKey) {
		out.PromptCacheKey = ""
	}
	if !c.lost.has(noUsage) {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if !c.lost.has(noEffort) {
		out.ReasoningEffort = req.Effort
	}
	if (c.official || c.lost.has(newLimit)) && !c.lost.has(oldLimit) {
		out.MaxCompletionTokens = req.MaxOutput
	} else {
		out.MaxTokens = req.MaxOutput
	}
	if len(req.Schema) > 0 && !c.lost.has(noSchema) {
		out.ResponseFormat = &answerFormat{Type: "json_schema", JSONSchema: answerSchema{Name: "answer", Strict: c.official && strictable(req.Schema), Schema: req.Schema}}
	}
	for _, s := range req.Tools {
		out.Tools = append(out.Tools, chatTool{Type: "function", Function: chatFunction{Name: s.Name, Description: s.Description, Parameters: s.Input}})
	}
	w := chatWriter{req: req, lost: &c.lost}
	w.sites.know(speeches)
	if strings.TrimSpace(req.System) != "" {
		w.put(chatMessage{Role: "system", Content: req.System})
	}
	for _, s := range speeches {
		if err := w.add(s); err != nil {
			return nil, nil, err
		}
	}
	w.flush()
	out.Messages = w.out
	body, err := marshal(out)
	return body, &w.sites, err
}

// marshal encodes v without the escapes that only a web page needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, &model.BadRequest{Reason: "encode the request: " + err.Error(), Hint: "a tool's schema or the answer's is not JSON"}
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// A chatWriter turns speeches into messages.
type chatWriter struct {
	req    *model.Request
	lost   *shed
	out    []chatMessage
	sites  sites
	images []chatBlock // of results; they follow the last of them
	shown  []place     // of images
}

func (w *chatWriter) put(m chatMessage, at ...place) {
	w.out = append(w.out, m)
	w.sites.item(at...)
}

func (w *chatWriter) add(s speech) error {
	if s.role == model.Assistant {
		w.flush()
		var at []place
		for _, p := range s.parts {
			at = append(at, p.place)
		}
		if m := w.assistant(s); m.Content != nil || len(m.ToolCalls) > 0 {
			w.put(m, at...)
		}
		return nil
	}
	var blocks []chatBlock
	var at []place
	for _, p := range s.parts {
		switch part := p.part.(type) {
		case model.CallResult:
			w.put(chatMessage{Role: "tool", Content: part.Text, ToolCallID: part.Call}, p.place)
			for _, a := range part.Media {
				image, err := openPicture(w.req, p.place, a)
				if err != nil {
					return err
				}
				w.images = append(w.images, chatBlock{Type: "text", Text: "Image from call " + part.Call + ":"}, image.chatBlock())
				w.shown = append(w.shown, p.place, p.place)
			}
		case model.Text:
			blocks = append(blocks, chatBlock{Type: "text", Text: part.Text})
			at = append(at, p.place)
		case model.Image:
			image, err := openPicture(w.req, p.place, part.Artifact)
			if err != nil {
				return err
			}
			blocks = append(blocks, image.chatBlock())
			at = append(at, p.place)
		}
	}
	if len(blocks) > 0 {
		w.flush()
		w.put(chatMessage{Role: "user", Content: userContent(blocks)}, at...)
	}
	return nil
}

// flush sends the images of results, which a tool's message cannot hold.
func (w *chatWriter) flush() {
	if len(w.images) > 0 {
		w.put(chatMessage{Role: "user", Content: w.images}, w.shown...)
		w.images, w.shown = nil, nil
	}
}

// userContent is a plain string wherever that can say it: not every server
// takes blocks.
func userContent(blocks []chatBlock) any {
	var texts []string
	for _, b := range blocks {
		if b.ImageURL != nil {
			return blocks
		}
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n\n")
}

// assistant writes what the model said. Its reasoning goes back beside calls,
// where those servers want it that gave it; some refuse it anywhere else.
func (w *chatWriter) assistant(s speech) chatMessage {
	m := chatMessage{Role: "assistant"}
	var text strings.Builder
	var thought chatThought
	for _, p := range s.parts {
		switch p := p.part.(type) {
		case model.Text:
			text.WriteString(p.Text)
		case model.Reasoning:
			_ = json.Unmarshal(p.Raw, &thought) // ours; what is not leaves no thought
		case model.Call:
			call := chatCall{ID: p.ID, Type: "function", Function: chatCallBody{Name: sentName(p.Tool), Arguments: string(sentArgs(p.Args))}}
			_ = json.Unmarshal(p.Raw, &call.chatExtra)
			m.ToolCalls = append(m.ToolCalls, call)
		}
	}
	if text.Len() > 0 {
		m.Content = text.String()
	}
	if w.lost.has(noReasoning) {
		return m
	}
	if len(m.ToolCalls) > 0 {
		m.chatThought = thought
		if w.lost.has(blankThought) && len(thought.ReasoningContent) == 0 {
			m.ReasoningContent = json.RawMessage(`" "`)
		}
	}
	m.ReasoningDetails = thought.ReasoningDetails
	return m
}

// bareModel is the model's name as its API knows it: without the prefix that
// chose the API.
func bareModel(asked, own string) string {
	prefix, bare, _ := strings.Cut(own, "/")
	if asked == "" || asked == own {
		return bare
	}
	return strings.TrimPrefix(asked, prefix+"/")
}

// openAIHeader carries the key as the server at host wants it.
func openAIHeader(host, key string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {userAgent}}
	switch {
	case key == "":
	case isAzure(host):
		h.Set("Api-Key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}

func isAzure(host string) bool {
	return strings.HasSuffix(host, ".openai.azure.com") || strings.HasSuffix(host, ".cognitiveservices.azure.com") || strings.HasSuffix(host, ".services.ai.azure.com")
}

package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/belay-agent/belay/internal/contract/model"
)

// chat speaks OpenAI Chat Completions, as OpenAI does and as servers do that
// call themselves compatible.
type chat struct {
	name     string // "openai/gpt-..."
	official bool   // the server is OpenAI's own
	post     *transport
	noUsage  atomic.Bool // the server does not know stream_options
}

// Stream implements model.Provider.
func (c *chat) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for {
			asks := !c.noUsage.Load()
			body, err := c.encode(req, asks)
			if err != nil {
				yield(nil, err)
				return
			}
			listen := func() listener { return &chatListener{from: c.name, req: req} }
			if again := c.forward(c.post.stream(ctx, body, listen), asks, yield); !again {
				return
			}
			c.noUsage.Store(true)
		}
	}
}

// forward yields what stream does. It reports whether the server refused to
// report usage, and nothing else, so that the request can go without.
func (c *chat) forward(stream iter.Seq2[model.Delta, error], asks bool, yield func(model.Delta, error) bool) bool {
	for d, err := range stream {
		bad, ok := errors.AsType[*model.BadRequest](err)
		if ok && asks && bad.Status >= 400 && (strings.Contains(bad.Reason, "stream_options") || strings.Contains(bad.Reason, "include_usage")) {
			return true
		}
		if !yield(d, err) {
			return false
		}
	}
	return false
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
}

type chatCallBody struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// encode checks req and returns its body.
func (c *chat) encode(req *model.Request, usage bool) ([]byte, error) {
	speeches, err := sendable(req, "")
	if err != nil {
		return nil, err
	}
	out := chatRequest{Model: bareModel(req.Model, c.name), Stream: true, ReasoningEffort: req.Effort}
	if usage {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if c.official {
		out.MaxCompletionTokens = req.MaxOutput
	} else {
		out.MaxTokens = req.MaxOutput
	}
	if len(req.Schema) > 0 {
		out.ResponseFormat = &answerFormat{Type: "json_schema", JSONSchema: answerSchema{Name: "answer", Schema: req.Schema}}
	}
	for _, s := range req.Tools {
		out.Tools = append(out.Tools, chatTool{Type: "function", Function: chatFunction{Name: s.Name, Description: s.Description, Parameters: s.Input}})
	}
	if strings.TrimSpace(req.System) != "" {
		out.Messages = append(out.Messages, chatMessage{Role: "system", Content: req.System})
	}
	w := chatWriter{req: req, out: out.Messages}
	for _, s := range speeches {
		if err := w.add(s); err != nil {
			return nil, err
		}
	}
	w.flush()
	out.Messages = w.out
	return marshal(out)
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
	out    []chatMessage
	images []chatBlock // of results; they follow the last of them
}

func (w *chatWriter) add(s speech) error {
	if s.role == model.Assistant {
		w.flush()
		w.out = append(w.out, assistantMessage(s))
		return nil
	}
	var blocks []chatBlock
	for _, p := range s.parts {
		switch part := p.part.(type) {
		case model.CallResult:
			w.out = append(w.out, chatMessage{Role: "tool", Content: part.Text, ToolCallID: part.Call})
			for _, a := range part.Media {
				image, err := openPicture(w.req, p.place, a)
				if err != nil {
					return err
				}
				w.images = append(w.images, chatBlock{Type: "text", Text: "Image from call " + part.Call + ":"}, image.chatBlock())
			}
		case model.Text:
			blocks = append(blocks, chatBlock{Type: "text", Text: part.Text})
		case model.Image:
			image, err := openPicture(w.req, p.place, part.Artifact)
			if err != nil {
				return err
			}
			blocks = append(blocks, image.chatBlock())
		}
	}
	if len(blocks) > 0 {
		w.flush()
		w.out = append(w.out, chatMessage{Role: "user", Content: userContent(blocks)})
	}
	return nil
}

// flush sends the images of results, which a tool's message cannot hold.
func (w *chatWriter) flush() {
	if len(w.images) > 0 {
		w.out = append(w.out, chatMessage{Role: "user", Content: w.images})
		w.images = nil
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

func assistantMessage(s speech) chatMessage {
	m := chatMessage{Role: "assistant"}
	var text strings.Builder
	for _, p := range s.parts {
		switch p := p.part.(type) {
		case model.Text:
			text.WriteString(p.Text)
		case model.Call:
			m.ToolCalls = append(m.ToolCalls, chatCall{ID: p.ID, Type: "function", Function: chatCallBody{
				Name: sentName(p.Tool), Arguments: string(sentArgs(p.Args)),
			}})
		}
	}
	if text.Len() > 0 {
		m.Content = text.String()
	}
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

func chatHeader(key string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {userAgent}}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}

package provider

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// gemini speaks the Gemini API.
type gemini struct {
	name string   // "google/gemini-..."
	from string   // who makes its replies
	base *url.URL // up to the version
	post *transport
	lost shed
}

// Stream implements model.Provider.
func (g *gemini) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	post := *g.post
	post.url = geminiEndpoint(g.base, bareModel(req.Model, g.name))
	return post.shedding(ctx, &g.lost, geminiSheds, func() (sending, error) {
		body, places, err := g.encode(req)
		return sending{body, places, func() listener { return &geminiListener{from: g.from, req: req} }}, err
	})
}

// geminiSheds are what models are known to refuse of a request.
var geminiSheds = []shedding{
	{noSchema, pattern(`(?i)response.?mime.?type|response.?json.?schema|response.?schema`)},
	{noEffort, pattern(`(?i)thinking.?(level|budget|config)|thinking is not supported|does not support thinking`)},
}

// geminiEndpoint returns the URL of the one call of the API, of a model. The
// base may or may not end in the version.
func geminiEndpoint(base *url.URL, name string) *url.URL {
	u := *base
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	if !slices.ContainsFunc(strings.Split(u.Path, "/"), isVersion) {
		u.Path += "/v1beta"
	}
	u.Path += "/models/" + strings.TrimPrefix(name, "models/") + ":streamGenerateContent"
	q := u.Query()
	q.Set("alt", "sse")
	u.RawQuery = q.Encode()
	return &u
}

func geminiHeader(key string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {userAgent}}
	if key != "" {
		h.Set("X-Goog-Api-Key", key)
	}
	return h
}

type geminiRequest struct {
	GenerationConfig  *geminiConfig   `json:"generationConfig,omitempty"`
	SystemInstruction *geminiContent  `json:"systemInstruction,omitempty"`
	Tools             []geminiTools   `json:"tools,omitempty"`
	Contents          []geminiContent `json:"contents"`
}

type geminiConfig struct {
	MaxOutputTokens    int             `json:"maxOutputTokens,omitempty"`
	ThinkingConfig     *geminiThinking `json:"thinkingConfig,omitempty"`
	ResponseMimeType   string          `json:"responseMimeType,omitempty"`
	ResponseJSONSchema json.RawMessage `json:"responseJsonSchema,omitempty"`
}

type geminiThinking struct {
	IncludeThoughts bool   `json:"includeThoughts"`
	ThinkingLevel   string `json:"thinkingLevel,omitempty"`
	ThinkingBudget  int    `json:"thinkingBudget,omitempty"`
}

type geminiTools struct {
	FunctionDeclarations []geminiFunction `json:"functionDeclarations"`
}

type geminiFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema"`
}

type geminiContent struct {
	Role  string            `json:"role,omitempty"` // user or model
	Parts []json.RawMessage `json:"parts"`
}

// A geminiPart is a text, an image, a call or a result. Signatures belong to
// the part they came with.
type geminiPart struct {
	Text             string            `json:"text,omitempty"`
	InlineData       *geminiData       `json:"inlineData,omitempty"`
	FunctionCall     *geminiCall       `json:"functionCall,omitempty"`
	FunctionResponse *geminiCallResult `json:"functionResponse,omitempty"`
	ThoughtSignature string            `json:"thoughtSignature,omitempty"`
}

type geminiData struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

type geminiCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type geminiCallResult struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name"`
	Response geminiResponse `json:"response"`
}

type geminiResponse struct {
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
}

// unsigned is what the API takes for the signature of a call that another model
// made.
const unsigned = "skip_thought_signature_validator"

// demandsSignatures reports whether a model refuses calls without a signature.
func demandsSignatures(name string) bool {
	for _, old := range []string{"gemini-1", "gemini-2", "gemma", "learnlm"} {
		if strings.Contains(name, old) {
			return false
		}
	}
	return true
}

// geminiEffort says how much a model is to think. Those before version 3 count
// tokens.
func geminiEffort(name, effort string) *geminiThinking {
	t := &geminiThinking{IncludeThoughts: true}
	if demandsSignatures(name) {
		t.ThinkingLevel = effort
		return t
	}
	t.ThinkingBudget = map[string]int{"low": 1_024, "medium": 8_192, "high": 24_576}[effort]
	return t
}

// encode checks req and returns its body, and where in req its parts come from.
func (g *gemini) encode(req *model.Request) ([]byte, *sites, error) {
	speeches, err := sendable(req, g.from)
	if err != nil {
		return nil, nil, err
	}
	name := bareModel(req.Model, g.name)
	config := &geminiConfig{MaxOutputTokens: req.MaxOutput}
	if req.Effort != "" && !g.lost.has(noEffort) {
		config.ThinkingConfig = geminiEffort(name, req.Effort)
	}
	if len(req.Schema) > 0 && !g.lost.has(noSchema) {
		config.ResponseMimeType, config.ResponseJSONSchema = "application/json", req.Schema
	}
	out := geminiRequest{GenerationConfig: config}
	w := geminiWriter{req: req, demands: demandsSignatures(name), tools: map[string]string{}}
	w.sites.know(speeches)
	if strings.TrimSpace(req.System) != "" {
		system, err := marshal(geminiPart{Text: req.System})
		if err != nil {
			return nil, nil, err
		}
		out.SystemInstruction = &geminiContent{Parts: []json.RawMessage{system}}
	}
	if len(req.Tools) > 0 {
		offer := geminiTools{}
		for _, s := range req.Tools {
			offer.FunctionDeclarations = append(offer.FunctionDeclarations, geminiFunction{s.Name, s.Description, s.Input})
		}
		out.Tools = []geminiTools{offer}
	}
	for _, s := range speeches {
		if err := w.add(s); err != nil {
			return nil, nil, err
		}
	}
	out.Contents = w.out
	body, err := marshal(out)
	return body, &w.sites, err
}

// A geminiWriter turns speeches into contents.
type geminiWriter struct {
	req     *model.Request
	demands bool              // signatures
	tools   map[string]string // by call
	out     []geminiContent
	sites   sites
	results bool // the last content is of results
}

// add writes a speech. What one side says on and on is one content, but that
// results stand by themselves: the API counts them against the calls.
func (w *geminiWriter) add(s speech) error {
	if s.role == model.Assistant {
		return w.addReply(s)
	}
	var later []spoken
	for _, p := range s.parts {
		r, ok := p.part.(model.CallResult)
		if !ok {
			later = append(later, p)
			continue
		}
		answer := geminiResponse{Output: r.Text}
		if r.Error {
			answer = geminiResponse{Error: r.Text}
		}
		part := geminiPart{FunctionResponse: &geminiCallResult{ID: r.Call, Name: w.tools[r.Call], Response: answer}}
		if err := w.put("user", true, p.place, part); err != nil {
			return err
		}
		for _, a := range r.Media {
			later = append(later, spoken{p.place, model.Text{Text: "Image from call " + r.Call + ":"}}, spoken{p.place, model.Image{Artifact: a}})
		}
	}
	for _, p := range later {
		part := geminiPart{}
		switch said := p.part.(type) {
		case model.Text:
			part.Text = said.Text
		case model.Image:
			image, err := openPicture(w.req, p.place, said.Artifact)
			if err != nil {
				return err
			}
			part.InlineData = &geminiData{image.kind, image.base64}
		}
		if err := w.put("user", false, p.place, part); err != nil {
			return err
		}
	}
	return nil
}

func (w *geminiWriter) addReply(s speech) error {
	called := false
	for _, p := range s.parts {
		var err error
		switch part := p.part.(type) {
		case model.Reasoning:
			w.putRaw("model", false, p.place, part.Raw)
		case model.Text:
			if len(part.Raw) > 0 {
				w.putRaw("model", false, p.place, part.Raw)
				continue
			}
			err = w.put("model", false, p.place, geminiPart{Text: part.Text})
		case model.Call:
			w.tools[part.ID] = sentName(part.Tool)
			call := geminiPart{
				FunctionCall:     &geminiCall{ID: part.ID, Name: sentName(part.Tool), Args: sentArgs(part.Args)},
				ThoughtSignature: signature(part.Raw),
			}
			if call.ThoughtSignature == "" && !called && w.demands {
				call.ThoughtSignature = unsigned
			}
			called = true
			err = w.put("model", false, p.place, call)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// signature is what the API signed a part with.
func signature(raw json.RawMessage) string {
	var part geminiPart
	if json.Unmarshal(raw, &part) != nil {
		return ""
	}
	return part.ThoughtSignature
}

func (w *geminiWriter) put(role string, result bool, at place, part geminiPart) error {
	raw, err := marshal(part)
	if err == nil {
		w.putRaw(role, result, at, raw)
	}
	return err
}

func (w *geminiWriter) putRaw(role string, result bool, at place, raw json.RawMessage) {
	n := len(w.out)
	if n == 0 || w.out[n-1].Role != role || w.results != result {
		w.out = append(w.out, geminiContent{Role: role})
		w.sites.item()
		n++
	}
	w.results = result
	w.out[n-1].Parts = append(w.out[n-1].Parts, raw)
	w.sites.items[n-1] = append(w.sites.items[n-1], at)
}

package otel

import (
	"encoding/json"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// A said is a message in the form of the semantic conventions.
type said struct {
	Role   string     `json:"role"`
	Parts  []saidPart `json:"parts"`
	Finish string     `json:"finish_reason,omitempty"`
}

type saidPart struct {
	Type    string          `json:"type"`
	Content string          `json:"content,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Args    json.RawMessage `json:"arguments,omitempty"`
}

// messages encodes m. Opaque reasoning and images are left out.
func messages(role string, m model.Message, finish string) string {
	s := said{Role: role, Parts: []saidPart{}, Finish: finish}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case model.Text:
			s.Parts = append(s.Parts, saidPart{Type: "text", Content: p.Text})
		case model.Reasoning:
			if p.Text != "" {
				s.Parts = append(s.Parts, saidPart{Type: "reasoning", Content: p.Text})
			}
		case model.Call:
			s.Parts = append(s.Parts, saidPart{Type: "tool_call", ID: p.ID, Name: p.Tool, Args: p.Args})
		}
	}
	b, err := json.Marshal([]said{s})
	if err != nil { // arguments that are not JSON
		return ""
	}
	return string(b)
}

// modelName returns what the provider calls a model that is "provider/name".
func modelName(full string) string {
	if _, name, found := strings.Cut(full, "/"); found {
		return name
	}
	return full
}

// provider returns the conventions' name of who offers a model.
func provider(full string) string {
	name, _, found := strings.Cut(full, "/")
	switch {
	case !found:
		return "belay.rehearsed"
	case name == "gemini" || name == "google":
		return "gcp.gemini"
	case name == "azure":
		return "azure.ai.openai"
	case name == "moonshot":
		return "moonshot_ai"
	case name == "xai":
		return "x_ai"
	}
	return name
}

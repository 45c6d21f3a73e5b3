package tool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
)

func goodSpec() Spec {
	return Spec{
		Name: "Look", Version: 1, Description: "looks", Input: json.RawMessage(`{"type":"object"}`),
		Effects: []effect.Kind{effect.Read}, Idempotency: ReadOnly, Risk: Low,
		Inline: DefaultInline, Timeout: time.Minute,
	}
}

func TestR054_ValidateRefusesBadContracts(t *testing.T) {
	for _, c := range []struct {
		says string
		mend func(*Spec)
	}{
		{`name ""`, func(s *Spec) { s.Name = "" }},
		{`name "a b"`, func(s *Spec) { s.Name = "a b" }},
		{`name "mcp.x"`, func(s *Spec) { s.Name = "mcp.x" }},
		{`name "aaaa`, func(s *Spec) { s.Name = strings.Repeat("a", 65) }},
		{"version 0", func(s *Spec) { s.Version = 0 }},
		{"description is empty", func(s *Spec) { s.Description = "" }},
		{"description is empty", func(s *Spec) { s.Description = " \n" }},
		{"input schema", func(s *Spec) { s.Input = nil }},
		{"input schema", func(s *Spec) { s.Input = json.RawMessage(`{"type":`) }},
		{`describes a "string"`, func(s *Spec) { s.Input = json.RawMessage(`{"type":"string"}`) }},
		{`effect "browse"`, func(s *Spec) { s.Effects = []effect.Kind{"browse"} }},
		{`has the effect "write"`, func(s *Spec) { s.Effects = []effect.Kind{effect.Read, effect.Write} }},
		{`has the effect "anything"`, func(s *Spec) { s.Effects = []effect.Kind{effect.Anything} }},
		{"takes no argument why", func(s *Spec) { s.Idempotency, s.Effects = None, []effect.Kind{effect.Permanent} }},
		{`idempotency ""`, func(s *Spec) { s.Idempotency = "" }},
		{`idempotency "often"`, func(s *Spec) { s.Idempotency = "often" }},
		{`risk ""`, func(s *Spec) { s.Risk = "" }},
		{"inline limit 0", func(s *Spec) { s.Inline = 0 }},
		{"timeout 0s", func(s *Spec) { s.Timeout = 0 }},
		{"timeout -1s", func(s *Spec) { s.Timeout = -time.Second }},
	} {
		s := goodSpec()
		c.mend(&s)
		err := s.Validate()
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Validate = %v, want an error that says %q", err, c.says)
		}
	}
	if err := goodSpec().Validate(); err != nil {
		t.Errorf("a good contract: %v", err)
	}
}

func TestR054_ValidateSaysAllThatIsWrong(t *testing.T) {
	err := Spec{}.Validate()
	for _, says := range []string{"name", "version", "description", "input schema", "idempotency", "risk", "inline", "timeout"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not speak of %s", err, says)
		}
	}
}

func TestR054_ValidateRefusesTwoToolsOfOneName(t *testing.T) {
	err := ValidateAll([]Tool{fixed(goodSpec()), fixed(goodSpec())})
	if err == nil || !strings.Contains(err.Error(), `two tools are named "Look"`) {
		t.Errorf("ValidateAll = %v, want an error about the name", err)
	}
	other := goodSpec()
	other.Name = "look" // some providers fold case
	if err := ValidateAll([]Tool{fixed(goodSpec()), fixed(other)}); err == nil {
		t.Error("ValidateAll accepts two names that differ in case alone")
	}
	other.Name = "Other"
	if err := ValidateAll([]Tool{fixed(goodSpec()), fixed(other)}); err != nil {
		t.Errorf("ValidateAll: %v", err)
	}
}

// A fixed tool has a contract and nothing else.
type fixed Spec

func (f fixed) Spec() Spec { return Spec(f) }

func (f fixed) Prepare(context.Context, Input) (*Action, error) {
	return nil, &Failure{Kind: Unavailable, Message: "nothing to do"}
}

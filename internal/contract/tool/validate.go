package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// nameRE is what the strictest provider takes as the name of a tool.
var nameRE = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Validate checks a contract by itself: names, closed lists, limits, and that
// its claims do not contradict each other. All that is wrong comes back, joined.
func (s Spec) Validate() error {
	var errs []error
	wrong := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }

	if !nameRE.MatchString(s.Name) {
		wrong("name %q does not match %s", s.Name, nameRE)
	}
	if s.Version < 1 {
		wrong("version %d is less than 1", s.Version)
	}
	if strings.TrimSpace(s.Description) == "" {
		wrong("description is empty")
	}
	var schema struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(s.Input, &schema); err != nil {
		wrong("input schema: %w", err)
	} else if schema.Type != "object" {
		wrong("input schema describes a %q, not an object", schema.Type)
	}
	if _, asks := schema.Properties["why"]; !asks && slices.Contains(s.Effects, effect.Permanent) {
		wrong("may do what cannot be undone, but takes no argument why")
	}
	for _, k := range s.Effects {
		if !slices.Contains(effectKinds, k) {
			wrong("effect %q is not one of %v", k, effectKinds)
		}
	}
	switch s.Idempotency {
	case None, CompareAndSwap, ByKey:
	case ReadOnly:
		for _, k := range s.Effects {
			if k != effect.Read {
				wrong("read-only, but has the effect %q", k)
			}
		}
	default:
		wrong("idempotency %q is not one of none, read_only, compare_and_swap, key", s.Idempotency)
	}
	switch s.Risk {
	case Low, Medium, High:
	default:
		wrong("risk %q is not one of low, medium, high", s.Risk)
	}
	if s.Inline < 1 {
		wrong("inline limit %d is less than 1", s.Inline)
	}
	if s.Timeout <= 0 {
		wrong("timeout %s is not positive", s.Timeout)
	}
	if len(errs) > 0 {
		return fmt.Errorf("contract of tool %q: %w", s.Name, errors.Join(errs...))
	}
	return nil
}

var effectKinds = []effect.Kind{
	effect.Read, effect.Write, effect.Process, effect.Network,
	effect.Git, effect.Resource, effect.Permanent, effect.Anything,
}

// ValidateAll checks each contract, and that no two tools share a name.
func ValidateAll(tools []Tool) error {
	var errs []error
	names := make(map[string]bool)
	for _, t := range tools {
		s := t.Spec()
		if err := s.Validate(); err != nil {
			errs = append(errs, err)
		}
		folded := strings.ToLower(s.Name) // the model may not tell Read from read
		if names[folded] {
			errs = append(errs, fmt.Errorf("two tools are named %q", s.Name))
		}
		names[folded] = true
	}
	return errors.Join(errs...)
}

package provider

import "github.com/belay-agent/belay/internal/contract/model"

// What is assumed of a model that the catalogue does not know.
const (
	safeWindow    = 128_000
	safeMaxOutput = 8_192
)

// microCents is a dollar price for a million tokens, given in thousandths of a
// dollar, as a model.Price has it.
func microCents(thousandths int64) int64 { return thousandths * 100_000 }

// lookUp returns what is known of a model. One that the catalogue does not know
// gets safe limits and no price.
func lookUp(name string) model.Info {
	switch name {
	case "anthropic/claude-sonnet-4-6":
		return model.Info{Name: name, Window: 200_000, MaxOutput: 64_000, Price: model.Price{
			Input: microCents(3_000), Cached: microCents(300), CacheWrite: microCents(3_750), Output: microCents(15_000),
		}}
	case "openai/gpt-5.4-mini":
		return model.Info{Name: name, Window: 400_000, MaxOutput: 128_000, Price: model.Price{
			Input: microCents(750), Cached: microCents(75), Output: microCents(4_500),
		}}
	}
	return model.Info{Name: name, Window: safeWindow, MaxOutput: safeMaxOutput}
}

package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// An offer is a model as models.dev describes it.
type offer struct {
	Tools      *bool `json:"tool_call"`
	Reasoning  bool  `json:"reasoning"`
	Schema     bool  `json:"structured_output"`
	Modalities struct {
		Input []string `json:"input"`
	} `json:"modalities"`
	Limit struct {
		Context int `json:"context"`
		Output  int `json:"output"`
	} `json:"limit"`
	Cost *offerCost `json:"cost"`
}

type offerCost struct {
	Input  json.Number `json:"input"`
	Output json.Number `json:"output"`
	Cached json.Number `json:"cache_read"`
	Write  json.Number `json:"cache_write"`
	Over   *offerCost  `json:"context_over_200k"`
	Tiers  []struct {
		offerCost
		Tier struct {
			Size int `json:"size"`
		} `json:"tier"`
	} `json:"tiers"`
}

// makerAt is what models.dev calls a provider that we call by that name.
func makerAt(name string) string {
	switch name {
	case "moonshot":
		return "moonshotai"
	case "qwen":
		return "alibaba"
	case "glm":
		return "zai"
	}
	return name
}

// ImportCatalogue reads a catalogue of our own form, or what models.dev gives
// away at /api.json, of which it takes the models of Makers that can call tools.
// What is not sound there is left out, and counted.
func ImportCatalogue(text []byte) (c Catalogue, leftOut int, err error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return c, 0, fmt.Errorf("it is empty")
	}
	if text[0] != '{' {
		c, err = ParseCatalogue(text)
		return c, 0, err
	}
	var all map[string]struct {
		Models map[string]json.RawMessage `json:"models"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return c, 0, fmt.Errorf("it is not JSON as models.dev has it: %w", err)
	}
	known, err := Published()
	if err != nil {
		return c, 0, err
	}
	c.Models = make(map[string]Entry)
	for _, maker := range Makers() {
		for id, raw := range all[makerAt(maker)].Models {
			name := maker + "/" + id
			var o offer
			if json.Unmarshal(raw, &o) != nil {
				leftOut++
				continue
			}
			if o.Tools != nil && !*o.Tools {
				continue
			}
			e := o.entry()
			if e.check(name) != nil {
				leftOut++
				continue
			}
			if e.offPeak(known.Models[name]) {
				e.Price, e.Tiers = nil, nil // the one that is known stays
			}
			c.Models[name] = e
		}
	}
	if len(c.Models) == 0 {
		return c, leftOut, fmt.Errorf("no model of %s is in it", strings.Join(Makers(), ", "))
	}
	return c, leftOut, nil
}

// offPeak reports whether the price of e is of the cheaper hours of a maker whose
// highest price is known: what is counted must never be less than what is billed.
func (e Entry) offPeak(known Entry) bool {
	if !known.Hourly || e.Price == nil || known.Price == nil {
		return false
	}
	now, err := e.Price.price()
	peak, its := known.Price.price()
	return err == nil && its == nil && (now.Input < peak.Input || now.Cached < peak.Cached || now.Output < peak.Output)
}

func (o offer) entry() Entry {
	e := Entry{Window: o.Limit.Context, Output: o.Limit.Output, Able: []string{"tools"}}
	if slices.Contains(o.Modalities.Input, "image") {
		e.Able = append(e.Able, "images")
	}
	if o.Reasoning {
		e.Able = append(e.Able, "reasoning")
	}
	if o.Schema {
		e.Able = append(e.Able, "schema")
	}
	if o.Cost == nil || o.Cost.Input == "" || o.Cost.Output == "" {
		return e
	}
	if o.Cost.Cached != "" {
		e.Able = append(e.Able, "caching")
	}
	base := o.Cost.tariff()
	e.Price = &base
	for _, t := range o.Cost.Tiers {
		e.Tiers = append(e.Tiers, tierOf(t.Tier.Size, t.tariff()))
	}
	if over := o.Cost.Over; over != nil && e.Tiers == nil {
		e.Tiers = []tier{tierOf(200_000, over.tariff())}
	}
	return e
}

func tierOf(above int, t tariff) tier { return tier{above, t.Input, t.Cached, t.Write, t.Output} }

func (c offerCost) tariff() tariff {
	return tariff{plainly(c.Input), plainly(c.Cached), plainly(c.Write), plainly(c.Output)}
}

// plainly writes a number without an exponent.
func plainly(n json.Number) string {
	if !strings.ContainsAny(string(n), "eE") {
		return string(n)
	}
	f, err := n.Float64()
	if err != nil || f < 1e-9 || f > 1e9 {
		return string(n) // no amount, and told so
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Text returns c in the form that ParseCatalogue reads.
func (c Catalogue) Text() ([]byte, error) {
	text, err := toml.Marshal(c)
	if err != nil {
		return nil, err
	}
	if _, err := ParseCatalogue(text); err != nil {
		return nil, fmt.Errorf("a catalogue cannot be read back: %w", err)
	}
	return text, nil
}

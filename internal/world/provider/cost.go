package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// dollar is a dollar in micro-cents.
const dollar = 100_000_000

// maxPrice is the most that a catalogue may ask for a million tokens: no product
// with a count of tokens can overflow (see maxTokens).
const maxPrice = 1000 * dollar

// ParseDollars reads an amount such as "1.50", "$2" or "0.00000001" as
// micro-cents, exactly.
func ParseDollars(text string) (int64, error) {
	whole, part, point := strings.Cut(strings.TrimPrefix(text, "$"), ".")
	if whole == "" || !allDigits(whole) || point && part == "" || !allDigits(part) {
		return 0, fmt.Errorf(`%q is not an amount in dollars such as "1.50"`, text)
	}
	part = strings.TrimRight(part, "0")
	if len(part) > 8 {
		return 0, fmt.Errorf("%q is finer than a micro-cent", text)
	}
	n, err := strconv.ParseInt(whole+part+strings.Repeat("0", 8-len(part)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is more than %d dollars", text, math.MaxInt64/dollar)
	}
	return n, nil
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// tariff is a price as a catalogue writes it: dollars for a million tokens.
type tariff struct {
	Input  string `toml:"input"`
	Cached string `toml:"cached,omitempty"` // "" is as much as other input
	Write  string `toml:"write,omitempty"`  // to the cache; "" is as much as other input
	Output string `toml:"output"`
}

// price converts t.
func (t tariff) price() (p model.Price, err error) {
	if t.Input == "" || t.Output == "" {
		return p, errors.New("a price is one of input and one of output, at least")
	}
	for _, x := range []struct {
		text string
		to   *int64
	}{{t.Input, &p.Input}, {t.Cached, &p.Cached}, {t.Write, &p.CacheWrite}, {t.Output, &p.Output}} {
		if x.text == "" {
			*x.to = p.Input
			continue
		}
		if *x.to, err = ParseDollars(x.text); err != nil {
			return p, err
		}
		if *x.to > maxPrice {
			return p, fmt.Errorf("%q for a million tokens is beyond belief", x.text)
		}
	}
	return p, nil
}

// cacheKey returns what leads the requests of one session to the machine that has
// their beginning in its cache: the same for all of them, made of how the session
// begins. It is "" where the API has no use for it.
func (t *transport) cacheKey(req *model.Request) string {
	if host := t.url.Host; host != "api.openai.com" && host != "api.mistral.ai" && !isAzure(host) || len(req.Messages) == 0 {
		return ""
	}
	hash := sha256.New()
	for _, p := range req.Messages[0].Parts {
		if text, ok := p.(model.Text); ok {
			_, _ = hash.Write([]byte(text.Text + "\x00")) // a hash takes everything
		}
	}
	return "belay-" + hex.EncodeToString(hash.Sum(nil)[:16])
}

package model

// Info is what is known of a model.
type Info struct {
	Name              string // "anthropic/claude-..."
	Window, MaxOutput int    // tokens
	Known             bool   // someone published, or its server told, the two above: they are not assumed
	NoTools           bool   // its server says that it cannot call tools
	Price             Price
	Tiers             []Tier // what long requests cost instead, in rising order
}

// Cost returns what u, the usage of one request, costs in micro-cents, rounded
// up.
func (i Info) Cost(u Usage) int64 {
	price := i.Price
	for _, t := range i.Tiers {
		if u.Input+u.Cached+u.CacheWrite > t.Above {
			price = t.Price
		}
	}
	return price.Cost(u)
}

// A Price is what a million tokens cost, in micro-cents (a dollar is
// 100,000,000); zero if unknown.
type Price struct{ Input, Cached, CacheWrite, Output int64 }

// A Tier is the price of a request, all of it, that has more tokens of input
// than Above, cached ones included.
type Tier struct {
	Above int
	Price
}

// Cost returns what u costs, in micro-cents, rounded up.
func (p Price) Cost(u Usage) int64 {
	sum := p.Input*int64(u.Input) + p.Cached*int64(u.Cached) +
		p.CacheWrite*int64(u.CacheWrite) + p.Output*int64(u.Output)
	return (sum + 999_999) / 1_000_000
}

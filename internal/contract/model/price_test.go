package model

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// The cost of a request is the product of prices and counts, exactly, and of
// that what a micro-cent cannot say is rounded up once.
func TestCostIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		i := Info{Price: anyPrice(r)}
		for above := 0; r.IntN(3) > 0; {
			above += 1 + r.IntN(300_000)
			i.Tiers = append(i.Tiers, Tier{above, anyPrice(r)})
		}
		u := Usage{Input: r.IntN(1_000_000), Cached: r.IntN(1_000_000), CacheWrite: r.IntN(100_000), Output: r.IntN(200_000)}
		u.Reasoning = r.IntN(u.Output + 1)

		price := i.Price
		for _, tier := range i.Tiers {
			if u.Input+u.Cached+u.CacheWrite > tier.Above {
				price = tier.Price
			}
		}
		exact := new(big.Rat)
		for _, x := range [][2]int64{{price.Input, int64(u.Input)}, {price.Cached, int64(u.Cached)}, {price.CacheWrite, int64(u.CacheWrite)}, {price.Output, int64(u.Output)}} {
			exact.Add(exact, new(big.Rat).Mul(big.NewRat(x[0], 1_000_000), big.NewRat(x[1], 1)))
		}
		got := big.NewRat(i.Cost(u), 1)
		if over := new(big.Rat).Sub(got, exact); over.Sign() < 0 || over.Cmp(big.NewRat(1, 1)) >= 0 {
			t.Fatalf("%+v costs %v with %+v; exactly it is %v", u, got, i, exact.FloatString(6))
		}
	}
}

// anyPrice returns prices from nothing to 200 dollars.
func anyPrice(r *rand.Rand) Price {
	one := func() int64 {
		if r.IntN(4) == 0 {
			return 0
		}
		return r.Int64N(20_000_000_000)
	}
	return Price{one(), one(), one(), one()}
}

func TestALongRequestHasItsOwnPrice(t *testing.T) {
	i := Info{
		Price: Price{Input: 2_000_000, Cached: 1_000_000, Output: 4_000_000},
		Tiers: []Tier{{200, Price{Input: 4_000_000, Cached: 2_000_000, Output: 6_000_000}}, {300, Price{Input: 8_000_000}}},
	}
	for u, want := range map[Usage]int64{
		{Input: 200, Output: 1}:            404,
		{Input: 201, Output: 1}:            810, // all of it
		{Input: 1, Cached: 200, Output: 1}: 410,
		{Input: 1, CacheWrite: 300}:        8,
		{Input: 200, Output: 1000}:         4400, // output makes no request long
	} {
		if got := i.Cost(u); got != want {
			t.Errorf("%+v costs %d, want %d", u, got, want)
		}
	}
}

package cli

import (
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/world/provider"
)

// dollar is a dollar in micro-cents.
const dollar = 100_000_000

// parseDollars reads an amount such as "1.50", "$2" or "0.00000001" as
// micro-cents, exactly.
func parseDollars(text string) (int64, error) { return provider.ParseDollars(text) }

// showDollars is the inverse of parseDollars, but for zero.
func showDollars(microCents int64) string {
	if microCents == 0 {
		return "none"
	}
	s := fmt.Sprintf("%d.%08d", microCents/dollar, microCents%dollar)
	for strings.HasSuffix(s, "0") && len(s)-strings.IndexByte(s, '.') > 3 {
		s = s[:len(s)-1]
	}
	return s
}

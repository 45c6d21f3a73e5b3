package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// dollar is a dollar in micro-cents.
const dollar = 100_000_000

// parseDollars reads an amount such as "1.50", "$2" or "0.00000001" as
// micro-cents, exactly.
func parseDollars(text string) (int64, error) {
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

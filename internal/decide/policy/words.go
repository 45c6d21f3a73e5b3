package policy

import (
	"fmt"
	"slices"
	"strings"
)

var (
	verdicts = []string{Allow: "allow", Ask: "ask", Deny: "deny"}
	modes    = []string{string(ModePlan), string(ModeAsk), string(ModeAuto), string(ModeFull)}
)

// String returns the verdict as settings and the journal write it.
func (v Verdict) String() string {
	if v < 0 || int(v) >= len(verdicts) {
		return fmt.Sprintf("verdict(%d)", int(v))
	}
	return verdicts[v]
}

// ParseMode returns the mode of that name. Its error names what is allowed.
func ParseMode(s string) (Mode, error) {
	if !slices.Contains(modes, s) {
		return ModePlan, fmt.Errorf("%q is not one of %s", s, strings.Join(modes, ", "))
	}
	return Mode(s), nil
}

// Stricter reports whether less passes in m than in n.
func (m Mode) Stricter(n Mode) bool {
	return slices.Index(modes, string(m.known())) < slices.Index(modes, string(n.known()))
}

func (m Mode) known() Mode {
	switch m {
	case ModePlan, ModeAsk, ModeAuto, ModeFull:
		return m
	case "":
		return ModeAsk
	}
	return ModePlan
}

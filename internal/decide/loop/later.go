package loop

import (
	"regexp"
	"sync"
)

// later returns what compiles expression when it is first needed: a program that
// only starts does without.
func later(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

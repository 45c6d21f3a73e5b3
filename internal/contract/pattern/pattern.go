// Package pattern makes regular expressions when they are first needed: a program
// that only starts does without.
package pattern

import (
	"regexp"
	"sync"
)

// Later returns a function that compiles expression on its first call, and has it
// from then on. It is safe for concurrent use. The function panics if expression is
// none.
func Later(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

package diagnostic

import (
	"regexp"
	"sync"
)

// lazy compiles an expression when it is first used: most sessions read the
// output of few tools, and a start of none.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// Marks passes three marks.
package main

import (
	"os"

	"github.com/belay-agent/belay/internal/world/failpoint"
)

func main() {
	for _, name := range []string{"one", "two", "three"} {
		failpoint.Hit(name)
	}
	os.Exit(7)
}

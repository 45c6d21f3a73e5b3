package toolbox

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkEdit changes one line of a file, again and again. What the disk takes
// is part of it.
func BenchmarkEdit(b *testing.B) {
	for _, size := range []int{10 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			var text strings.Builder
			for i := 0; text.Len() < size; i++ {
				fmt.Fprintf(&text, "	line(%d) // of some\n", i)
				if text.Len() > size/2 && text.Len() < size/2+30 {
					text.WriteString("the line\n")
				}
			}
			d := newDesk(b, map[string]string{"f.go": text.String()})
			d.call("Read", map[string]any{"path": "f.go"}) // as much as it shows
			lines := [2]string{"the line\n", "that line\n"}
			for i := 0; b.Loop(); i++ {
				d.ok("Edit", map[string]any{"path": "f.go", "old": lines[i%2], "new": lines[(i+1)%2]})
			}
		})
	}
}

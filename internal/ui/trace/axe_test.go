package trace_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// axe is the checker that scripts/axe.sh fetches.
func axe(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("no cache: " + err.Error())
	}
	b, err := os.ReadFile(filepath.Join(cache, "belay-tests", "axe-4.14.1.min.js"))
	if err != nil {
		t.Skip("axe-core is not here: scripts/axe.sh fetches it")
	}
	return string(b)
}

// A violation is what axe found.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		Target json.RawMessage
		HTML   string `json:"html"`
		Why    string `json:"failureSummary"`
	}
}

func TestThePageIsAccessible(t *testing.T) {
	script := axe(t)
	file := crashed(t).trace()
	for _, l := range []look{{1280, 800, false, ""}, {1280, 800, true, ""}, {390, 780, false, ""}, {390, 780, true, ""}} {
		t.Run(fmt.Sprintf("%d dark=%v", l.width, l.dark), func(t *testing.T) {
			tb := openTab(t, file, l)
			eval[bool](tb, script+";true")
			for _, keys := range []string{"jjj", "n", "nn\r", "\x1b2", "3", "1?"} {
				tb.press(keys)
				found := eval[[]violation](tb, "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
				for _, v := range found {
					if v.Impact != "serious" && v.Impact != "critical" {
						t.Logf("after %q: %s: %s (%s)", keys, v.Impact, v.Help, v.ID)
						continue
					}
					for _, n := range v.Nodes {
						t.Errorf("after %q: %s: %s (%s): %s: %s\n%s", keys, v.Impact, v.Help, v.ID, n.Target, n.HTML, cmp.Or(n.Why, "no reason"))
					}
				}
			}
		})
	}
}

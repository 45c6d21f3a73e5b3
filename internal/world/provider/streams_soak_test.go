//go:build soak

package provider

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// soak says whether the long tests run whole, or take a sample.
const soak = true

// TestStreamsOfNoise feeds each API's decoder a million streams: those of the
// fixtures, and whole ones, with pieces lost, doubled, changed and of each other.
// BELAY_STREAMS sets how many.
func TestStreamsOfNoise(t *testing.T) {
	count := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("BELAY_STREAMS")); err == nil {
		count = n
	}
	for i, d := range dialects() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(4, uint64(i)))
			seeds := streamSeeds(t, d)
			for n := range count {
				stream := noise(rng, seeds)
				checkStream(t, d, rng.IntN(64), stream)
				if t.Failed() {
					t.Fatalf("stream %d: %q", n, stream)
				}
			}
		})
	}
}

// streamSeeds returns streams of d: of the suite, and what servers were seen to
// send.
func streamSeeds(t *testing.T, d modeltest.Dialect) [][]byte {
	seeds := [][]byte{[]byte(d.Stream(d.Events(short()))), []byte(d.Stream(d.Events(modeltest.Rich())))}
	files, err := filepath.Glob("testdata/dialects/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		api := "openai"
		for _, f := range a.Files {
			if _, after, ok := strings.Cut(string(f.Data), "api: "); ok && f.Name == "options" {
				api, _, _ = strings.Cut(after, "\n")
			}
			if strings.HasPrefix(f.Name, "reply") && api == apiOf(d) {
				seeds = append(seeds, f.Data)
			}
		}
	}
	return seeds
}

// noise returns a stream that is nearly one of seeds.
func noise(rng *rand.Rand, seeds [][]byte) []byte {
	s := bytes.Clone(seeds[rng.IntN(len(seeds))])
	for range 1 + rng.IntN(4) {
		if len(s) < 2 {
			return s
		}
		i := rng.IntN(len(s))
		j := i + rng.IntN(min(len(s)-i, 1+rng.IntN(200)))
		switch rng.IntN(6) {
		case 0: // lost
			s = append(s[:i:i], s[j:]...)
		case 1: // doubled
			s = append(s[:j:j], s[i:]...)
		case 2: // changed
			s[i] ^= byte(1 << rng.IntN(8))
		case 3: // cut
			s = s[:i]
		case 4: // gone on with by another
			other := seeds[rng.IntN(len(seeds))]
			s = append(s[:i:i], other[rng.IntN(len(other)):]...)
		case 5: // a token that means something
			tokens := []string{"null", "{}", "[", "]}", `"`, "\r", "\n\n", "data:", "-1", "1e9", `"index":0,`, `\ud800`, "<think>"}
			s = append(s[:i:i], append([]byte(tokens[rng.IntN(len(tokens))]), s[i:]...)...)
		}
	}
	return s
}

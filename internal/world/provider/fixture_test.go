package provider

import (
	"flag"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

var update = flag.Bool("update", false, "rewrite what the fixtures in testdata/dialects come to")

// TestDialects holds the peculiarities of servers that were seen in public, one
// in each archive, however its bytes arrive. The soak parts each stream at every
// byte; TestBug_P09_EveryByte does so to one of each API in every run.
func TestDialects(t *testing.T) {
	files, err := filepath.Glob("testdata/dialects/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	open := func(f modeltest.Fixture, client *http.Client) (model.Provider, error) {
		p, _, err := Open(Options{Name: f.Name, API: f.API, BaseURL: f.Base, Key: "sk-test-secret", Client: client, Patience: Patience{Attempts: 1}})
		return p, err
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			f := modeltest.ReadFixture(t, file)
			if !soak {
				f.Every = 7
			}
			f.Run(t, open, file, *update)
		})
	}
}

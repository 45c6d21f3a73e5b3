package provider

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
)

const importable = `{
 "anthropic": {"id":"anthropic","models":{
  "claude-x": {"id":"claude-x","tool_call":true,"reasoning":true,"structured_output":true,"modalities":{"input":["text","image"]},
   "cost":{"input":3,"output":15.50,"cache_read":0.3,"cache_write":3.75,"context_over_200k":{"input":6,"output":22.5}},"limit":{"context":200000,"output":64000}},
  "old": {"tool_call":false,"limit":{"context":1000,"output":100}},
  "wrong": {"tool_call":true,"limit":{"context":-1,"output":100}},
  "odd": {"tool_call":"maybe"}}},
 "alibaba": {"models":{"q": {"tool_call":true,"cost":{"input":1e-1,"output":5,"tiers":[{"input":2,"output":6,"tier":{"type":"context","size":32000}}]},"limit":{"context":1000000,"output":0}}}},
 "zai": {"models":{"glm-9": {"limit":{"context":5,"output":6},"cost":{"input":1e-99999,"output":1}}}},
 "elsewhere": {"models":{"y": {"tool_call":true}}}
}`

func TestImportCatalogue(t *testing.T) {
	c, leftOut, err := ImportCatalogue([]byte(importable))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Entry{
		"anthropic/claude-x": {
			Window: 200_000, Output: 64_000, Price: &tariff{"3", "0.3", "3.75", "15.50"}, Tiers: []tier{{200_000, "6", "", "", "22.5"}},
			Able: []string{"tools", "images", "reasoning", "schema", "caching"},
		},
		"qwen/q": {Window: 1_000_000, Price: &tariff{"0.1", "", "", "5"}, Tiers: []tier{{32_000, "2", "", "", "6"}}, Able: []string{"tools"}},
	}
	if d := cmp.Diff(want, c.Models); d != "" || leftOut != 3 {
		t.Errorf("left out %d\n%s", leftOut, d)
	}
	text, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	back, _, err := ImportCatalogue(text)
	if d := cmp.Diff(c, back); d != "" || err != nil {
		t.Errorf("%v\n%s\n%s", err, d, text)
	}
	for text, want := range map[string]string{"": "empty", "{": "not JSON", "{}": "no model of anthropic", "[": "line 1", "<html>": "line 1"} {
		if _, _, err := ImportCatalogue([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// TestOffPeakPricesAreNotBroughtIn: the prices of cheaper hours would count less than
// is billed; those that are higher than what is known are news.
func TestOffPeakPricesAreNotBroughtIn(t *testing.T) {
	at := func(in, cached, out string) model.Price {
		t.Helper()
		c, _, err := ImportCatalogue([]byte(`{"deepseek":{"models":{"deepseek-flash":{"limit":{"context":1000000,"output":384000},"cost":{"input":` + in + `,"cache_read":` + cached + `,"output":` + out + `}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.Text()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "models-refreshed.toml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := lookUp("deepseek/deepseek-flash", []string{file})
		if err != nil {
			t.Fatal(err)
		}
		return info.Price
	}
	known, err := lookUp("deepseek/deepseek-flash", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range [][3]string{{"0.15", "0.003", "0.60"}, {"0.30", "0.003", "1.20"}, {"0.40", "0.006", "0.60"}} {
		if got := at(off[0], off[1], off[2]); got != known.Price {
			t.Errorf("%v is brought in: %+v, and %+v was known", off, got, known.Price)
		}
	}
	if got := at("0.40", "0.01", "1.30"); got.Input != 40_000_000 || got.Output != 130_000_000 {
		t.Errorf("a higher price is not: %+v", got)
	}
}

func FuzzImportCatalogue(f *testing.F) {
	f.Add(importable)
	f.Add(published[:1500])
	f.Fuzz(func(t *testing.T, text string) {
		c, _, err := ImportCatalogue([]byte(text))
		if err != nil {
			return
		}
		out, err := c.Text()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		back, err := ParseCatalogue(out)
		if err != nil || !slices.Equal(slices.Sorted(maps.Keys(back.Models)), slices.Sorted(maps.Keys(c.Models))) {
			t.Errorf("%q became %s, %v", text, out, err)
		}
	})
}

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

func TestCatalogue(t *testing.T) {
	million := model.Usage{Input: 1_000_000, Cached: 1_000_000, CacheWrite: 1_000_000, Output: 1_000_000}
	for name, want := range map[string]struct {
		window, output int
		cents          int64 // for a million of each
		known          bool
	}{
		"anthropic/claude-sonnet-4-6":            {1_000_000, 128_000, 300 + 30 + 375 + 1500, true},
		"anthropic/claude-sonnet-4-5-20250929":   {200_000, 64_000, 300 + 30 + 375 + 1500, true},
		"anthropic/claude-haiku-5-5":             {1_000_000, 128_000, 50 + 5 + 62 + 250, true}, // 62.5; all of it is long
		"openai/gpt-5.4-mini":                    {400_000, 128_000, 75 + 7 + 75 + 450, true},   // 7.5
		"openai/gpt-5.4-mini-2026-03-17":         {400_000, 128_000, 75 + 7 + 75 + 450, true},
		"openai/gpt-6-astra":                     {1_050_000, 128_000, 2000 + 200 + 2500 + 7500, true},
		"google/gemini-3.6-flash":                {1_048_576, 65_536, 0, true},
		"mistral/mistral-medium-3.5":             {256_000, 8_192, 150 + 150 + 150 + 750, true},
		"glm/glm-5":                              {204_800, 51_200, 100 + 20 + 100 + 320, true},   // a reply leaves room
		"deepseek/deepseek-v4-pro":               {1_000_000, 384_000, 132 + 4 + 132 + 396, true}, // 4.4
		"openrouter/anthropic/claude-sonnet-4.6": {1_000_000, 128_000, 0, true},
		"openai/unheard-of":                      {128_000, 8_192, 0, false},
		"mine/x/y":                               {128_000, 8_192, 0, false},
	} {
		i, err := lookUp(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		cents := i.Cost(million) / 1_000_000
		if off := cents - want.cents; i.Name != name || i.Window != want.window || i.MaxOutput != want.output || off < 0 || off > 1 || i.Known != want.known || i.NoTools {
			t.Errorf("%+v costs %d cents for a million of each, want %+v", i, cents, want)
		}
	}
}

// Every model of the catalogue is found by itself as it is found among all.
func TestCatalogueIsSound(t *testing.T) {
	all, err := Published()
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Models) < 60 || all.Date == "" {
		t.Errorf("%d models of %q", len(all.Models), all.Date)
	}
	makers := map[string]bool{}
	for name, want := range all.Models {
		got, ok := section(name)
		if d := cmp.Diff(want, got); !ok || d != "" {
			t.Errorf("%s (-among all +alone):\n%s", name, d)
		}
		if len(want.Able) == 0 || undated(name) != name {
			t.Errorf("%s has the abilities %q and would be looked for as %s", name, want.Able, undated(name))
		}
		maker, _, _ := strings.Cut(name, "/")
		makers[maker] = true
	}
	want := []string{"anthropic", "deepseek", "glm", "google", "mistral", "moonshot", "openai", "qwen"}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(makers))); d != "" {
		t.Error(d)
	}
}

func TestCatalogueOfTheUser(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	refreshed := write("refreshed.toml", `
[models."anthropic/claude-sonnet-4-6"]
window = 300_000
price = { input = "1", output = "2" }
[models."openai/gpt-5.5"]
price = { input = "7", output = "8" }
`)
	own := write("own.toml", `
[models."anthropic/claude-sonnet-4-6"]
window = 400000
[models."mine/small"]
window = 8_192
output = 8_192
able = ["images"]
`)
	files := []string{refreshed, filepath.Join(dir, "missing.toml"), own}
	for name, want := range map[string]model.Info{
		"anthropic/claude-sonnet-4-6": {Window: 400_000, MaxOutput: 128_000, Known: true, Price: model.Price{Input: dollar, Cached: dollar, CacheWrite: dollar, Output: 2 * dollar}},
		"openai/gpt-5.5":              {Window: 1_050_000, MaxOutput: 128_000, Known: true, Price: model.Price{Input: 7 * dollar, Cached: 7 * dollar, CacheWrite: 7 * dollar, Output: 8 * dollar}}, // with the price its tiers go
		"mine/small":                  {Window: 8_192, MaxOutput: 2_048, Known: true, NoTools: true},
	} {
		want.Name = name
		got, err := lookUp(name, files)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestCatalogueThatIsWrong(t *testing.T) {
	const head = "[models.\"a/b\"]\n"
	for text, want := range map[string]string{
		"x = 1":                            "line 1: x is not known",
		head + "windw = 1":                 "line 2: models.a/b.windw is not known",
		head + "window = -1":               "cannot be",
		head + "window = 1e3":              "line 2",
		head + "able = [\"flying\"]":       `"flying" is none of tools`,
		head + "price = { input = \"1\" }": "one of input and one of output",
		head + "price = { input = \"1\", output = \"-2\" }":               `"-2" is not an amount`,
		head + "price = { input = \"1\", output = \"1001\" }":             "beyond belief",
		head + "price = { input = \"0.000000001\", output = \"2\" }":      "finer than a micro-cent",
		head + "tiers = [ { above = 1, input = \"1\", output = \"1\" } ]": "no price below",
		"[models.\"ab\"]\nwindow = 1":                                     "provider/name",
		head + "price = { input = \"1\", output = \"1\" }\ntiers = [ { above = 2, input = \"1\", output = \"1\" }, { above = 2, input = \"1\", output = \"1\" } ]": "do not rise",
	} {
		_, err := ParseCatalogue([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngives %v, want %q", text, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), "models.toml")
	if err := os.WriteFile(file, []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := Open(Options{Name: "ollama/x", Catalogues: []string{file}})
	if err == nil || !strings.Contains(err.Error(), file+": line 1") {
		t.Errorf("got %v", err)
	}
}

func FuzzCatalogue(f *testing.F) {
	f.Add(published[:2000])
	f.Add("[models.\"a/b\"]\nwindow = 1\nprice = { input = \"1\", output = \"0.5\" }\ntiers = [{ above = 5, input = \"2\", output = \"2\" }]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCatalogue([]byte(text))
		if err != nil {
			return
		}
		for name, e := range c.Models {
			i := e.Info(name)
			if i.Window <= 0 || i.MaxOutput < 0 || i.MaxOutput > i.Window {
				t.Errorf("%q gives %+v", text, i)
			}
			if n := i.Cost(model.Usage{Input: maxTokens, Cached: maxTokens, CacheWrite: maxTokens, Output: maxTokens}); n < 0 {
				t.Errorf("%q costs %d", text, n)
			}
		}
	})
}

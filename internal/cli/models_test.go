package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/world/provider"
)

// at is a system with a home of its own, in an empty directory, where no server
// of models runs.
func at(t *testing.T, environ ...string) (s System, out *bytes.Buffer) {
	t.Helper()
	home, out := t.TempDir(), new(bytes.Buffer)
	var nowhere strings.Builder
	for _, name := range provider.Locals() {
		nowhere.WriteString("[providers." + name + "]\nbase_url = \"http://127.0.0.1:1\"\n")
	}
	writeFile(t, filepath.Join(home, ".config/belay/config.toml"), nowhere.String())
	return System{
		Environ: append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, environ...), Dir: t.TempDir(),
		Stdin: strings.NewReader(""), Stdout: out, Stderr: io.Discard,
	}, out
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// belay runs s with args and returns the exit status.
func (s System) belay(args ...string) int {
	s.Args = args
	return Main(s)
}

func TestModels(t *testing.T) {
	s, out := at(t)
	if code := s.belay("models", "sonnet-4-6"); code != 0 || !strings.Contains(out.String(), "anthropic/claude-sonnet-4-6  1000000  128000  3.00  0.30    15.00  tools, images") {
		t.Errorf("status %d:\n%s", code, out)
	}
	out.Reset()
	if code := s.belay("models", "qwen3-coder", "--json"); code != 0 {
		t.Error(code)
	}
	var got struct {
		Date   string
		Models []listedModel
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Date == "" || len(got.Models) != 1 {
		t.Fatalf("%v, %+v", err, got)
	}
	if d := cmp.Diff([]int{32_000, 128_000, 256_000}, []int{got.Models[0].Tiers[0].Above, got.Models[0].Tiers[1].Above, got.Models[0].Tiers[2].Above}); d != "" {
		t.Error(d)
	}
	if got.Models[0].Price.Input != dollar || got.Models[0].Tiers[2].Output != 60*dollar {
		t.Errorf("%+v", got.Models[0])
	}
	if code := s.belay("models", "nothing-like-it"); code != exitDone { // a list of nothing is one too
		t.Errorf("status %d", code)
	}
}

// Figures are brought from a file or a server, checked, and lie between those that
// came with Belay and those of the user; what is not sound changes nothing.
func TestModelsRefresh(t *testing.T) {
	s, out := at(t)
	dir := filepath.Dir(s.userConfig())
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api.json" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"anthropic":{"models":{"claude-sonnet-4-6":{"cost":{"input":1,"output":2},"limit":{"context":300000,"output":70000}},"claude-new":{"limit":{"context":5000,"output":1000}}}}}`)
	}))
	defer api.Close()
	writeFile(t, filepath.Join(dir, "models.toml"), "[models.\"anthropic/claude-sonnet-4-6\"]\nwindow = 400_000\n")
	if code := s.belay("models", "refresh", "--from", api.URL+"/api.json"); code != 0 || !strings.HasPrefix(out.String(), "2 models in ") {
		t.Fatalf("status %d: %s", code, out)
	}
	file := filepath.Join(dir, refreshedFile)
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][3]int64{
		"anthropic/claude-sonnet-4-6": {400_000, 70_000, dollar},
		"anthropic/claude-new":        {5_000, 1_000, 0},
		"openai/gpt-5.4-mini":         {400_000, 128_000, 75_000_000},
	} {
		i := all.Models[name].Info(name)
		if got := [3]int64{int64(i.Window), int64(i.MaxOutput), i.Price.Input}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	wrong := filepath.Join(t.TempDir(), "wrong.toml")
	writeFile(t, wrong, "[models.\"a/b\"]\nwindow = -5\n")
	for _, from := range []string{wrong, wrong + ".missing", api.URL + "/none", "http://127.0.0.1:1/"} {
		if code := s.belay("models", "refresh", "--from", from); code == 0 {
			t.Errorf("%s was taken", from)
		}
	}
	now, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(now, kept) {
		t.Errorf("it is now %s, %v", now, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// What runs on this machine is listed and suggested, never chosen.
func TestLocalModels(t *testing.T) {
	s, out := at(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/tags":
			_, _ = io.WriteString(w, `{"models":[{"name":"qwen3:8b"},{"name":"llama2"}]}`)
		case "/api/ps":
			_, _ = io.WriteString(w, `{"models":[{"name":"qwen3:8b","context_length":16384}]}`)
		case "/api/show":
			b, _ := io.ReadAll(r.Body)
			if strings.Contains(string(b), "qwen3") {
				_, _ = io.WriteString(w, `{"capabilities":["tools"]}`)
				return
			}
			_, _ = io.WriteString(w, `{"capabilities":["completion"]}`)
		default:
			t.Errorf("asked for %s", r.URL)
		}
	}))
	defer server.Close()
	file := s.userConfig()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, strings.Replace(string(text), "[providers.ollama]\nbase_url = \"http://127.0.0.1:1\"", "[providers.ollama]\nbase_url = \""+server.URL+"/v1\"", 1))
	if code := s.belay("models", "--local"); code != 0 {
		t.Errorf("status %d", code)
	}
	want := "model            window  tools  server\nollama/qwen3:8b  16384   yes    " + server.URL + "/v1\nollama/llama2    ?       no     " + server.URL + "/v1\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	var said bytes.Buffer
	s.Stderr = &said
	if code := s.belay("run", "hello"); code != exitUsage || !strings.Contains(said.String(), "belay --model ollama/qwen3:8b") || strings.Contains(said.String(), "llama2") {
		t.Errorf("status %d: %s", code, &said)
	}
	said.Reset()
	if code := s.belay("run", "--model", "ollama/llama2", "hello"); code == 0 || !strings.Contains(said.String(), "model ollama/llama2 cannot call tools") {
		t.Errorf("status %d: %s", code, &said)
	}
}

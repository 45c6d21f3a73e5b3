package provider

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
)

// answers serves paths, "METHOD /path" or "POST /path word-in-the-body", with JSON.
func answers(t *testing.T, paths map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for path, answer := range paths {
			at, word, _ := strings.Cut(path, "?")
			if at == r.Method+" "+r.URL.Path && strings.Contains(string(body), word) {
				_, _ = io.WriteString(w, answer)
				return
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// The answers are shaped as the servers document them.
func TestFindLocal(t *testing.T) {
	ollama := answers(t, map[string]string{
		"GET /api/tags":            `{"models":[{"name":"qwen3:8b","size":5},{"name":"llama2:7b"},{"name":"gemma:2b"}]}`,
		"GET /api/ps":              `{"models":[{"name":"qwen3:8b","context_length":16384}]}`,
		"POST /api/show?qwen3:8b":  `{"parameters":"num_ctx 4096","capabilities":["completion","tools","thinking"]}`,
		"POST /api/show?llama2:7b": `{"parameters":"stop \"[INST]\"\nnum_ctx                        2048","capabilities":["completion"],"model_info":{"llama.context_length":4096}}`,
	})
	lmstudio := answers(t, map[string]string{
		"GET /api/v0/models": `{"object":"list","data":[{"id":"qwen3-14b","type":"llm","max_context_length":40960,"loaded_context_length":8192,"capabilities":["tool_use"]},{"id":"nomic","type":"embeddings"}]}`,
	})
	llamacpp := answers(t, map[string]string{
		"GET /props":     `{"default_generation_settings":{"n_ctx":8192},"total_slots":1,"chat_template_caps":{"supports_tools":false}}`,
		"GET /v1/models": `{"object":"list","data":[{"id":"gemma.gguf","meta":{"n_ctx_train":131072}}]}`,
	})
	vllm := answers(t, map[string]string{"GET /v1/models": `{"object":"list","data":[{"id":"Qwen/Qwen3-32B","max_model_len":32768}]}`})
	urls := map[string]string{"ollama": ollama.URL, "lmstudio": lmstudio.URL + "/v1", "llamacpp": llamacpp.URL + "/", "vllm": vllm.URL}
	want := []Local{
		{"ollama", ollama.URL + "/v1", []LocalModel{
			{Name: "ollama/qwen3:8b", Window: 16384, Tools: true}, {Name: "ollama/llama2:7b", Window: 2048, NoTools: true}, {Name: "ollama/gemma:2b"},
		}},
		{"lmstudio", lmstudio.URL + "/v1", []LocalModel{{Name: "lmstudio/qwen3-14b", Window: 8192, Tools: true}}},
		{"llamacpp", llamacpp.URL + "/v1", []LocalModel{{Name: "llamacpp/gemma.gguf", Window: 8192, NoTools: true}}},
		{"vllm", vllm.URL + "/v1", []LocalModel{{Name: "vllm/Qwen/Qwen3-32B", Window: 32768}}},
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if d := cmp.Diff(want, FindLocal(t.Context(), client, urls)); d != "" {
		t.Error(d)
	}
	for full, want := range map[string]*LocalModel{
		"ollama/llama2:7b":    {Name: "ollama/llama2:7b", Window: 2048, NoTools: true},
		"ollama/none":         nil,
		"llamacpp/anything":   {Name: "llamacpp/gemma.gguf", Window: 8192, NoTools: true},
		"vllm/Qwen/Qwen3-32B": {Name: "vllm/Qwen/Qwen3-32B", Window: 32768},
	} {
		server, _, _ := strings.Cut(full, "/")
		if d := cmp.Diff(want, AskLocalModel(t.Context(), Options{Name: full, BaseURL: urls[server], Client: client})); d != "" {
			t.Errorf("%s: %s", full, d)
		}
	}
}

// What listens in a usual place is often something else, and may not answer.
func TestFindLocalAmongOthers(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello") }))
	defer web.Close()
	api := answers(t, map[string]string{"GET /v1/models": `{}`, "GET /props": `{}`, "GET /api/tags": `{}`, "GET /api/v0/models": `{}`})
	hang := make(chan struct{})
	mute := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer mute.Close()
	defer close(hang)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, base := range []string{web.URL, api.URL, mute.URL, "http://127.0.0.1:1", "::"} {
		urls := map[string]string{}
		for _, name := range Locals() {
			urls[name] = base
		}
		if got := FindLocal(t.Context(), client, urls); got != nil {
			t.Errorf("%s: found %+v", base, got)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	cancel()
	if got := FindLocal(ctx, client, map[string]string{"vllm": mute.URL}); got != nil {
		t.Errorf("found %+v after the end", got)
	}
}

func TestServedModelsAreTakenAtTheirWord(t *testing.T) {
	_, i, err := Open(Options{Name: "ollama/qwen3:8b", Served: &LocalModel{Name: "ollama/qwen3:8b", Window: 8192, Tools: true}})
	want := model.Info{Name: "ollama/qwen3:8b", Window: 8192, MaxOutput: 2048, Known: true}
	if d := cmp.Diff(want, i); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	_, _, err = Open(Options{Name: "ollama/llama2", Served: &LocalModel{NoTools: true}})
	if err == nil || !strings.Contains(err.Error(), "model ollama/llama2 cannot call tools") {
		t.Errorf("got %v", err)
	}
}

func FuzzLocal(f *testing.F) {
	for _, seed := range []string{`{"models":[{"name":"a","context_length":-1}],"parameters":"num_ctx 9\nx","capabilities":[]}`, `{"object":"list","data":[{"id":"x","max_model_len":1}],"default_generation_settings":{"n_ctx":-5},"chat_template_caps":{"supports_tools":1}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, nil
		})}
		for _, name := range Locals() {
			l, err := AskLocal(t.Context(), client, name, "http://local.test")
			if err != nil {
				continue
			}
			for _, m := range l.Models {
				if m.NoTools && m.Tools {
					t.Errorf("%s: %+v", name, m)
				}
				if i := m.over(model.Info{}); i.Window <= 0 || i.MaxOutput <= 0 && i.Window > 4 {
					t.Errorf("%s: %+v of %s", name, i, answer)
				}
			}
			if _, err := json.Marshal(l); err != nil {
				t.Error(err)
			}
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

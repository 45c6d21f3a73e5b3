package provider

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

func TestEndpoint(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.openai.com":                     "https://api.openai.com/v1/chat/completions",
		"https://api.openai.com/v1":                  "https://api.openai.com/v1/chat/completions",
		"https://api.openai.com/v1/":                 "https://api.openai.com/v1/chat/completions",
		"http://localhost:8080/":                     "http://localhost:8080/v1/chat/completions",
		"https://openrouter.ai/api/v1":               "https://openrouter.ai/api/v1/chat/completions",
		"https://proxy.test/llm":                     "https://proxy.test/llm/v1/chat/completions",
		"https://glm.test/api/paas/v4":               "https://glm.test/api/paas/v4/chat/completions",
		"https://g.test/v1beta/openai/":              "https://g.test/v1beta/openai/chat/completions",
		"https://a.test/v1/chat/completions":         "https://a.test/v1/chat/completions",
		"https://azure.test/openai/v1?api-version=x": "https://azure.test/openai/v1/chat/completions?api-version=x",
	} {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		if got := endpoint(u, "chat", "completions").String(); got != want {
			t.Errorf("%s: got %s, want %s", base, got, want)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct {
		o            Options
		reason, hint string
	}{
		{Options{Name: "gpt"}, `model "gpt" is not of the form`, "openai/NAME"},
		{Options{Name: ""}, `model ""`, "openai/NAME"},
		{Options{Name: "openai/"}, `model "openai/"`, "openai/NAME"},
		{Options{Name: "openai/x"}, "no key for openai/x", "OPENAI_API_KEY"},
		{Options{Name: "anthropic/x"}, "no key for anthropic/x", "ANTHROPIC_API_KEY"},
		{Options{Name: "anthropic/x", Setting: "providers.anthropic.key"}, "no key", "providers.anthropic.key"},
		{Options{Name: "mine/x"}, `provider "mine"`, "providers.mine.base_url"},
		{Options{Name: "mine/x", API: "soap", BaseURL: "http://a"}, `API "soap"`, "openai, responses, anthropic, gemini"},
		{Options{Name: "openai/x", BaseURL: "localhost:80"}, `base URL "localhost:80"`, "base URL"},
		{Options{Name: "openai/x", BaseURL: "ftp://a"}, `base URL "ftp://a"`, "base URL"},
		{Options{Name: "script:" + filepath.Join(t.TempDir(), "none.txtar")}, "no such file", "script:"},
	} {
		_, _, err := Open(tt.o)
		bad, ok := errors.AsType[*model.BadRequest](err)
		if !ok || !strings.Contains(bad.Reason, tt.reason) || !strings.Contains(bad.Hint, tt.hint) {
			t.Errorf("%+v: got %v", tt.o, err)
		}
	}
}

func TestOpenScript(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hello.txtar")
	if err := os.WriteFile(file, []byte("-- step --\nsay: hi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, info, err := Open(Options{Name: "script:" + file})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(model.Info{Name: "script:" + file, Window: safeWindow, MaxOutput: safeMaxOutput}, info); d != "" {
		t.Error(d)
	}
	if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); h.Text != "hi" {
		t.Errorf("got %q, %v", h.Text, h.Err)
	}
	if err := os.WriteFile(file, []byte("-- step --\nsing: hi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(Options{Name: "script:" + file}); err == nil || !strings.Contains(err.Error(), file+":2: sing") {
		t.Errorf("got %v", err)
	}
}

func TestOpenTakesAnyNameAtAnyServer(t *testing.T) {
	for _, o := range []Options{
		{Name: "openai/org/model:7b@x"}, {Name: "ollama/qwen3"}, {Name: "mine/x", API: "openai"}, {Name: "other/y"},
		{Name: "openai/k", Key: "anything"},
	} {
		d := modeltest.Chat()
		r := short()
		s := modeltest.Serve(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(r))})
		o.BaseURL, o.Client = s.URL, s.Client
		p, info, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		req := modeltest.Ask()
		req.Model = info.Name
		r.Check(t, modeltest.Listen(t, p, t.Context(), req))
		_, bare, _ := strings.Cut(o.Name, "/")
		c, err := d.Parse([]byte(s.Bodies()[0]))
		if err != nil || c.Model != bare {
			t.Errorf("%s asks for the model %q, %v", o.Name, c.Model, err)
		}
		want := ""
		if o.Key != "" {
			want = "Bearer " + o.Key
		}
		if got := s.Headers()[0].Get("Authorization"); got != want {
			t.Errorf("%s sends the authorization %q", o.Name, got)
		}
	}
}

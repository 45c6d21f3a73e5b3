package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/model"
)

const (
	localWait   = 300 * time.Millisecond // long for a server on the same machine
	maxLocal    = 1 << 20                // bytes of an answer
	maxServed   = 200                    // models of one server
	maxAskedFor = 8                      // models of which Ollama is asked one by one
)

// A LocalModel is a model that a server on this machine has.
type LocalModel struct {
	Name    string `json:"model"`              // "ollama/qwen3:8b"
	Window  int    `json:"window,omitempty"`   // as it is served, not as it was trained; 0 if the server does not say
	NoTools bool   `json:"no_tools,omitempty"` // the server says that it cannot call tools
	Tools   bool   `json:"tools,omitempty"`    // ... or that it can
}

// over returns i with what the server says, which knows best.
func (m *LocalModel) over(i model.Info) model.Info {
	if m == nil {
		return i
	}
	if m.Window > 0 {
		i.Window, i.Known = m.Window, true
	}
	i.NoTools = m.NoTools
	return limited(i)
}

// A Local is a server that runs on this machine.
type Local struct {
	Server string       `json:"server"` // one of Locals
	URL    string       `json:"url"`
	Models []LocalModel `json:"models"`
}

// FindLocal asks whether the servers run that urls has by name, in the usual place
// where it is "", all at once. It takes 300 ms at most for each round of questions,
// of which Ollama needs two.
func FindLocal(ctx context.Context, client *http.Client, urls map[string]string) []Local {
	found := make(chan *Local)
	for name, base := range urls {
		go func() {
			l, err := AskLocal(ctx, client, name, base)
			if err != nil {
				l = nil
			}
			found <- l
		}()
	}
	answered := make(map[string]*Local)
	for range urls {
		if l := <-found; l != nil {
			answered[l.Server] = l
		}
	}
	var all []Local
	for _, name := range Locals() {
		if l := answered[name]; l != nil {
			all = append(all, *l)
		}
	}
	return all
}

// AskLocal returns the models of the server of that name at base, "" for the
// usual place.
func AskLocal(ctx context.Context, client *http.Client, name, base string) (*Local, error) {
	return asker{ctx: ctx, client: client, name: name}.ask(base)
}

// ask asks the server at base.
func (a asker) ask(base string) (*Local, error) {
	name := a.name
	if base == "" {
		h, _ := homeOf(name)
		base = h.url
	}
	root, err := url.Parse(base)
	if err != nil || root.Host == "" {
		return nil, fmt.Errorf("find %s: %q is not a URL", name, base)
	}
	root.Path = strings.TrimSuffix(strings.TrimRight(root.Path, "/"), "/v1")
	a.root = root
	l := &Local{Server: name, URL: root.JoinPath("v1").String()}
	switch name {
	case "ollama":
		l.Models, err = a.ollama()
	case "lmstudio":
		l.Models, err = a.lmstudio()
	case "llamacpp":
		l.Models, err = a.llamacpp()
	default:
		l.Models, err = a.listed()
	}
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", name, err)
	}
	return l, nil
}

// AskLocalModel returns what the server that o leads to says of the model that o
// names; nil if it does not have it, or does not answer. A server that wants a key
// gets it, and no other.
func AskLocalModel(ctx context.Context, o Options) *LocalModel {
	full := o.Name
	server, name, _ := strings.Cut(full, "/")
	l, err := asker{ctx: ctx, client: staying(o.Client), name: server, only: name, key: o.Key}.ask(o.BaseURL)
	if err != nil {
		return nil
	}
	for _, m := range l.Models {
		if m.Name == full || server == "ollama" && m.Name == full+":latest" {
			return &m
		}
	}
	if server == "llamacpp" && name != "" && len(l.Models) == 1 { // it serves one, whatever is asked for
		return &l.Models[0]
	}
	return nil
}

// An asker asks one server.
type asker struct {
	ctx    context.Context
	client *http.Client
	root   *url.URL
	name   string
	only   string // the model that matters, "" if all do
	key    string // "" for none
}

// get decodes what path answers. With a question it posts that.
func (a asker) get(into, question any, path ...string) error {
	ctx, cancel := context.WithTimeout(a.ctx, localWait)
	defer cancel()
	method, body := http.MethodGet, io.Reader(nil)
	if question != nil {
		b, err := json.Marshal(question)
		if err != nil {
			return err
		}
		method, body = http.MethodPost, bytes.NewReader(b)
	}
	at := a.root.JoinPath(path...)
	req, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return err
	}
	if a.key != "" {
		req.Header.Set("Authorization", "Bearer "+a.key)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() // it was only read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", at.Redacted(), resp.Status)
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxLocal)).Decode(into)
}

var errOther = errors.New("what answers there is another server")

// ollama asks for the list, then for the window and the abilities of each model:
// the window is what a loaded model has or what is set for it, for a model that
// is not loaded gets less than it was trained for.
func (a asker) ollama() ([]LocalModel, error) {
	type listedModel struct {
		Name          string `json:"name"`
		ContextLength int    `json:"context_length"`
	}
	type listed struct {
		Models []listedModel `json:"models"`
	}
	var tags, loaded listed
	if err := a.get(&tags, nil, "api", "tags"); err != nil {
		return nil, err
	}
	if tags.Models == nil {
		return nil, errOther
	}
	if a.only != "" {
		tags.Models = slices.DeleteFunc(tags.Models, func(m listedModel) bool { return m.Name != a.only && m.Name != a.only+":latest" })
	}
	_ = a.get(&loaded, nil, "api", "ps") // without it no window is known
	all := make([]LocalModel, min(len(tags.Models), maxServed))
	done := make(chan struct{})
	asked := min(len(all), maxAskedFor)
	for i := range all {
		all[i].Name = a.name + "/" + tags.Models[i].Name
		for _, m := range loaded.Models {
			if m.Name == tags.Models[i].Name {
				all[i].Window = max(m.ContextLength, 0)
			}
		}
		if i < asked {
			go func() {
				a.show(&all[i], tags.Models[i].Name)
				done <- struct{}{}
			}()
		}
	}
	for range asked {
		<-done
	}
	return all, nil
}

// show adds what Ollama says of one model.
func (a asker) show(m *LocalModel, name string) {
	var shown struct {
		Parameters   string   `json:"parameters"`
		Capabilities []string `json:"capabilities"`
	}
	if a.get(&shown, map[string]string{"model": name}, "api", "show") != nil {
		return // it is a model all the same
	}
	if shown.Capabilities != nil {
		m.Tools = slices.Contains(shown.Capabilities, "tools")
		m.NoTools = !m.Tools
	}
	if m.Window > 0 {
		return
	}
	for line := range strings.Lines(shown.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			if n, err := strconv.Atoi(f[1]); err == nil && n > 0 {
				m.Window = n
			}
		}
	}
}

func (a asker) lmstudio() ([]LocalModel, error) {
	var list struct {
		Data []struct {
			ID           string   `json:"id"`
			Type         string   `json:"type"`
			Loaded       int      `json:"loaded_context_length"`
			Capabilities []string `json:"capabilities"`
		} `json:"data"`
	}
	if err := a.get(&list, nil, "api", "v0", "models"); err != nil {
		return nil, err
	}
	if list.Data == nil {
		return nil, errOther
	}
	var all []LocalModel
	for _, m := range list.Data[:min(len(list.Data), maxServed)] {
		if m.Type != "embeddings" {
			all = append(all, LocalModel{Name: a.name + "/" + m.ID, Window: max(m.Loaded, 0), Tools: slices.Contains(m.Capabilities, "tool_use")})
		}
	}
	return all, nil
}

// llamacpp serves one model, with the window that its properties have.
func (a asker) llamacpp() ([]LocalModel, error) {
	var props struct {
		Settings *struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Caps map[string]any `json:"chat_template_caps"`
	}
	if err := a.get(&props, nil, "props"); err != nil {
		return nil, err
	}
	if props.Settings == nil {
		return nil, errOther
	}
	all, err := a.listed()
	for i := range all {
		all[i].Window = max(props.Settings.Window, 0)
		if can, told := props.Caps["supports_tools"].(bool); told {
			all[i].Tools, all[i].NoTools = can, !can
		}
	}
	return all, err
}

// listed reads the list that all servers have that speak as OpenAI does; vLLM's
// has windows.
func (a asker) listed() ([]LocalModel, error) {
	var list struct {
		Object string `json:"object"`
		Data   []struct {
			ID     string `json:"id"`
			Window int    `json:"max_model_len"`
		} `json:"data"`
	}
	if err := a.get(&list, nil, "v1", "models"); err != nil {
		return nil, err
	}
	if list.Object != "list" || list.Data == nil {
		return nil, errOther
	}
	var all []LocalModel
	for _, m := range list.Data[:min(len(list.Data), maxServed)] {
		all = append(all, LocalModel{Name: a.name + "/" + m.ID, Window: max(m.Window, 0)})
	}
	return all, nil
}

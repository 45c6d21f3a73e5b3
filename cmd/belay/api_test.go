package main

import (
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// The built-in tools and the shape of the answer reach each API that settings can
// name, as a strict server takes them; an answer of another shape is sent back.
func TestOutputSchemaReachesEachAPI(t *testing.T) {
	for api, d := range map[string]modeltest.Dialect{
		"openai": modeltest.Chat(), "responses": modeltest.Responses(), "anthropic": modeltest.Messages(), "gemini": modeltest.Gemini(),
	} {
		t.Run(api, func(t *testing.T) {
			says := func(text string) modeltest.Response {
				return modeltest.Response{Body: d.Stream(d.Events(modeltest.Reply{Text: text, Stop: model.End, Usage: model.Usage{Input: 1, Output: 1}}))}
			}
			s := modeltest.Serve(t, d, nil, says("three"), says(`{"n": 3}`))
			p := newPlace(t)
			p.write(t, "../home/.config/belay/config.toml", "model = \"mine/m\"\n[providers.mine]\napi = \""+api+"\"\nbase_url = \""+s.URL+"\"\nkey = \"k\"\n")
			p.write(t, "schema.json", `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
			e := p.run(t, "run", "--output-schema", "schema.json", "how many?")
			e.wants(t, 0)
			if !strings.HasSuffix(strings.TrimSpace(e.out), `{"n": 3}`) || !strings.Contains(e.err, "asking again") {
				t.Errorf("it prints %q and %q", e.out, e.err)
			}
			field := map[string]string{"openai": `"response_format":{"type":"json_schema"`, "responses": `"text":{"format":{"type":"json_schema"`, "anthropic": `"output_config":{"format":{`, "gemini": `"responseJsonSchema":{`}[api]
			for i, body := range s.Bodies() {
				if !strings.Contains(body, field) || !strings.Contains(body, `"n":{"type":"integer"}`) {
					t.Errorf("request %d has no shape of the answer:\n%s", i+1, body)
				}
			}
		})
	}
}

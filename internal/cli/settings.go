package cli

import (
	"time"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// Settings are what a person can set, as they are in effect.
type Settings struct {
	Model    string // "provider/name" or "script:FILE"; "" leaves the choice to Belay
	Fallback string // ... that goes on with a turn where Model cannot be reached; "" is none
	Mode     policy.Mode
	Effort   string // of reasoning: "", low, medium, high
	Limits   agent.Limits
	Breaker  agent.Breaker

	CompactAt int // hundredths of what the model takes at which a session is made shorter for it

	Rules  []policy.Rule // of the user and of a trusted project
	Pass   []string      // names of variables that commands get beside the usual ones
	Bash   Bash
	Output tool.Limits // of what a tool returns

	RequireSandbox bool // run no command that nothing holds
	Recall         bool // look in the workspace for what bears on each request

	OTLP OTLP

	Patch     bool                // edit_format is patch
	Providers map[string]Provider // by name
}

// Bash is what can be set about commands.
type Bash struct {
	Timeout time.Duration // of a command that asks for none; 0 leaves it to the tool
	Covered bool          // commands that another tool covers run; else they are answered with its call
	Memory  int           // MiB that a command and all it starts may have; 0 is most of the machine's
}

// OTLP is where spans of what is done go.
type OTLP struct {
	Endpoint string // of a collector; "" is nowhere
	Content  bool   // with what was said and shown
}

// A Provider is how to reach a model API. Its Key is resolved: the text that
// was set, or else what the variable KeyEnv holds, or, once it ran, what
// KeyCommand printed.
type Provider struct {
	API        string // one of provider.APIs
	BaseURL    string
	Key        string
	KeyEnv     string
	KeyCommand string
	CAFile     string // certificates to trust beside the system's
}

func defaultSettings() Settings {
	return Settings{
		Mode:      policy.ModeAsk,
		Limits:    agent.Limits{Parallel: 8},
		CompactAt: 80,
		Breaker:   agent.Breaker{Failures: 3, Cooldown: 300 * time.Second},
		Recall:    true,
		Output:    tool.Limits{}.Whole(),
		Providers: make(map[string]Provider),
	}
}

// Policy returns the policy that s describes.
func (s Settings) Policy() policy.Policy {
	return policy.Policy{Mode: s.Mode, Rules: s.Rules}
}

package cli

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/world/provider"
)

// A shape is what a setting is in a file.
type shape int

const (
	asText   shape = iota // a string
	asNumber              // a whole number
	asSpan                // a string that is a duration
	asAmount              // dollars, as a string or a number
	asList                // an array of strings
	asShare               // a number below one, or a string that is one
	asRules               // an array of strings, or of tables with examples
)

func (s shape) String() string {
	return [...]string{"a string", "a whole number", `a duration such as "90s"`, `an amount in dollars such as "1.50"`, "an array of strings", `a share such as 0.8`, "an array of rules"}[s]
}

// An item is one text of a setting and where it was written.
type item struct {
	text          string
	at            Origin
	match, refuse []string // of a rule: its examples
}

// A knob is one setting: what it is, whether a text will do, and what it does.
type knob struct {
	key     string
	shape   shape
	expands bool // ${VAR}, which is checked only after that
	check   func(text string) error
	apply   func(s *Settings, items []item) // which were checked
	show    func(s *Settings) string        // nil for rules, which have an origin each
	tighter func(s *Settings, items []item) bool
}

// knobs are all settings but those of providers, in the order in which they
// are shown. A project may set what has a tighter, if that says so.
func knobs() []knob {
	return []knob{
		scalarKnob("model", asText, func(s *Settings) *string { return &s.Model }, parseModel, verbatim, knownModel),
		scalarKnob("fallback", asText, func(s *Settings) *string { return &s.Fallback }, parseModel, verbatim, knownModel),
		scalarKnob("mode", asText, func(s *Settings) *policy.Mode { return &s.Mode }, policy.ParseMode,
			func(m policy.Mode) string { return string(m) },
			func(s *Settings, next policy.Mode) bool { return next.Stricter(s.Mode) }),
		scalarKnob("effort", asText, func(s *Settings) *string { return &s.Effort }, parseEffort, verbatim,
			func(*Settings, string) bool { return true }),

		limitKnob("limits.steps", func(s *Settings) *int { return &s.Limits.Steps }),
		limitKnob("limits.tokens", func(s *Settings) *int { return &s.Limits.Tokens }),
		scalarKnob("limits.cost", asAmount, func(s *Settings) *int64 { return &s.Limits.Cost }, parseDollars, showDollars,
			func(s *Settings, next int64) bool { return lowers(s.Limits.Cost, next) }),
		scalarKnob("limits.timeout", asSpan, func(s *Settings) *time.Duration { return &s.Limits.Time }, parseSpan, showSpan,
			func(s *Settings, next time.Duration) bool { return lowers(s.Limits.Time, next) }),
		countKnob("limits.parallel", 1, 64, func(s *Settings) *int { return &s.Limits.Parallel }),

		countKnob("breaker.failures", 1, 1000, func(s *Settings) *int { return &s.Breaker.Failures }),
		scalarKnob("breaker.cooldown", asSpan, func(s *Settings) *time.Duration { return &s.Breaker.Cooldown }, parseSpan, showSpan,
			func(s *Settings, next time.Duration) bool { return next > s.Breaker.Cooldown }),

		scalarKnob("compact_at", asShare, func(s *Settings) *int { return &s.CompactAt }, parseShare, showShare, nil),
		countKnob("output.lines", 50, 100_000, func(s *Settings) *int { return &s.Output.Lines }),
		countKnob("output.bytes", 4_000, 1<<20, func(s *Settings) *int { return &s.Output.Bytes }),
		countKnob("output.tokens", 1_000, 200_000, func(s *Settings) *int { return &s.Output.Tokens }),
		countKnob("output.edge_lines", 5, 1_000, func(s *Settings) *int { return &s.Output.Edge }),
		scalarKnob("output.direction", asText, func(s *Settings) *tool.Direction { return &s.Output.Direction }, parseDirection,
			func(d tool.Direction) string { return string(d) }, func(*Settings, tool.Direction) bool { return true }),

		rulesKnob(policy.Allow), rulesKnob(policy.Ask), rulesKnob(policy.Deny),
		passKnob(),

		scalarKnob("edit_format", asText, func(s *Settings) *bool { return &s.Patch }, parseEditFormat, showEditFormat,
			func(*Settings, bool) bool { return true }),
		scalarKnob("bash.timeout", asSpan, func(s *Settings) *time.Duration { return &s.Bash.Timeout }, parseSpan, showSpan,
			func(s *Settings, next time.Duration) bool { return lowers(s.Bash.Timeout, next) }),
		scalarKnob("bash.covered", asText, func(s *Settings) *bool { return &s.Bash.Covered }, parseCovered, showCovered,
			func(_ *Settings, run bool) bool { return !run }),
		limitKnob("bash.memory", func(s *Settings) *int { return &s.Bash.Memory }),
		scalarKnob("recall", asText, func(s *Settings) *bool { return &s.Recall }, parseYes, showYes,
			func(_ *Settings, on bool) bool { return !on }),
		scalarKnob("require_sandbox", asText, func(s *Settings) *bool { return &s.RequireSandbox }, parseYes, showYes,
			func(_ *Settings, required bool) bool { return required }),

		// A project may not say where a copy of what is done goes.
		scalarKnob("otlp.endpoint", asText, func(s *Settings) *string { return &s.OTLP.Endpoint }, parseCollector, verbatim, nil),
		scalarKnob("otlp.content", asText, func(s *Settings) *bool { return &s.OTLP.Content }, parseYes, showYes, nil),
	}
}

// knobFor returns the setting of that key.
func knobFor(key []string) (knob, bool) {
	if len(key) == 3 && key[0] == "providers" {
		return providerKnob(key[1], key[2])
	}
	all := knobs()
	if i := slices.IndexFunc(all, func(k knob) bool { return slices.Equal(k.path(), key) }); i >= 0 {
		return all[i], true
	}
	return knob{}, false
}

// path returns the parts of k's key.
func (k knob) path() []string { return strings.Split(k.key, ".") }

// isTable reports whether key is a table that settings are in.
func isTable(key []string) bool {
	if key[0] == "providers" {
		return len(key) == 1 || len(key) == 2 && providerRE.MatchString(key[1])
	}
	return slices.ContainsFunc(knobs(), func(k knob) bool {
		path := k.path()
		return len(path) > len(key) && slices.Equal(path[:len(key)], key)
	})
}

func scalarKnob[T any](key string, sh shape, at func(*Settings) *T, parse func(string) (T, error),
	show func(T) string, tighter func(*Settings, T) bool) knob {
	k := knob{
		key: key, shape: sh,
		check: func(text string) error { _, err := parse(text); return err },
		apply: func(s *Settings, items []item) { *at(s), _ = parse(items[0].text) },
		show:  func(s *Settings) string { return show(*at(s)) },
	}
	if tighter != nil {
		k.tighter = func(s *Settings, items []item) bool {
			next, _ := parse(items[0].text)
			return tighter(s, next)
		}
	}
	return k
}

func limitKnob(key string, at func(*Settings) *int) knob {
	return scalarKnob(key, asNumber, at, parseNumber(0, 1<<53), showNumber,
		func(s *Settings, next int) bool { return lowers(*at(s), next) })
}

func countKnob(key string, least, most int, at func(*Settings) *int) knob {
	return scalarKnob(key, asNumber, at, parseNumber(least, most), showNumber,
		func(s *Settings, next int) bool { return next < *at(s) })
}

// lowers reports whether next is less than now, of which zero is no limit.
func lowers[N int | int64 | time.Duration](now, next N) bool {
	return next > 0 && (now == 0 || next < now)
}

// rulesKnob adds to the rules there are. A project's own can only ask and deny.
func rulesKnob(v policy.Verdict) knob {
	k := knob{
		key: "rules." + v.String(), shape: asRules,
		check: func(text string) error { _, err := policy.ParseRule(text, v, policy.FromUser); return err },
		apply: func(s *Settings, items []item) {
			for _, i := range items {
				source := policy.FromUser
				if i.at.Layer == layerProject {
					source = policy.FromProject
				}
				r, _ := policy.ParseRule(i.text, v, source)
				r.Match, r.Refuse = i.match, i.refuse
				s.Rules = append(s.Rules, r)
			}
		},
	}
	if v != policy.Allow {
		k.tighter = func(*Settings, []item) bool { return true }
	}
	return k
}

func passKnob() knob {
	return knob{
		key: "env.pass", shape: asList,
		check: func(text string) error {
			if !variableRE.MatchString(text) {
				return fmt.Errorf("%q is not the name of a variable", text)
			}
			return nil
		},
		apply: func(s *Settings, items []item) {
			s.Pass = nil
			for _, i := range items {
				s.Pass = append(s.Pass, i.text)
			}
		},
		show: func(s *Settings) string { return strings.Join(s.Pass, ", ") },
	}
}

var (
	variableRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	providerRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
)

// providerFields are the settings of a provider, in the order in which they are shown.
var providerFields = []string{"api", "base_url", "key", "key_env", "key_command", "ca_file"}

// hiddenKey stands for a key wherever settings are shown.
const hiddenKey = "(set)"

func providerKnob(name, field string) (knob, bool) {
	if !providerRE.MatchString(name) {
		return knob{}, false
	}
	set := func(change func(p *Provider, text string)) func(*Settings, []item) {
		return func(s *Settings, items []item) {
			p := s.Providers[name]
			change(&p, items[0].text)
			s.Providers[name] = p
		}
	}
	k := knob{key: "providers." + name + "." + field, shape: asText}
	switch field {
	case "api":
		k.check = func(text string) error { return oneOf(text, provider.APIs()...) }
		k.apply = set(func(p *Provider, text string) { p.API = text })
		k.show = func(s *Settings) string { return s.Providers[name].API }
	case "base_url":
		k.expands, k.check = true, checkURL
		k.apply = set(func(p *Provider, text string) { p.BaseURL = text })
		k.show = func(s *Settings) string { return withoutPassword(s.Providers[name].BaseURL) }
	case "key":
		k.expands, k.check = true, checkKey
		k.apply = set(func(p *Provider, text string) { p.Key = text })
		k.show = func(*Settings) string { return hiddenKey }
	case "key_env":
		k.check = passKnob().check
		k.apply = set(func(p *Provider, text string) { p.KeyEnv = text })
		k.show = func(s *Settings) string { return s.Providers[name].KeyEnv }
	case "key_command":
		k.check = func(text string) error { _, err := splitWords(text); return err }
		k.apply = set(func(p *Provider, text string) { p.KeyCommand = text })
		k.show = func(s *Settings) string { return firstWord(s.Providers[name].KeyCommand) }
	case "ca_file":
		k.expands, k.check = true, checkPath
		k.apply = set(func(p *Provider, text string) { p.CAFile = text })
		k.show = func(s *Settings) string { return s.Providers[name].CAFile }
	default:
		return knob{}, false
	}
	return k, true
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return errors.New("base_url is not a URL") // the error would show a password
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("base_url is not an http or https URL")
	}
	return nil
}

// checkKey does not show the key.
func checkKey(text string) error {
	if text == "" {
		return errors.New("the key is empty")
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return errors.New("the key contains a control character, such as a line feed")
	}
	return nil
}

func checkPath(text string) error {
	if !filepath.IsAbs(text) {
		return fmt.Errorf("%q is not the absolute path of a file", text)
	}
	return nil
}

// firstWord returns the program of a command; its arguments may be secret.
func firstWord(command string) string {
	words, err := splitWords(command)
	if err != nil {
		return ""
	}
	if len(words) > 1 {
		return words[0] + " ..."
	}
	return words[0]
}

func withoutPassword(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Redacted()
}

func parseModel(text string) (string, error) {
	maker, name, _ := strings.Cut(text, "/")
	if strings.HasPrefix(text, "script:") || maker != "" && name != "" {
		return text, nil
	}
	return "", fmt.Errorf("%q is not provider/name or script:FILE", text)
}

// knownModel reports whether a project may choose model: of a provider that the user
// has, and nothing that is played.
func knownModel(s *Settings, model string) bool {
	maker, _, ok := strings.Cut(model, "/")
	if !ok || strings.HasPrefix(model, "script:") {
		return false
	}
	mine, _, _ := strings.Cut(s.Model, "/")
	_, set := s.Providers[maker]
	return set || maker == mine || maker == "anthropic" || maker == "openai"
}

// parseEditFormat reports whether changes are sent as patches.
func parseEditFormat(text string) (bool, error) {
	return text == "patch", oneOf(text, "replace", "patch")
}

func showEditFormat(patch bool) string {
	if patch {
		return "patch"
	}
	return "replace"
}

// parseShare reads a share such as 0.8 as hundredths. Below 0.3 a session would be
// made shorter at every other step, above 0.95 too late.
func parseShare(text string) (int, error) {
	f, err := strconv.ParseFloat(text, 64)
	if n := int(math.Round(100 * f)); err == nil && n >= 30 && n <= 95 {
		return n, nil
	}
	return 0, fmt.Errorf("%q is not a share from 0.3 to 0.95", text)
}

func showShare(n int) string { return strconv.FormatFloat(float64(n)/100, 'f', -1, 64) }

func parseCovered(text string) (bool, error) {
	return text == "run", oneOf(text, "answer", "run")
}

func showCovered(run bool) string {
	if run {
		return "run"
	}
	return "answer"
}

func parseDirection(text string) (tool.Direction, error) {
	return tool.Direction(text), oneOf(text, string(tool.HeadTail), string(tool.Head), string(tool.Tail))
}

func parseEffort(text string) (string, error) {
	return text, oneOf(text, "", "low", "medium", "high")
}

func oneOf(text string, allowed ...string) error {
	if slices.Contains(allowed, text) {
		return nil
	}
	return fmt.Errorf("%q is not one of %s", text, strings.TrimPrefix(strings.Join(allowed, ", "), ", "))
}

func verbatim(s string) string { return s }

func parseNumber(least, most int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.ParseInt(text, 0, 0)
		if err != nil || len(text) > 1 && text[0] == '0' && '0' <= text[1] && text[1] <= '9' {
			return 0, fmt.Errorf("%q is not a whole number", text)
		}
		if int(n) < least || int(n) > most {
			return 0, fmt.Errorf("%d is not from %d to %d", n, least, most)
		}
		return int(n), nil
	}
}

func showNumber(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

func parseSpan(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf(`%q is not a duration such as "90s" or "10m"`, text)
	}
	return d, nil
}

func showSpan(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	return d.String()
}

func parseYes(text string) (bool, error) {
	return text == "yes", oneOf(text, "no", "yes")
}

func showYes(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

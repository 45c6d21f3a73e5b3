package report

import (
	"encoding/json"
	"strings"

	"github.com/belay-agent/belay/internal/contract/pattern"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// Commands that test, and commands that build or lint, by their first words. What
// is not here is still a check where its output was recognised.
var (
	testRE  = pattern.Later(`^(?:go test|gotestsum|pytest|tox|nox|python3? -m (?:pytest|unittest)|(?:npm|yarn|pnpm|bun) (?:run )?test|npx (?:jest|vitest|mocha|playwright test)|jest|vitest|mocha|cargo (?:test|nextest)|mvn .*\b(?:test|verify)\b|\./gradlew .*\b(?:test|check)\b|gradle .*\b(?:test|check)\b|ctest|make (?:test|check)|dotnet test|rspec|bundle exec rspec|phpunit|mix test|swift test|bazel test|deno test|(?:(?:ba)?sh |\./)\S*\btests?(?:\.sh)?)\b`)
	buildRE = pattern.Later(`^(?:go (?:build|vet|install)|staticcheck|golangci-lint|cargo (?:build|check|clippy)|(?:npm|yarn|pnpm|bun) (?:run )?(?:build|lint|typecheck)|(?:npx )?(?:tsc|eslint)|mvn .*\b(?:compile|package)\b|(?:\./)?gradlew? .*\b(?:build|assemble)\b|make(?: all| build)?$|cmake --build|ninja|dotnet build|gcc|g\+\+|clang|cc|ruff|mypy|flake8|bazel build|swift build)\b`)
)

// A ran is what the data of a command's or a test's result holds.
type ran struct {
	Command    string  `json:"command"`
	Outcome    string  `json:"outcome"`
	Counts     *counts `json:"counts"`
	Code       *int    `json:"exit_code"`
	Background string  `json:"background"`
	Stages     []int   `json:"stages"`
	Reports    []struct {
		Counts  *counts           `json:"counts"`
		Failing []json.RawMessage `json:"failing"`
		Errors  int               `json:"errors"`
		Broken  bool              `json:"broken"`
	} `json:"reports"`
}

type counts struct{ Passed, Failed, Skipped int }

// checked returns what a call verified, nil if it is none that does.
func checked(c tool.Call, r tool.Result) *Check {
	var d ran
	if len(r.Data) == 0 || json.Unmarshal(r.Data, &d) != nil {
		return nil
	}
	switch c.Tool {
	case "Test":
		if d.Outcome == "" {
			return nil
		}
		check := &Check{Call: c.ID, Kind: "test", Command: oneLine(d.Command), Outcome: d.Outcome}
		check.add(d.Counts)
		return check
	case "Bash":
		return d.bash(c)
	}
	return nil
}

// bash judges a command by what was recognised in its output and, where nothing
// was, by its exit status.
func (d ran) bash(c tool.Call) *Check {
	if d.Background != "" { // it has not ended
		return nil
	}
	var args struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(c.Args, &args) // without a command it is none that we know
	kind := kindOf(args.Command)
	check := &Check{Call: c.ID, Kind: kind, Command: oneLine(args.Command), Outcome: untold}
	tests, errors := false, false
	for _, r := range d.Reports {
		tests = tests || r.Counts != nil || len(r.Failing) > 0
		errors = errors || r.Broken || r.Errors > 0
		check.add(r.Counts)
		if r.Counts == nil {
			check.Failed += len(r.Failing)
		}
	}
	if kind == "" && (!tests && !errors || shows(args.Command)) {
		return nil
	}
	if tests {
		check.Kind = "test"
	} else if kind == "" {
		check.Kind = "build"
	}
	good := d.Code != nil && *d.Code == 0
	for _, status := range d.Stages {
		good = good && status == 0
	}
	switch {
	case check.Failed > 0:
		check.Outcome = failed
	case d.Code == nil:
		check.Outcome = stopped
	case errors && !good:
		check.Outcome = buildFailed
	case !good:
		check.Outcome = broken
	case check.Passed > 0, check.Kind == "build":
		check.Outcome = passed
	case tests:
		check.Outcome = noTests
	}
	return check
}

func (c *Check) add(n *counts) {
	if n != nil {
		c.Passed, c.Failed, c.Skipped = c.Passed+n.Passed, c.Failed+n.Failed, c.Skipped+n.Skipped
	}
}

// kindOf says what a command line is by the last of its commands that is known: what
// came before it it looks at.
func kindOf(line string) (kind string) {
	for _, command := range commands(line) {
		switch {
		case testRE().MatchString(command):
			kind = "test"
		case buildRE().MatchString(command):
			kind = "build"
		}
	}
	return kind
}

// showRE is the beginning of a command that prints what others said.
var showRE = pattern.Later(`^(?:cat|head|tail|less|more|grep|rg|sed|awk|echo|printf|git|find|ls|wc|sort|uniq|cut|diff|jq|exit|true|gh|curl)\b`)

// shows reports whether a line does nothing but show what is there, such as the
// log of tests that ran some other time.
func shows(line string) bool {
	for _, command := range commands(line) {
		if !showRE().MatchString(command) {
			return false
		}
	}
	return true
}

// last reports whether the last command of a line is a check, so that what the
// line changed was there before it.
func last(line string) bool {
	all := commands(line)
	return len(all) > 0 && kindOf(all[len(all)-1]) != ""
}

var (
	betweenRE = pattern.Later(`&&|\|\||[;\n]`)
	beforeRE  = pattern.Later(`^(?:\w+=\S* |time |env |timeout \S+ |cd \S+ )*`)
)

// commands cuts a line roughly, as a person would read it: it only has to find
// the names of programs.
func commands(line string) (all []string) {
	for _, part := range betweenRE().Split(line, -1) {
		part, _, _ = strings.Cut(part, "|")
		part = beforeRE().ReplaceAllString(oneLine(part), "")
		if part != "" {
			all = append(all, part)
		}
	}
	return all
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

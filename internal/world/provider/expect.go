package provider

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/model"
)

// An expectation is what a step wants of the request it answers.
type expectation struct {
	line    int
	not     bool
	subject string // last, result, error, user, system or tool
	tool    string
	re      *regexp.Regexp // nil with tool, and where any error will do
	text    string         // as it was written
}

func parseExpectation(line int, text string) (expectation, error) {
	x := expectation{line: line, text: text}
	rest := text
	if tail, ok := strings.CutPrefix(rest, "not "); ok {
		x.not, rest = true, strings.TrimSpace(tail)
	}
	x.subject, rest, _ = strings.Cut(rest, " ")
	rest = strings.TrimSpace(rest)
	switch x.subject {
	case "tool":
		if x.tool = rest; rest == "" {
			return x, fmt.Errorf("want tool NAME")
		}
		return x, nil
	case "error":
		if rest == "" {
			return x, nil
		}
	case "last", "result", "user", "system":
	default:
		return x, fmt.Errorf("%q is not one of last, result, error, user, system, tool", x.subject)
	}
	if len(rest) < 2 || rest[0] != '/' || rest[len(rest)-1] != '/' {
		return x, fmt.Errorf("want %s /REGEXP/, got %q", x.subject, clip(rest, 80))
	}
	re, err := regexp.Compile(rest[1 : len(rest)-1])
	if err != nil {
		return x, err
	}
	x.re = re
	return x, nil
}

func (x expectation) addNames(names map[string]bool) {
	if x.re == nil || x.not {
		return
	}
	for _, n := range x.re.SubexpNames() {
		if n != "" {
			names[n] = true
		}
	}
}

// match reports whether req is as x wants it, and adds what it captures.
func (x expectation) match(req *model.Request, captures map[string]string) bool {
	if x.subject == "tool" {
		offered := false
		for _, t := range req.Tools {
			offered = offered || t.Name == x.tool
		}
		return offered != x.not
	}
	for _, text := range x.texts(req) {
		if x.re == nil {
			return !x.not
		}
		m := x.re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if x.not {
			return false
		}
		for i, name := range x.re.SubexpNames() {
			if name != "" {
				captures[name] = m[i]
			}
		}
		return true
	}
	return x.not
}

// texts returns what x looks at.
func (x expectation) texts(req *model.Request) []string {
	if x.subject == "system" {
		return []string{req.System}
	}
	messages := req.Messages
	if x.subject != "user" {
		messages = sinceReply(messages)
	}
	var texts []string
	for _, m := range messages {
		if m.Role != model.User {
			continue
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case model.Text:
				if x.subject == "user" || x.subject == "last" {
					texts = append(texts, p.Text)
				}
			case model.CallResult:
				if x.subject == "result" || x.subject == "last" || x.subject == "error" && p.Error {
					texts = append(texts, p.Text)
				}
			}
		}
	}
	return texts
}

// sinceReply returns the messages after the last of the assistant's.
func sinceReply(messages []model.Message) []model.Message {
	for i, m := range slices.Backward(messages) {
		if m.Role == model.Assistant {
			return messages[i+1:]
		}
	}
	return messages
}

// came describes what a request holds since the last reply, for whoever reads
// that it is not what the script expects.
func came(req *model.Request) string {
	var b strings.Builder
	for _, m := range sinceReply(req.Messages) {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case model.Text:
				fmt.Fprintf(&b, "%s: %s\n", m.Role, p.Text)
			case model.CallResult:
				kind := "result"
				if p.Error {
					kind = "error"
				}
				fmt.Fprintf(&b, "%s of %s: %s\n", kind, p.Call, p.Text)
			}
		}
	}
	if b.Len() == 0 {
		return "nothing new since the last reply"
	}
	return strings.TrimRight(b.String(), "\n")
}

// clip shortens s to at most n bytes and a mark, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

package provider

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/belay-agent/belay/internal/contract/model"
)

// maxScript bounds the size of a rehearsal.
const maxScript = 8 << 20

// A script is a parsed rehearsal: the replies of the model, in order.
type script struct {
	name     string
	retry    bool // in every step
	window   int  // tokens; 0 is no limit
	steps    []step
	handoffs []step // the answers to requests for a handoff
}

// A step is one reply and what the request must look like before it is given.
type step struct {
	line    int
	label   string
	expects []expectation
	says    []saying
	stop    model.Stop
	usage   *model.Usage
	delay   time.Duration
	fail    *failing
	retry   bool // asks again for those of its calls that were interrupted
}

// A saying is one part of a reply, as the script has it.
type saying struct {
	line int
	kind sayingKind
	tool string // of a call
	text string
}

type sayingKind int

const (
	says sayingKind = iota
	thinks
	calls
	garbles // a call whose arguments do not parse
)

// A failing is an error that stands in for a reply.
type failing struct {
	kind          string
	after         time.Duration
	message, part int
}

// An entry is one "key: value" of a step, its continuation lines joined.
type entry struct {
	line       int
	key, value string
}

// parseScript reads a rehearsal. Its errors name the file and the line.
func parseScript(name string, src []byte) (*script, error) {
	if len(src) > maxScript {
		return nil, fmt.Errorf("script %s: %d bytes is more than %d", name, len(src), maxScript)
	}
	archive := txtar.Parse(src)
	s := &script{name: name}
	names := map[string]bool{} // of captures, so far
	line := 1 + strings.Count(string(archive.Comment), "\n")
	for i, f := range archive.Files {
		word, label, _ := strings.Cut(f.Name, " ")
		if i == 0 && f.Name == "all" {
			if err := s.parseAll(line, f.Data); err != nil {
				return nil, fmt.Errorf("script %s:%w", name, err)
			}
			line += 1 + strings.Count(string(f.Data), "\n")
			continue
		}
		if word != "step" && word != "handoff" {
			return nil, fmt.Errorf("script %s:%d: file %q is not a step or a handoff", name, line, f.Name)
		}
		st, err := parseStep(line, f.Data, names)
		if err != nil {
			return nil, fmt.Errorf("script %s:%w", name, err)
		}
		st.label = strings.TrimSpace(label)
		if word == "step" {
			s.steps = append(s.steps, st)
		} else {
			s.handoffs = append(s.handoffs, st)
		}
		line += 1 + strings.Count(string(f.Data), "\n")
	}
	if len(s.steps) == 0 {
		return nil, fmt.Errorf("script %s:1: it has no steps; each begins with a line %q", name, "-- step --")
	}
	return s, nil
}

// parseAll reads what holds for every step.
func (s *script) parseAll(line int, body []byte) error {
	entries, err := splitEntries(line+1, string(body))
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.key {
		case "retry":
			s.retry, err = parseRetry(e.value)
		case "window":
			s.window, err = strconv.Atoi(e.value)
			if err == nil && (s.window < 1 || s.window > maxTokens) {
				err = fmt.Errorf("%d tokens are no window", s.window)
			}
		default:
			return fmt.Errorf("%d: %s: not for all steps: only retry and window are", e.line, e.key)
		}
		if err != nil {
			return fmt.Errorf("%d: %s: %w", e.line, e.key, err)
		}
	}
	return nil
}

// parseRetry reads what of a step's calls is asked for again: only what was
// interrupted can be.
func parseRetry(text string) (bool, error) {
	if text != "interrupted" {
		return false, fmt.Errorf("want interrupted, got %q", clip(text, 80))
	}
	return true, nil
}

// parseStep reads one step, whose marker is at the given line, and adds the
// names that it captures.
func parseStep(line int, body []byte, names map[string]bool) (step, error) {
	s := step{line: line}
	entries, err := splitEntries(line+1, string(body))
	if err != nil {
		return s, err
	}
	for _, e := range entries {
		if err := s.add(e, names); err != nil {
			return s, fmt.Errorf("%d: %s: %w", e.line, e.key, err)
		}
	}
	if len(s.says) == 0 && s.fail == nil && s.stop == "" {
		return s, fmt.Errorf("%d: the step replies nothing; it needs say, call or fail, or a stop", line)
	}
	if s.stop == "" {
		s.stop = model.End
		for _, p := range s.says {
			if p.kind == calls || p.kind == garbles {
				s.stop = model.Calls
			}
		}
	}
	return s, nil
}

// splitEntries takes the lines of a step apart. An indented line goes on with
// the entry above it; a line that starts with # is a comment.
func splitEntries(line int, body string) ([]entry, error) {
	var entries []entry
	var indent string
	blanks := 0
	for l := range strings.Lines(body) {
		l = strings.TrimRight(l, "\r\n")
		at := line
		line++
		rest := strings.TrimLeft(l, " \t")
		switch {
		case rest == "":
			blanks++
			continue
		case rest != l: // indented
			if len(entries) == 0 {
				return nil, fmt.Errorf("%d: an indented line goes on with the one above, and there is none", at)
			}
			e := &entries[len(entries)-1]
			if indent == "" {
				indent = l[:len(l)-len(rest)]
			}
			if tail, ok := strings.CutPrefix(l, indent); ok {
				rest = tail
			}
			e.value += strings.Repeat("\n", blanks+1) + rest
		case strings.HasPrefix(l, "#"):
		default:
			key, value, ok := strings.Cut(l, ":")
			if !ok || strings.ContainsAny(key, " \t") {
				return nil, fmt.Errorf("%d: want \"key: value\", got %q", at, clip(l, 80))
			}
			entries = append(entries, entry{line: at, key: key, value: strings.TrimSpace(value)})
			indent = ""
		}
		blanks = 0
	}
	for i := range entries {
		entries[i].value = strings.TrimPrefix(entries[i].value, "\n")
	}
	return entries, nil
}

// add takes up one entry.
func (s *step) add(e entry, names map[string]bool) error {
	var err error
	switch e.key {
	case "expect":
		var x expectation
		if x, err = parseExpectation(e.line, e.value); err == nil {
			s.expects = append(s.expects, x)
			x.addNames(names)
		}
	case "say":
		s.says = append(s.says, saying{line: e.line, kind: says, text: e.value})
	case "think":
		s.says = append(s.says, saying{line: e.line, kind: thinks, text: e.value})
	case "call", "garble":
		err = s.addCall(e, names)
	case "stop":
		s.stop = model.Stop(e.value)
		switch s.stop {
		case model.End, model.Calls, model.Length, model.Refused, model.Cut:
		default:
			err = fmt.Errorf("%q is not one of end, calls, length, refused, cut", e.value)
		}
	case "usage":
		s.usage, err = parseUsage(e.value)
	case "delay":
		s.delay, err = time.ParseDuration(e.value)
	case "fail":
		s.fail, err = parseFailing(e.value)
	case "retry":
		s.retry, err = parseRetry(e.value)
	default:
		err = fmt.Errorf("not one of expect, say, think, call, garble, stop, usage, delay, fail, retry")
	}
	return err
}

func (s *step) addCall(e entry, names map[string]bool) error {
	end := strings.IndexAny(e.value, " \t\n")
	if end < 0 {
		return fmt.Errorf("want \"NAME {arguments}\", got %q", clip(e.value, 80))
	}
	p := saying{line: e.line, kind: calls, tool: e.value[:end], text: strings.TrimSpace(e.value[end:])}
	if e.key == "garble" {
		p.kind = garbles
		if json.Valid([]byte(p.text)) {
			return fmt.Errorf("these arguments are valid JSON: use call")
		}
	} else if err := validJSON(fill(p.text, func(name string) (string, bool) { return "0", names[name] })); err != nil {
		return fmt.Errorf("arguments of %s: %w", p.tool, err)
	}
	s.says = append(s.says, p)
	return nil
}

func validJSON(text string) error {
	var v json.RawMessage
	return json.Unmarshal([]byte(text), &v)
}

var placeholderRE = pattern(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// fill replaces each ${name} that value knows; others stay as they are, for a
// shell has them too.
func fill(text string, value func(name string) (string, bool)) string {
	return placeholderRE().ReplaceAllStringFunc(text, func(m string) string {
		if v, ok := value(m[2 : len(m)-1]); ok {
			return v
		}
		return m
	})
}

func parseUsage(text string) (*model.Usage, error) {
	var u model.Usage
	fields := map[string]*int{
		"input": &u.Input, "cached": &u.Cached, "cache_write": &u.CacheWrite,
		"output": &u.Output, "reasoning": &u.Reasoning,
	}
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(value)
		if fields[key] == nil || err != nil || n < 0 {
			return nil, fmt.Errorf("%q is not input, cached, cache_write, output or reasoning with =NUMBER", word)
		}
		*fields[key] = n
	}
	return &u, nil
}

func parseFailing(text string) (*failing, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, fmt.Errorf("want overflow, unavailable, bad or rejected")
	}
	f := &failing{kind: words[0], message: -1}
	switch f.kind {
	case "overflow", "unavailable", "bad", "rejected":
	default:
		return nil, fmt.Errorf("%q is not one of overflow, unavailable, bad, rejected", f.kind)
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch {
		case key == "after" && f.kind == "unavailable":
			f.after, err = time.ParseDuration(value)
		case key == "message" && f.kind == "rejected":
			f.message, err = strconv.Atoi(value)
		case key == "part" && f.kind == "rejected":
			f.part, err = strconv.Atoi(value)
		default:
			return nil, fmt.Errorf("%s takes no %q", f.kind, word)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

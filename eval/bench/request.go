package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// A request is one body, taken apart.
type request struct {
	whole    int // bytes
	tools    int // bytes
	offered  int // tools
	system   int // bytes
	messages int // bytes, without what is in system
	prefix   string
}

// Each begins with plain text, for which a request can be searched fast.
var marks = []*regexp.Regexp{
	regexp.MustCompile(`,"cache_control":\{[^}]*\}`),
	regexp.MustCompile(`"cache_control":\{[^}]*\},`),
}

// parse takes apart a body of either dialect. Its prefix is what a cache can
// keep: tools, system prompt and messages in this order, as they were sent but
// for the marks that say where the cache may end.
func parse(body []byte) (request, error) {
	var b struct {
		Tools    json.RawMessage `json:"tools"`
		System   json.RawMessage `json:"system"`
		Messages json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return request{}, fmt.Errorf("take apart a request: %w", err)
	}
	var tools, messages []json.RawMessage
	for _, list := range []struct {
		raw  json.RawMessage
		into *[]json.RawMessage
	}{{b.Tools, &tools}, {b.Messages, &messages}} {
		if err := json.Unmarshal(list.raw, list.into); err != nil {
			return request{}, fmt.Errorf("take apart a request: %w", err)
		}
	}
	r := request{whole: len(body), tools: len(b.Tools), offered: len(tools), system: len(b.System), messages: len(b.Messages)}
	var first struct {
		Role string `json:"role"`
	}
	if err := json.Unmarshal(messages[0], &first); err != nil {
		return request{}, fmt.Errorf("take apart a request: %w", err)
	}
	if first.Role == "system" {
		r.system = len(messages[0])
		r.messages -= r.system
	}
	open := string(b.Messages[:len(b.Messages)-1]) // more can follow
	r.prefix = string(b.Tools) + string(b.System) + open
	for _, re := range marks {
		r.prefix = re.ReplaceAllString(r.prefix, "")
	}
	return r, nil
}

// endMax is how many bytes at the end of a request are for one step alone: the type
// of the task and the recap, in the words of either API.
const endMax = 320

// ending returns how many bytes at the end of a request may be for one step alone:
// what was recalled for it is, too.
func ending(request string) int {
	const recalled = "[found in the workspace for this step"
	if at := strings.LastIndex(request, recalled); at >= 0 {
		return len(request) - at + endMax
	}
	return endMax
}

// whole says that no request has an end that is for one step alone.
func whole(string) int { return 0 }

// shares returns how much of each request's prefix, but for its end, the next one
// repeats, from 0 to 1.
func shares(bodies [][]byte, end func(string) int) ([]float64, error) {
	var all []float64
	before := ""
	for i, body := range bodies {
		r, err := parse(body)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			all = append(all, min(1, float64(common(before, r.prefix))/float64(len(before)-end(before))))
		}
		before = r.prefix
	}
	return all, nil
}

func common(a, b string) int {
	n := min(len(a), len(b))
	at := 0
	for at+block <= n && a[at:at+block] == b[at:at+block] {
		at += block
	}
	for at < n && a[at] == b[at] {
		at++
	}
	return at
}

// block is how many bytes are compared at once: requests are long, and nearly all
// of one is in the next.
const block = 4096

package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"  // what the strict server takes
	_ "image/jpeg" // ...
	_ "image/png"  // ...
	"regexp"
	"strings"

	_ "golang.org/x/image/webp" // ...
)

// A Conversation is a request as its dialect's parser understood it.
type Conversation struct {
	Model, System string
	MaxOutput     int
	Tools         []Offer
	Turns         []Turn
	Marks         int // cache marks
}

// An Offer is a tool that the request offers.
type Offer struct {
	Name   string
	Schema json.RawMessage
}

// A Turn is one message of a request.
type Turn struct {
	Role   string // user or assistant
	Blocks []Block
}

// A Block is one thing in a Turn.
type Block struct {
	Kind string // text, call, result, image or reasoning
	ID   string // of a call, or of the call that a result answers
	Name string // of a call's tool
	Text string // of a text or result; of an image its base64
	Args string // of a call
	Raw  string // the block's JSON
}

var nameRE = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Strict checks what the strictest of servers checks. Reasoning is what it gave
// out itself, byte for byte; any other is foreign.
func Strict(c Conversation, reasoning []string) error {
	seen := map[string]bool{}
	for _, t := range c.Tools {
		var schema struct{ Type string }
		switch err := json.Unmarshal(t.Schema, &schema); {
		case !nameRE.MatchString(t.Name):
			return fmt.Errorf("tool name %q", t.Name)
		case seen[t.Name]:
			return fmt.Errorf("tool %s twice", t.Name)
		case err != nil || schema.Type != "object":
			return fmt.Errorf("schema of %s: not an object's", t.Name)
		}
		seen[t.Name] = true
	}
	if len(c.Turns) == 0 {
		return fmt.Errorf("no messages")
	}
	known := map[string]bool{}
	for _, r := range reasoning {
		known[r] = true
	}
	var open []string
	used := map[string]bool{}
	for i, t := range c.Turns {
		if len(t.Blocks) == 0 {
			return fmt.Errorf("message %d has no blocks", i)
		}
		results := map[string]bool{}
		for j, b := range t.Blocks {
			if err := strictBlock(b, known); err != nil {
				return fmt.Errorf("message %d, block %d: %w", i, j, err)
			}
			if b.Kind == "result" {
				if t.Role != "user" || results[b.ID] {
					return fmt.Errorf("message %d: result of %s by the %s, or twice", i, b.ID, t.Role)
				}
				results[b.ID] = true
			}
		}
		for _, id := range open {
			if !results[id] {
				return fmt.Errorf("call %s has no result right after it, in message %d", id, i)
			}
			delete(results, id)
		}
		for id := range results {
			return fmt.Errorf("message %d: result of %s, which was not called right before", i, id)
		}
		open = nil
		for _, b := range t.Blocks {
			if b.Kind == "call" {
				if t.Role != "assistant" || b.ID == "" || used[b.ID] {
					return fmt.Errorf("message %d: call %q by the %s, or twice", i, b.ID, t.Role)
				}
				used[b.ID] = true
				open = append(open, b.ID)
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls %v have no result", open)
	}
	if last := c.Turns[len(c.Turns)-1]; last.Role != "user" {
		return fmt.Errorf("the last message is the %s's", last.Role)
	}
	return nil
}

func strictBlock(b Block, known map[string]bool) error {
	switch b.Kind {
	case "text", "result":
		if strings.TrimSpace(b.Text) == "" {
			return fmt.Errorf("%s is empty", b.Kind)
		}
	case "call":
		var args map[string]any
		if json.Unmarshal([]byte(b.Args), &args) != nil || args == nil {
			return fmt.Errorf("arguments of %s are not an object: %s", b.ID, b.Args)
		}
		if !nameRE.MatchString(b.Name) {
			return fmt.Errorf("call %s of a tool named %q", b.ID, b.Name)
		}
	case "image":
		raw, err := base64.StdEncoding.DecodeString(b.Text)
		if err != nil {
			return err
		}
		if _, _, err := image.Decode(bytes.NewReader(raw)); err != nil {
			return err
		}
	case "reasoning":
		if !known[b.Raw] {
			return fmt.Errorf("reasoning is foreign or changed: %s", b.Raw)
		}
	default:
		return fmt.Errorf("unknown block %q", b.Kind)
	}
	return nil
}

package event

import (
	"encoding/json"
	"time"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
)

var (
	when  = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	image = tool.Artifact{Handle: "artifact:00ff", Type: "image/png", Bytes: 12, Lines: 1}
	item  = recall.Item{Slot: "definition", Source: "a/b.go:10-40@3f9a", Text: "func F() {\n\treturn\n}", Score: 0.75, Why: "named in the goal",
		Path: "a/b.go", First: 10, Last: 40, Digest: "3f9a", Tokens: 20, Pinned: true, Out: "no room"}
	intent  = edit.Intent{Path: "a/b.go", Base: "aa", Result: "bb", Regions: []edit.Region{{Start: 3, End: 5, Len: 7}}, Remove: true, Mode: "0755", Inexact: "indentation", Was: "0644", Parents: 1, Attrs: "cc", WasAttrs: "dd"}
	failure = tool.Failure{Kind: tool.Stale, Message: "edit a/b.go: it changed", Hint: "Read it again", Retry: true, Detail: json.RawMessage(`{"actual_sha256":"cc"}`)}
	call    = tool.Call{ID: "c7", Tool: "Read", Args: json.RawMessage(`{"path":"a/<b>&.go"}`)}
)

// bodies returns one of every type, with every field set.
func bodies() []Body {
	return []Body{
		Opened{
			Session: "01JZ0000000000000000000000", Root: "/home/u/p", Commit: "3f9a", Version: "0.1.0",
			Model: "anthropic/claude-sonnet-4-6", Mode: "ask", Parent: "01JY0000000000000000000000", At: 41,
			Tools: []tool.Spec{{
				Name: "Read", Version: 2, Description: "Reads a file.", Input: json.RawMessage(`{"type":"object"}`),
				Origin: "mcp:files", Effects: []effect.Kind{effect.Read}, Idempotency: tool.ReadOnly, Risk: tool.Low,
				Inline: 51200, Timeout: 10 * time.Second,
			}},
		},
		Ruled{Path: "AGENTS.md", Digest: "aa", Text: "Run `make test`.\n", Left: "it is too long"},
		Asked{Text: "mend it\u2028please", Mentions: []string{"a/b.go"}, Media: []string{"artifact:00ff"}},
		Packed{Kept: []recall.Item{item}, Dropped: []recall.Item{item}, Missing: "it took too long"},
		Sent{Request: "artifact:aa", Repeats: 1000, Bytes: 1200, For: string(model.Handoff), Model: "anthropic/claude-sonnet-4-6", Tokens: 300},
		Replied{
			Message: model.Message{Role: model.Assistant, From: "anthropic/claude-sonnet-4-6", Seq: 6, Parts: []model.Part{
				model.Text{Text: "I look.", Raw: json.RawMessage(`{"citations":[]}`)},
				model.Reasoning{Text: "hm", Raw: json.RawMessage(`{"signature":"AA=="}`)},
				model.Image{Artifact: image},
				model.Call{Call: call, Malformed: `{"path":`, Raw: json.RawMessage(`{"id":"toolu_1"}`)},
				model.CallResult{Call: "c6", Text: "ok", Error: true, Media: []tool.Artifact{image}},
			}},
			Usage: model.Usage{Input: 1, Cached: 2, CacheWrite: 3, Output: 4, Reasoning: 5, Estimated: true},
			Cost:  123, Stop: model.Calls,
		},
		Planned{Digest: "dd", Plan: tool.Plan{
			Call: call, Version: 1, Summary: "read a/b.go", Preview: "artifact:bb", Profile: "none",
			Parts:   []tool.Part{{Name: "a/b.go", Effects: effect.Set{{Kind: effect.Read, On: "a/b.go", Tree: true}}, Held: true, Why: "it could be more", Unseen: "what perl runs"}},
			Timeout: time.Minute, Key: "01JZ/c7",
		}},
		Decided{Call: "c7", Plan: "dd", Verdict: "allow", By: ByPerson, Reason: "fine", Remember: "Read(a/**)", Also: []string{"Read(b)"}},
		Started{Call: "c7", Fingerprint: json.RawMessage(`{"a/b.go":"aa"}`), Reads: true, Waited: []Wait{{Call: "c6", Effect: effect.Effect{Kind: effect.Read, On: "a", Tree: true}, Held: effect.Effect{Kind: effect.Write, On: "a", Tree: true}}}},
		Finished{Call: "c7", Result: tool.Result{
			Status: tool.Error, Text: "edit a/b.go: it changed", Data: json.RawMessage(`{"lines":3}`), Failure: &failure,
			Seen: map[string]string{"a/b.go": "aa"}, Edits: []edit.Intent{intent}, Artifacts: []tool.Artifact{image},
			Media: []tool.Artifact{image}, Todo: []tool.Todo{{Text: "mend it", State: "active"}}, Ended: []string{"c5"}, Confined: "none",
			Metrics: &tool.Metrics{Milliseconds: 13, OutputBytes: 23},
		}},
		Settled{Call: "c7", As: "done", By: ByPerson, Note: "I looked"},
		Constrained{ID: "k1", Words: "do not push", Seq: 2, Bans: []tool.Ban{{Rule: "Bash(git push)", Except: "git push origin x", Effect: effect.Network, Removes: true, Text: "push", Call: "5e1f", Ask: true}}, By: "pattern", Lifted: true},
		Quarantined{Seq: 6, Part: 2, Media: true, Reason: "image cannot be decoded"},
		Switched{To: "openai/gpt-5.5", Why: "overloaded"},
		Compacted{
			Through: 40, Trigger: "person", Hint: "the tests", By: "rehearsed", Handoff: "Goal: mend it", Whole: "artifact:ab", Before: 9000, After: 1200, Room: 160_000,
			Refused: []string{"there is no call c99"}, Usage: model.Usage{Input: 1, Cached: 2, CacheWrite: 3, Output: 4, Reasoning: 5, Estimated: true}, Cost: 123,
			Notes:  []Note{{ID: "n1", Kind: "decision", Text: "no cache", Status: "rejected", Evidence: []string{"c7"}, Files: []string{"a/b.go"}, Error: "nonzero_exit: 1", Bans: []tool.Ban{{Rule: "Bash(npm install **)", Except: "npm install", Effect: effect.Network, Removes: true, Text: "redis", Call: "5e1f", Ask: true}}}},
			Pruned: []Pruned{{Call: "c9", Text: "[the same as the result of c12]", Args: json.RawMessage(`{"path":"a"}`), Why: "repeated"}},
		},
		Stopped{Reason: "limit", Detail: "steps", Refused: "sha", TooLong: true},
	}
}

package compaction

import (
	"context"
	"fmt"
	"iter"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// strictStatus is the status of HTTP that the strictest of servers refuses with.
const strictStatus = 400

// strict is a provider that takes only what the strictest of servers takes.
type strict struct{ model.Provider }

func (s strict) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	if err := modeltest.Strict(conversation(req), nil); err != nil {
		return func(yield func(model.Delta, error) bool) {
			yield(nil, &model.BadRequest{Status: strictStatus, Reason: fmt.Sprintf("a strict server refuses this: %v", err)})
		}
	}
	return s.Provider.Stream(ctx, req)
}

// conversation is req as a server sees it.
func conversation(req *model.Request) modeltest.Conversation {
	c := modeltest.Conversation{Model: req.Model, System: req.System, MaxOutput: req.MaxOutput}
	for _, t := range req.Tools {
		c.Tools = append(c.Tools, modeltest.Offer{Name: t.Name, Schema: t.Input})
	}
	for _, m := range req.Messages {
		t := modeltest.Turn{Role: string(m.Role)}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case model.Text:
				t.Blocks = append(t.Blocks, modeltest.Block{Kind: "text", Text: p.Text})
			case model.Call:
				t.Blocks = append(t.Blocks, modeltest.Block{Kind: "call", ID: p.ID, Name: p.Tool, Args: string(p.Args)})
			case model.CallResult:
				t.Blocks = append(t.Blocks, modeltest.Block{Kind: "result", ID: p.Call, Text: p.Text})
			}
		}
		c.Turns = append(c.Turns, t)
	}
	return c
}

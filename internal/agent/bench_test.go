package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
)

// chatter is a model that asks for the same calls in each of so many steps.
type chatter struct{ steps, calls, asked int }

func (c *chatter) Stream(context.Context, *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		c.asked++
		m := model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "on"}}}
		stop := model.End
		if c.asked <= c.steps {
			stop = model.Calls
			for i := range c.calls {
				args := json.RawMessage(fmt.Sprintf(`{"on":"f%d-%d"}`, c.asked, i))
				m.Parts = append(m.Parts, model.Call{Call: tool.Call{Tool: "Act", Args: args}})
			}
		}
		yield(model.Reply{Message: m, Stop: stop}, nil)
	}
}

func work(b *testing.B, c *chatter, parallel int, do func(context.Context, string, tool.Env) (tool.Result, error)) {
	b.Helper()
	a, err := agent.Open(b.Context(), new(session.State), agent.Options{
		Journal: journal.Memory(nil), Provider: c, Tools: []tool.Tool{act("Act", effect.Read, do)},
		Session: event.Opened{Session: "s", Root: "/w"}, Policy: policy.Policy{Mode: policy.ModeAsk},
		Limits: agent.Limits{Parallel: parallel},
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := a.Turn(b.Context(), agent.Input{Text: "go"}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPerCall is what the loop adds to a call that does nothing: preparing,
// ordering, planning, deciding, recording in memory, and its share of a request
// and a reply.
func BenchmarkPerCall(b *testing.B) {
	const steps, calls = 10, 16
	for b.Loop() {
		work(b, &chatter{steps: steps, calls: calls}, 8, ok)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*steps*calls), "µs/call")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkReadsOverlap has 32 reads in one reply, each of which takes 10 ms:
// one after another they take 320.
func BenchmarkReadsOverlap(b *testing.B) {
	for _, parallel := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("parallel=%d", parallel), func(b *testing.B) {
			for b.Loop() {
				work(b, &chatter{steps: 1, calls: 32}, parallel, func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
					time.Sleep(10 * time.Millisecond)
					return ok(ctx, on, env)
				})
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/reply")
			b.ReportMetric(0, "ns/op")
		})
	}
}

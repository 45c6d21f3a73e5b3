package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
)

// BenchmarkResume opens a session of 100,000 events of some 580 bytes, compacted
// every 2,000, up to where a turn could begin: with a snapshot that is 1,000
// events old, and with none.
func BenchmarkResume(b *testing.B) {
	const events, compacted = 100_000, 2_000
	dir := b.TempDir() + "/session"
	makeLong(b, dir, events, compacted)
	for _, kept := range []bool{true, false} {
		if !kept {
			removeSnapshots(b, dir)
		}
		b.Run(fmt.Sprintf("snapshot=%t", kept), func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				j, err := journal.Open(dir, nil)
				if err != nil {
					b.Fatal(err)
				}
				r := &rig{id: "s", journal: j}
				state, err := r.fold()
				if err != nil {
					b.Fatal(err)
				}
				if state.Seq() < events {
					b.Fatalf("only %d events", state.Seq())
				}
				if err := j.Close(); err != nil {
					b.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/(1<<20), "MiB/op")
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func removeSnapshots(b *testing.B, dir string) {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "snapshot-*"))
	if err != nil || len(files) == 0 {
		b.Fatalf("there is no snapshot: %v", err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			b.Fatal(err)
		}
	}
}

// makeLong writes a session in batches, so that it takes seconds and not the
// minutes that one sync an event would.
func makeLong(b *testing.B, dir string, events, compacted int64) {
	b.Helper()
	j, err := journal.Open(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	s := new(session.State)
	put := func(bodies ...event.Body) {
		recorded, err := j.Append(bodies...)
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range recorded {
			if err := s.Apply(e); err != nil {
				b.Fatal(err)
			}
		}
	}
	put(event.Opened{Session: "s", Root: "/w"}, event.Asked{Text: "go"})
	next, keep := compacted, events-1_000
	for s.Seq() < events {
		put(longStep(s.NextCall(0))...)
		if s.Seq() >= next {
			put(event.Compacted{Through: s.Seq() - 100, Handoff: "Goal: go"})
			next += compacted
		}
		if keep > 0 && s.Seq() >= keep {
			state, err := s.Snapshot()
			if err != nil {
				b.Fatal(err)
			}
			if err := j.Keep(s.Seq(), state); err != nil {
				b.Fatal(err)
			}
			keep = 0
		}
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
}

// longStep is a reply with one call, and all that is recorded of it.
func longStep(id string) []event.Body {
	filler := strings.Repeat("what was said or printed, ", 14)
	c := tool.Call{ID: id, Tool: "Read", Args: json.RawMessage(`{"path":"a/b/c.go","offset":100,"limit":200}`)}
	p := tool.Plan{
		Call: c, Version: 1, Summary: "Read a/b/c.go", Preview: filler, Profile: "none", Key: "s/" + id,
		Parts: []tool.Part{{Name: "a/b/c.go", Effects: effect.Set{{Kind: effect.Read, On: "a/b/c.go"}}}},
	}
	return []event.Body{
		event.Replied{
			Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: filler}, model.Call{Call: c}}},
			Stop:    model.Calls, Usage: model.Usage{Input: 1000, Output: 100},
		},
		event.Planned{Plan: p, Digest: p.Digest()},
		event.Decided{Call: id, Plan: p.Digest(), Verdict: "allow", By: "mode ask", Reason: filler},
		event.Started{Call: id, Reads: true},
		event.Finished{Call: id, Result: tool.Result{Status: tool.Success, Text: filler + filler, Seen: map[string]string{"a/b/c.go": "d"}}},
	}
}

package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestLongResultsAreArtifacts (R240, R242).
func TestR102_LongResultsAreArtifacts(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 10_000)
	r := newRig(t, options{
		script: steps(`call: Act {"on": "a"}`),
		tools: []tool.Tool{act("Act", effect.Read, func(context.Context, string, tool.Env) (tool.Result, error) {
			return tool.Result{Status: tool.Success, Text: long}, nil
		})},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := r.result("c1")
	if got.Status != tool.Partial || len(got.Text) > tool.DefaultInline || len(got.Artifacts) != 1 {
		t.Fatalf("status %s, %d bytes, %d artifacts", got.Status, len(got.Text), len(got.Artifacts))
	}
	f, err := r.Journal.Artifact(got.Artifacts[0].Handle)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || string(b) != long {
		t.Errorf("the artifact has %d bytes (%v), want %d", len(b), err, len(long))
	}
}

// TestR240_R241_R243_WhatIsCutIsKept: a result over a limit that was set is partial;
// its data say that it was cut, how it begins and how long it is, its text names the
// total and the artifact, and what a tool said in its data stays.
func TestR240_R241_R243_WhatIsCutIsKept(t *testing.T) {
	var long strings.Builder
	for n := range 300 {
		fmt.Fprintf(&long, "line %d\n", n+1)
	}
	for name, tt := range map[string]struct {
		limits tool.Limits
		data   string
		cut    bool
	}{
		"the defaults":          {tool.Limits{}, `{"mine":1}`, false},
		"fewer lines":           {tool.Limits{Lines: 100, Edge: 5}, `{"mine":1}`, true},
		"fewer bytes":           {tool.Limits{Bytes: 600}, ``, true},
		"fewer tokens, no head": {tool.Limits{Tokens: 200, Direction: tool.Tail}, `[1]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options{
				script: steps(`call: Act {"on": "a"}`),
				tools: []tool.Tool{act("Act", effect.Read, func(context.Context, string, tool.Env) (tool.Result, error) {
					return tool.Result{Status: tool.Success, Text: long.String(), Data: json.RawMessage(tt.data)}, nil
				})},
				change: func(o *agent.Options) { o.Output = tt.limits },
			})
			if err := r.turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := r.result("c1")
			if cut := got.Status == tool.Partial && len(got.Artifacts) == 1; cut != tt.cut {
				t.Fatalf("status %s, %d artifacts", got.Status, len(got.Artifacts))
			}
			if !tt.cut {
				if got.Text != long.String() || string(got.Data) != tt.data {
					t.Errorf("%d bytes, data %s", len(got.Text), got.Data)
				}
				return
			}
			whole := got.Artifacts[0]
			if !strings.Contains(got.Text, "of 300 lines") || !strings.Contains(got.Text, whole.Handle) || whole.Lines != 300 {
				t.Errorf("%q, %+v", got.Text, whole)
			}
			f, err := r.Journal.Artifact(whole.Handle)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if b, err := io.ReadAll(f); err != nil || string(b) != long.String() {
				t.Errorf("the artifact has %d bytes, %v", len(b), err)
			}
			if tt.data == `[1]` {
				if string(got.Data) != tt.data {
					t.Errorf("the data are %s", got.Data)
				}
				return
			}
			var data struct {
				Mine      int
				Truncated bool
				Preview   string
				Lines     int64 `json:"total_lines"`
			}
			if err := json.Unmarshal(got.Data, &data); err != nil {
				t.Fatal(err)
			}
			if !data.Truncated || data.Lines != 300 || !strings.HasPrefix(data.Preview, "line 1\n") || len(data.Preview) > 600 || tt.data != "" && data.Mine != 1 {
				t.Errorf("the data are %s", got.Data)
			}
		})
	}
}

func TestR044_ResultsCarryMetrics(t *testing.T) {
	r := newRig(t, options{script: steps(`call: Act {"on": "a"}`), tools: []tool.Tool{act("Act", effect.Read, ok)}})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := r.result("c1").Metrics; m == nil || m.OutputBytes != 2 {
		t.Errorf("metrics are %+v", m)
	}
}

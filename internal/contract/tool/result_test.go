package tool

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// The envelope's shape is what programs rely on, so it is fixed byte for byte.
func TestR034_EnvelopeShape(t *testing.T) {
	context := Context{Dir: ".", Args: json.RawMessage(`{"path":"a.go"}`), Call: "c7", Version: 2}
	for _, c := range []struct {
		name   string
		result Result
		want   string
	}{
		{
			"success",
			Result{Status: Success, Text: "ok", Data: json.RawMessage(`{"lines":3}`), Metrics: &Metrics{Milliseconds: 13, OutputBytes: 2}},
			`{"status":"success","text":"ok","data":{"lines":3},"metrics":{"duration_ms":13,"output_bytes":2},` +
				`"context":{"cwd":".","params_input":{"path":"a.go"},"call":"c7","schema_version":2}}`,
		},
		{
			"error",
			Failed(&Failure{Kind: Stale, Message: "edit a.go: it changed", Hint: "read it", Detail: json.RawMessage(`{"expected_sha256":"aa","actual_sha256":"bb"}`)}),
			`{"status":"error","text":"edit a.go: it changed","error":{"kind":"stale","message":"edit a.go: it changed",` +
				`"suggested_action":"read it","retryable":false,"detail":{"expected_sha256":"aa","actual_sha256":"bb"}},` +
				`"context":{"cwd":".","params_input":{"path":"a.go"},"call":"c7","schema_version":2}}`,
		},
		{
			"partial, with the rest as an artifact",
			Result{Status: Partial, Text: "head", Artifacts: []Artifact{{Handle: "artifact:ab12", Bytes: 123, Lines: 45}}},
			`{"status":"partial","text":"head","artifacts":[{"handle":"artifact:ab12","bytes":123,"lines":45}],` +
				`"context":{"cwd":".","params_input":{"path":"a.go"},"call":"c7","schema_version":2}}`,
		},
	} {
		got, err := json.Marshal(Envelope{Result: c.result, Context: context})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, string(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestPlanDigestChangesWithEachField(t *testing.T) {
	plan := func() Plan {
		return Plan{
			Call:    Call{ID: "c1", Tool: "Edit", Args: json.RawMessage(`{"path":"a"}`)},
			Version: 1, Parts: []Part{{Name: "a", Effects: effect.Set{{Kind: effect.Write, On: "a"}}}},
			Summary: "Edit a", Preview: "diff", Profile: "none", Timeout: time.Minute, Key: "k",
		}
	}
	base := plan().Digest()
	if again := plan().Digest(); again != base {
		t.Fatalf("equal plans have the digests %s and %s", base, again)
	}
	for name, change := range map[string]func(*Plan){
		"call":    func(p *Plan) { p.Call.ID = "c2" },
		"tool":    func(p *Plan) { p.Call.Tool = "Write" },
		"args":    func(p *Plan) { p.Call.Args = json.RawMessage(`{"path":"b"}`) },
		"version": func(p *Plan) { p.Version++ },
		"part":    func(p *Plan) { p.Parts[0].Name = "b" },
		"effect":  func(p *Plan) { p.Parts[0].Effects[0].On = "b" },
		"tree":    func(p *Plan) { p.Parts[0].Effects[0].Tree = true },
		"summary": func(p *Plan) { p.Summary += "!" },
		"preview": func(p *Plan) { p.Preview = "" },
		"profile": func(p *Plan) { p.Profile = "sandbox" },
		"timeout": func(p *Plan) { p.Timeout++ },
		"key":     func(p *Plan) { p.Key = "l" },
	} {
		p := plan()
		change(&p)
		if p.Digest() == base {
			t.Errorf("another %s leaves the digest as it was", name)
		}
	}
	if b, _ := json.Marshal(plan()); !bytes.Contains(b, []byte(`"args":{"path":"a"}`)) {
		t.Errorf("the arguments are not in the plan as they were given: %s", b)
	}
}

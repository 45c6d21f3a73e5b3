package model

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
)

func TestMessageEncoding(t *testing.T) {
	m := Message{Role: Assistant, From: "anthropic/m", Seq: 7, Parts: []Part{
		Text{Text: "a", Raw: json.RawMessage(`{"x":1}`)},
		Reasoning{Raw: json.RawMessage(`{"type":"redacted_thinking","data":"+/="}`)},
		Image{Artifact: tool.Artifact{Handle: "artifact:1", Type: "image/png", Bytes: 3}},
		Call{Call: tool.Call{ID: "c1", Tool: "Read", Args: json.RawMessage(`{"path":"a"}`)}},
		Call{Call: tool.Call{ID: "c2", Tool: "Read", Args: json.RawMessage(`null`)}, Malformed: "{oops"},
		CallResult{Call: "c1", Text: "b", Error: true, Media: []tool.Artifact{{Handle: "artifact:2", Bytes: 1}}},
	}}
	want := `{"role":"assistant","from":"anthropic/m","seq":7,"parts":[` +
		`{"type":"text","text":"a","raw":{"x":1}},` +
		`{"type":"reasoning","raw":{"type":"redacted_thinking","data":"+/="}},` +
		`{"type":"image","artifact":{"handle":"artifact:1","type":"image/png","bytes":3}},` +
		`{"type":"call","id":"c1","tool":"Read","args":{"path":"a"}},` +
		`{"type":"call","id":"c2","tool":"Read","args":null,"malformed":"{oops"},` +
		`{"type":"result","call":"c1","text":"b","error":true,"media":[{"handle":"artifact:2","bytes":1}]}]}`
	got, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	var back Message
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, back); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]tool.Call{{ID: "c1", Tool: "Read", Args: json.RawMessage(`{"path":"a"}`)}, {ID: "c2", Tool: "Read", Args: json.RawMessage(`null`)}}, m.Calls()); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if m.Text() != "a" {
		t.Errorf("text %q", m.Text())
	}
}

func TestMessageOfUnknownParts(t *testing.T) {
	for _, in := range []string{`{"role":"user","parts":[{"type":"smell"}]}`, `{"role":"user","parts":[1]}`, `{"parts":{}}`} {
		var m Message
		if err := json.Unmarshal([]byte(in), &m); err == nil {
			t.Errorf("%s was read as %+v", in, m)
		}
	}
	if b, err := json.Marshal(Message{Parts: []Part{nil}}); err == nil {
		t.Errorf("a nil part was written as %s", b)
	}
}

func TestCostIsRoundedUp(t *testing.T) {
	p := Price{Input: 300_000_000, Cached: 30_000_000, CacheWrite: 375_000_000, Output: 1_500_000_000} // 3, 0.30, 3.75 and 15 dollars
	for u, want := range map[Usage]int64{
		{}:                               0,
		{Input: 1}:                       300,
		{Cached: 1}:                      30,
		{CacheWrite: 1, Output: 1}:       1_875,
		{Output: 1, Reasoning: 1}:        1_500, // reasoning is part of the output
		{Input: 200_000, Output: 64_000}: 156_000_000,
	} {
		if got := p.Cost(u); got != want {
			t.Errorf("%+v costs %d, want %d", u, got, want)
		}
	}
	if got := (Price{Input: 1}).Cost(Usage{Input: 1}); got != 1 {
		t.Errorf("a millionth of a micro-cent costs %d, want 1", got)
	}
}

func TestUsagePlus(t *testing.T) {
	got := Usage{1, 2, 3, 4, 5, false}.Plus(Usage{10, 20, 30, 40, 50, true})
	if d := cmp.Diff(Usage{Input: 11, Cached: 22, CacheWrite: 33, Output: 44, Reasoning: 55, Estimated: true}, got); d != "" {
		t.Error(d)
	}
	if got.Total() != 110 {
		t.Errorf("total %d", got.Total())
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"role":"user","parts":[{"type":"text","text":"a"},{"type":"result","call":"c1","text":""}]}`))
	f.Add([]byte(`{"role":"assistant","parts":[{"type":"call","id":"c1","tool":"x","args":{"a":[1,2.50]},"raw":{}},{"type":"reasoning","raw":"<"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var m Message
		if json.Unmarshal(in, &m) != nil {
			return
		}
		once, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back Message
		if err := json.Unmarshal(once, &back); err != nil {
			t.Fatal(err)
		}
		twice, err := json.Marshal(back)
		if err != nil {
			t.Fatal(err)
		}
		if string(once) != string(twice) {
			t.Errorf("%s\nbecomes\n%s", once, twice)
		}
	})
}

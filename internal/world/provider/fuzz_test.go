package provider

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// listenTo returns what hears the streams of d.
func listenTo(d modeltest.Dialect) func(*model.Request) listener {
	return func(req *model.Request) listener {
		switch d.Name {
		case "messages":
			return newMessagesListener("anthropic/m", req)
		case "responses":
			return newResponsesListener("openai/m", req)
		case "gemini":
			return &geminiListener{from: "google/m", req: req}
		}
		return &chatListener{from: "openai/m", req: req}
	}
}

func FuzzChatStream(f *testing.F) {
	fuzzStream(f, modeltest.Chat(),
		`data: {"choices":[{"delta":{"content":"<think>a</thi","reasoning_details":[{"type":"reasoning.text","index":0,"text":"a"}]},"finish_reason":"stop"}]}`,
		`data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"a","arguments":"{}"}},{"function":{"name":"a","arguments":"{}"},"extra_content":7}]},"finish_reason":"length"}]}`)
}

func FuzzMessagesStream(f *testing.F) {
	fuzzStream(f, modeltest.Messages(),
		`data: {"type":"message_start","message":{"content":[{"type":"tool_use","name":"x"}],"stop_reason":"tool_use"}}`+"\n\ndata: {\"type\":\"message_stop\"}")
}

func FuzzResponsesStream(f *testing.F) {
	fuzzStream(f, modeltest.Responses(),
		`data: {"type":"response.completed","response":{"output":[{"type":"function_call","arguments":{"a":1}}]}}`,
		`data: {"type":"response.output_item.done","output_index":-1,"item":{"type":"message","content":[{"text":"a"}]}}`)
}

func FuzzGeminiStream(f *testing.F) {
	fuzzStream(f, modeltest.Gemini(),
		`data: {"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"x"},{"functionCall":{"args":"7"}}]},"finishReason":"STOP"}]}`)
}

// fed is all that came of a stream.
type fed struct {
	Deltas      []model.Delta
	Reply       model.Reply
	Ended, Over bool
	Failed      bool
}

// hearBy feeds stream to l, size bytes at a time.
func hearBy(l listener, stream []byte, size int) fed {
	var h fed
	s := splitter{max: 1 << 16, emit: func(f frame) error {
		deltas, err := l.hear(f)
		h.Deltas = append(h.Deltas, deltas...)
		return err
	}}
	var err error
	for rest := stream; len(rest) > 0 && err == nil; {
		n := min(size, len(rest))
		err = s.write(rest[:n])
		rest = rest[n:]
	}
	if err == nil {
		err = s.close()
	}
	h.Failed = err != nil
	h.Reply = l.reply()
	h.Ended, h.Over = l.complete()
	return h
}

// fuzzStream holds checkStream against whatever comes to mind.
func fuzzStream(f *testing.F, d modeltest.Dialect, seeds ...string) {
	f.Add(3, []byte(d.Stream(d.Events(short()))))
	for _, s := range seeds {
		f.Add(1, []byte(s))
	}
	f.Fuzz(func(t *testing.T, size int, stream []byte) { checkStream(t, d, size, stream) })
}

// checkStream holds that a stream, however odd, makes no reply that cannot be
// recorded, no calls that were not whole, no words that were not heard, and no
// other reply when it arrives otherwise.
func checkStream(t *testing.T, d modeltest.Dialect, size int, stream []byte) {
	req := modeltest.Ask()
	h := hearBy(listenTo(d)(req), stream, len(stream)+1)
	if pieces := hearBy(listenTo(d)(req), stream, 1+int(uint(size)%64)); !reflect.DeepEqual(h, pieces) {
		t.Errorf("in pieces it is another (-whole +pieces):\n%s", cmp.Diff(h, pieces))
	}
	if h.Ended && h.Reply.Stop == model.Cut {
		t.Error("it ended, and is cut")
	}
	var said strings.Builder
	for _, d := range h.Deltas {
		if text, ok := d.(model.TextDelta); ok {
			said.WriteString(text.Text)
		}
	}
	switch text := h.Reply.Message.Text(); {
	case d.Name == "messages": // it may begin again
	case d.Name == "responses" && len(text) <= said.Len(): // what is said of several items may alternate
	case !strings.HasPrefix(said.String(), text):
		t.Errorf("heard %q, and the reply says %q", said.String(), text)
	}
	for _, p := range h.Reply.Message.Parts {
		if c, ok := p.(model.Call); ok && (!json.Valid(c.Args) || c.Malformed != "" && string(c.Args) != "null") {
			t.Errorf("call %+v", c)
		}
	}
	b, err := h.Reply.Message.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var back model.Message
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
}

// FuzzThinking holds that what is thought and said depends on the text alone, and
// that nothing but tags is lost of it.
func FuzzThinking(f *testing.F) {
	f.Add("\n<think>a</think>\n\nb", 1)
	f.Add("<thin", 2)
	f.Add("<think>a</thi", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		hear := func(size int) (thought, said string) {
			var k thinking
			add := func(a, b string) { thought, said = thought+a, said+b }
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				add(k.hear(rest[:n]))
				rest = rest[n:]
			}
			add(k.end())
			return thought, said
		}
		thought, said := hear(len(text) + 1)
		if a, b := hear(1 + int(uint(size)%8)); a != thought || b != said {
			t.Errorf("at once %q and %q, in pieces %q and %q", thought, said, a, b)
		}
		begins := strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), openThink)
		if !begins && (thought != "" || said != text) {
			t.Errorf("%q became the thought %q and %q", text, thought, said)
		}
		if begins && !(strings.Contains(text, thought) && strings.HasSuffix(text, said)) {
			t.Errorf("%q became the thought %q and %q", text, thought, said)
		}
	})
}

package provider

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// short is a reply whose stream is small enough to be split at every byte.
func short() modeltest.Reply {
	return modeltest.Reply{
		Think: "ü—", Text: "世🧗\u2028x", Calls: []modeltest.Call{{Tool: "Read", Args: `{"p":"é"}`}},
		Stop: model.Calls, Usage: model.Usage{Input: 7, Output: 5},
	}
}

// TestBug_P09_Framing serves one reply in every form that a server may give it,
// in pieces of all sizes.
func TestBug_P09_Framing(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.Name, func(t *testing.T) {
			r := short()
			events := d.Events(r)
			plain := d.Stream(events)
			forms := map[string]string{
				"LF":              plain,
				"CRLF":            strings.ReplaceAll(plain, "\n", "\r\n"),
				"CR":              strings.ReplaceAll(plain, "\n", "\r"),
				"no space":        strings.ReplaceAll(plain, "data: ", "data:"),
				"comments":        ": hello\n\n" + strings.ReplaceAll(plain, "\n\n", "\n: ping\n\n:\n\n"),
				"byte order mark": "\xEF\xBB\xBF" + plain,
				"no blank line":   strings.TrimRight(plain, "\n"),
				"other fields":    strings.ReplaceAll(plain, "data: ", "id: 7\nretry: 10\nunknown: x\nlonely\ndata: "),
				"empty events":    strings.ReplaceAll(plain, "\n\n", "\n\ndata:\n\nevent: nothing\n\n"),
				"unknown events":  "event: surprise\ndata: {\"type\":\"surprise\"}\n\n" + plain,
				"split data":      d.Stream(splitLines(events)),
			}
			for name, body := range forms {
				var responses []modeltest.Response
				for _, chunk := range []int{0, 1, 2, 3, 7, 64} {
					responses = append(responses, modeltest.Response{Body: body, Chunk: chunk})
				}
				p, _ := served(t, d, nil, responses...)
				for range responses {
					t.Run(name, func(t *testing.T) {
						r.Check(t, modeltest.Listen(t, p, t.Context(), modeltest.Ask()))
					})
				}
			}
		})
	}
}

// splitLines spreads the data of each event over several lines, which is to be
// read as one with line ends in it: harmless between the tokens of JSON.
func splitLines(events []string) []string {
	var out []string
	for _, e := range events {
		out = append(out, strings.Replace(e, `,"`, ",\ndata: \"", 1))
	}
	return out
}

// TestBug_P09_EveryByte parts one stream at each of its bytes.
func TestBug_P09_EveryByte(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.Name, func(t *testing.T) {
			r := short()
			body := d.Stream(d.Events(r))
			var responses []modeltest.Response
			for at := 1; at < len(body); at++ {
				responses = append(responses, modeltest.Response{Body: body, At: at})
			}
			p, _ := served(t, d, nil, responses...)
			for at := 1; at < len(body); at++ {
				r.Check(t, modeltest.Listen(t, p, t.Context(), modeltest.Ask()))
				if t.Failed() {
					t.Fatalf("parted at byte %d of %d", at, len(body))
				}
			}
		})
	}
}

func TestBug_P09_Gzip(t *testing.T) {
	for _, d := range dialects() {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(d.Stream(d.Events(short())))); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		p, _ := served(t, d, nil, modeltest.Response{Body: b.String(), Header: map[string]string{"Content-Encoding": "gzip"}})
		short().Check(t, modeltest.Listen(t, p, t.Context(), modeltest.Ask()))
	}
}

func TestBug_P09_TooLarge(t *testing.T) {
	for _, d := range dialects() {
		r := short()
		events := d.Events(r)
		begin := d.Stream(events[:len(events)/2])
		for name, tail := range map[string]string{
			"one line":   "data: " + strings.Repeat("x", maxEvent+1),
			"many lines": strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", maxEvent/1000+1),
		} {
			p, _ := served(t, d, nil, modeltest.Response{Body: begin + tail})
			h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
			if !errors.Is(h.Err, ErrEventTooLarge) || h.Reply == nil || h.Reply.Stop != model.Cut {
				t.Errorf("%s, %s: got the reply %+v and %v", d.Name, name, h.Reply, h.Err)
			}
		}
	}
}

// TestBug_P04_CutAtEveryByte ends the connection after each byte of a reply, in
// good order and broken. Nothing but the whole reply counts as one.
func TestBug_P04_CutAtEveryByte(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.Name, func(t *testing.T) {
			r := short()
			events := d.Events(r)
			body := d.Stream(events)
			// The reply has ended with the event that says why it stopped (chat),
			// or with the last. A cut in the line ends after it is none.
			last := events[len(events)-1]
			if d.Name == "chat" {
				last = events[len(events)-3]
			}
			whole := strings.Index(body, last) + len(last)
			var responses []modeltest.Response
			for at := 0; at < whole; at++ {
				responses = append(responses, modeltest.Response{Body: body[:at], Abort: at%2 == 1})
			}
			p, _ := served(t, d, nil, responses...)
			for at := 0; at < whole; at++ {
				h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
				if _, ok := errors.AsType[*model.Unavailable](h.Err); !ok {
					t.Fatalf("cut at %d of %d: got the reply %+v and %v, want a *model.Unavailable", at, whole, h.Reply, h.Err)
				}
				if h.Reply == nil {
					if h.Text+h.Reasoning != "" || len(h.Args) > 0 {
						t.Fatalf("cut at %d: something was said, and no reply came", at)
					}
					continue
				}
				var left []model.Part
				if h.Text != "" {
					left = []model.Part{model.Text{Text: h.Text}}
				}
				if d := cmp.Diff(left, h.Reply.Message.Parts); h.Reply.Stop != model.Cut || d != "" {
					t.Fatalf("cut at %d: stop %q (-want +got):\n%s", at, h.Reply.Stop, d)
				}
			}
		})
	}
}

// TestBug_P04_LyingEnds are streams that end in good order and say nothing, or
// nonsense, about why.
func TestBug_P04_LyingEnds(t *testing.T) {
	chat, messages := modeltest.Chat(), modeltest.Messages()
	said := func(d modeltest.Dialect) string {
		r := short()
		r.Stop = model.Cut
		return d.Stream(d.Events(r))
	}
	for name, body := range map[string]string{
		"done without a reason": said(chat) + "data: [DONE]\n\n",
		"unknown reason":        said(chat) + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"whatever"}]}` + "\n\ndata: [DONE]\n\n",
		"not JSON":              said(chat) + "data: Internal Server Error\n\n",
	} {
		for _, hang := range []bool{false, true} {
			p, _ := served(t, chat, nil, modeltest.Response{Body: body, Hang: hang})
			if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); h.Reply == nil || h.Reply.Stop != model.Cut {
				t.Errorf("chat, %s: %+v, %v", name, h.Reply, h.Err)
			}
		}
	}
	responses, gemini := modeltest.Responses(), modeltest.Gemini()
	for name, tail := range map[string]string{
		"complete with items that are not": `{"type":"response.completed","response":{"status":"completed"}}`,
		"incomplete without a reason":      `{"type":"response.incomplete","response":{"status":"incomplete"}}`,
		"cancelled":                        `{"type":"response.cancelled","response":{"status":"cancelled"}}`,
		"done without an end":              `[DONE]`,
		"an item that is none":             `{"type":"response.output_item.done","output_index":3,"item":7}`,
	} {
		p, _ := served(t, responses, nil, modeltest.Response{Body: said(responses) + "data: " + tail + "\n\n"})
		if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); h.Reply == nil || h.Reply.Stop != model.Cut {
			t.Errorf("responses, %s: %+v, %v", name, h.Reply, h.Err)
		}
	}
	for name, tail := range map[string]string{
		"unknown reason":      `{"candidates":[{"finishReason":"OTHER"}]}`,
		"no reason":           `{"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}]}`,
		"a malformed call":    `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"print(default_api.read("}]}`,
		"a part that is none": `{"candidates":[{"content":{"parts":[7]},"finishReason":"STOP"}]}`,
	} {
		p, _ := served(t, gemini, nil, modeltest.Response{Body: said(gemini) + "data: " + tail + "\n\n"})
		if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); h.Reply == nil || h.Reply.Stop != model.Cut {
			t.Errorf("gemini, %s: %+v, %v", name, h.Reply, h.Err)
		}
	}
	for name, tail := range map[string]string{
		"a call that is open": `{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t","name":"Bash","input":{}}}` +
			"\n\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}` + "\n\ndata: " + `{"type":"message_stop"}`,
		"stop without a reason": `{"type":"message_stop"}`,
		"paused":                `{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":1}}`,
		"a block out of order":  `{"type":"content_block_start","index":9,"content_block":{"type":"text","text":"x"}}`,
		"a delta of nothing":    `{"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"x"}}`,
	} {
		p, _ := served(t, messages, nil, modeltest.Response{Body: said(messages) + messages.Stream([]string{tail})})
		if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); h.Reply == nil || h.Reply.Stop != model.Cut {
			t.Errorf("messages, %s: %+v, %v", name, h.Reply, h.Err)
		}
	}
}

// TestBug_P09_Events holds the form of events itself.
func TestBug_P09_Events(t *testing.T) {
	for stream, want := range map[string][]frame{
		"data: a\n\ndata:b\n\n":                                 {{data: "a"}, {data: "b"}},
		"event: x\r\ndata: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n": {{name: "x", data: "a\nb"}, {data: "c"}},
		"event: x\rdata: a\r\rdata: b\r\r":                      {{name: "x", data: "a"}, {data: "b"}},
		"data:  two spaces \n\n":                                {{data: " two spaces "}},
		"data\ndata\n\n":                                        {{data: "\n"}},
		"data: a:b: c\n\n":                                      {{data: "a:b: c"}},
		"event: lost\n\ndata: a\n\n":                            {{data: "a"}},
		": data: a\n\n\n\n":                                     nil,
		"Data: a\nid: 1\nretry: 2\n\n":                          nil,
		"\xEF\xBB\xBFdata: a\n\n\xEF\xBB\xBFdata: b\n\n":        {{data: "a"}},
		"data: \u2028\u0085\n\n":                                {{data: "\u2028\u0085"}},
		"data: a\ndata: b":                                      {{data: "a\nb"}},
	} {
		for size := 1; size <= len(stream); size++ {
			var got []frame
			s := splitter{max: 64, emit: func(f frame) error { got = append(got, f); return nil }}
			for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
				if err := s.write([]byte(rest[:min(size, len(rest))])); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got, cmp.AllowUnexported(frame{})); d != "" {
				t.Errorf("%q, by %d (-want +got):\n%s", stream, size, d)
			}
		}
	}
}

// FuzzSplitter holds that events are a function of the bytes alone.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\ndata:b\rdata: c\n\n: x\nevent: e\ndata\n\ndata: end"), 3)
	f.Add([]byte("\xEF\xBB\xBFdata: \xE4\xB8\x96\n\n"), 1)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		const limit = 64
		split := func(size int) ([]frame, error) {
			var frames []frame
			s := splitter{max: limit, emit: func(f frame) error { frames = append(frames, f); return nil }}
			rest := stream
			for len(rest) > 0 {
				n := min(size, len(rest))
				if err := s.write(rest[:n]); err != nil {
					return frames, err
				}
				rest = rest[n:]
			}
			return frames, s.close()
		}
		if size < 1 || size > len(stream) {
			size = 1
		}
		whole, err := split(len(stream) + 1)
		parted, err2 := split(size)
		if d := cmp.Diff(whole, parted, cmp.AllowUnexported(frame{})); d != "" || (err == nil) != (err2 == nil) {
			t.Errorf("at once %v, by %d %v:\n%s", err, size, err2, d)
		}
		for _, f := range whole {
			if len(f.data) > limit {
				t.Errorf("an event of %d bytes passed", len(f.data))
			}
		}
	})
}

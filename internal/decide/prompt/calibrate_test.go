package prompt

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

const (
	measured    = 40 // sessions
	calibrating = 3  // replies, after which requests are compared
	steps       = 12
)

// TestR223_AWholeRequestIsEstimated: after three replies that report what they
// took, the estimate of a request is near what two tokenizers count, in English,
// Chinese, code, and sessions that turn from one to another.
func TestR223_AWholeRequestIsEstimated(t *testing.T) {
	texts := corpora(t)
	for _, name := range []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase} {
		codec, err := tokenizer.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		count := counter{codec: codec, known: map[string]int{}}
		all, raw := []float64{}, []float64{}
		for _, kind := range []string{"English", "Chinese", "code", "mixed"} {
			var off []float64
			for n := range measured / 4 {
				calibrated, bare := grown(t, texts, kind, uint64(n), &count)
				off, raw = append(off, calibrated...), append(raw, bare...)
			}
			t.Logf("%s, %-8s %4d requests: median %4.1f %%, 90th percentile %4.1f %%, most %4.1f %%",
				name, kind, len(off), 100*percentile(off, 50), 100*percentile(off, 90), 100*percentile(off, 100))
			all = append(all, off...)
		}
		median, most := percentile(all, 50), percentile(all, 90)
		t.Logf("%s, all      %4d requests: median %4.1f %%, 90th percentile %4.1f %%; uncalibrated %4.1f %% and %4.1f %%",
			name, len(all), 100*median, 100*most, 100*percentile(raw, 50), 100*percentile(raw, 90))
		if len(all) != measured*(steps-calibrating) {
			t.Errorf("%d requests were compared", len(all))
		}
		if median >= 0.05 || most >= 0.15 {
			t.Errorf("%s: the error is %.3f at the median and %.3f at the 90th percentile", name, median, most)
		}
	}
}

// grown makes a session of text of some kind and returns the error of each
// request after the calibrating ones, with and without calibration.
func grown(t *testing.T, texts map[string]string, kind string, seed uint64, count *counter) (calibrated, bare []float64) {
	rng := rand.New(rand.NewPCG(seed, uint64(len(kind))))
	r := opening(t)
	piece := func(step, most int) string {
		from := kind
		if kind == "mixed" {
			from = []string{"English", "Chinese", "code"}[(int(seed)+step/3)%3]
		}
		return slice(rng, texts[from], most)
	}
	r.add(event.Asked{Text: piece(0, 400)})
	tools := []tool.Spec{
		{Name: "Read", Description: slice(rng, texts["English"], 900), Input: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","minimum":1}},"required":["path"]}`)},
		{Name: "Bash", Description: slice(rng, texts["English"], 900), Input: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"]}`)},
	}
	for step := range steps {
		request := Request(&r.State, nil, tools)
		request.Model = "a/b"
		truth := count.request(request)
		if step >= calibrating {
			calibrated = append(calibrated, relative(Tokens(&r.State, request), truth))
			bare = append(bare, relative(request.Estimate(), truth))
		}
		args, err := json.Marshal(map[string]string{"command": piece(step, 200)})
		if err != nil {
			t.Fatal(err)
		}
		call := model.Call{Call: tool.Call{ID: r.NextCall(0), Tool: "Bash", Args: args}}
		r.add(event.Sent{Model: "a/b", Tokens: request.Estimate()})
		r.add(event.Replied{
			Message: model.Message{Role: model.Assistant, Parts: []model.Part{text(piece(step, 600)), call}}, Stop: model.Calls,
			Usage: model.Usage{Input: truth / 3, Cached: truth - truth/3, Output: 100},
		})
		r.add(done(call.ID, piece(step, 8000)))
	}
	return calibrated, bare
}

// corpora are the docs, the Chinese and the code of this repository.
func corpora(t *testing.T) map[string]string {
	read := func(root, ext string, skip ...string) string {
		var b strings.Builder
		err := filepath.WalkDir(filepath.FromSlash("../../../"+root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ext) || slices.Contains(skip, d.Name()) || b.Len() > 1<<20 {
				return err
			}
			text, err := os.ReadFile(path)
			b.Write(text)
			return err
		})
		if err != nil || b.Len() < 10<<10 {
			t.Fatalf("%s: %d bytes, %v", root, b.Len(), err)
		}
		return b.String()
	}
	return map[string]string{
		"English": read("docs", ".md"),
		"Chinese": read("README.zh-CN.md", ".md"),
		"code":    read("internal/agent", ".go") + read("internal/toolbox", ".go") + read("internal/toolbox/diagnostic/testdata", ".txt"),
	}
}

// slice returns some lines of text, of at most so many bytes.
func slice(rng *rand.Rand, text string, most int) string {
	n := most/2 + rng.IntN(most/2)
	from := rng.IntN(max(1, len(text)-n))
	piece := strings.ToValidUTF8(text[from:min(len(text), from+n)], "")
	if i := strings.IndexByte(piece, '\n'); i >= 0 && i < len(piece)/2 {
		piece = piece[i+1:]
	}
	return piece
}

// A counter counts requests by a tokenizer, each text once.
type counter struct {
	codec tokenizer.Codec
	known map[string]int
}

func (c *counter) text(s string) int {
	n, ok := c.known[s]
	if !ok {
		var err error
		if n, err = c.codec.Count(s); err != nil {
			panic(err)
		}
		c.known[s] = n
	}
	return n
}

// request counts r in the form in which it is sent: calls as JSON, and for each
// message a mark, its role, and its end.
func (c *counter) request(r *model.Request) int {
	n := c.text(r.System)
	for _, t := range r.Tools {
		n += c.text(fmt.Sprintf(`{"type":"function","function":{"name":%q,"description":%q,"parameters":%s}}`, t.Name, t.Description, t.Input))
	}
	for _, m := range r.Messages {
		n += 4
		for _, p := range m.Parts {
			switch p := p.(type) {
			case model.Text:
				n += c.text(p.Text)
			case model.Call:
				n += c.text(fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, p.ID, p.Tool, p.Args))
			case model.CallResult:
				n += c.text(`{"role":"tool","tool_call_id":"`+p.Call+`"}`) + c.text(p.Text)
			}
		}
	}
	return n
}

func relative(got, want int) float64 {
	return max(float64(got-want), float64(want-got)) / float64(want)
}

func percentile(all []float64, p int) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[(len(all)-1)*p/100]
}

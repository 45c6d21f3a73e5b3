package terminal

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/agent"
)

// BenchmarkOutput shows a command that prints 200 MB in pieces of 32 KiB over 20
// seconds of its own time. The last figure is what reaches the terminal.
func BenchmarkOutput(b *testing.B) {
	const total, piece = 200 << 20, 32 << 10
	chunk := []byte(strings.Repeat("0123456789abcdef0123456789abcdef0123456789\n", piece/43+1)[:piece])
	for _, bb := range []struct {
		name string
		o    Options
	}{
		{"window", Options{Live: true, Width: 80, Height: 24}},
		{"typing", Options{Live: true, Width: 80, Height: 24, Stream: true}},
		{"pipe", Options{}},
		{"verbose", Options{Live: true, Width: 80, Height: 24, Verbose: true}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(total)
			for b.Loop() {
				now, shown := start, new(counter)
				bb.o.Out, bb.o.Progress, bb.o.Now = io.Discard, shown, func() time.Time { return now }
				v := newView(bb.o)
				v.calls["c1"] = call{tool: "Bash", label: "Bash make"}
				v.started("c1")
				for range total / piece {
					now = now.Add(20 * time.Second / (total / piece))
					v.show(agent.Output{Call: "c1", Text: chunk})
					v.tick()
				}
				b.ReportMetric(float64(shown.n), "B-shown")
			}
		})
	}
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

// TestRedrawsAreBounded: however much a command prints, the window is drawn five
// times a second at most.
func TestRedrawsAreBounded(t *testing.T) {
	now, shown := start, new(counter)
	v := newView(Options{Live: true, Width: 80, Height: 24, Out: io.Discard, Progress: shown, Now: func() time.Time { return now }})
	v.calls["c1"] = call{tool: "Bash", label: "Bash make"}
	v.started("c1")
	draws, last := 0, 0
	for range 10_000 { // a millisecond apart
		now = now.Add(time.Millisecond)
		v.show(agent.Output{Call: "c1", Text: []byte("line\n")})
		if v.tick(); shown.n != last {
			draws, last = draws+1, shown.n
		}
	}
	if draws < 40 || draws > 51 {
		t.Errorf("drawn %d times in 10 s", draws)
	}
}

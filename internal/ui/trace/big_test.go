package trace_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/ui/trace"
)

// bigLog is a session of so many events as long ones are: steps with a read, a
// change and a command, requests that grow, results of some KiB, and a turn every
// 40 steps.
func bigLog(t testing.TB, events int) log {
	l := newLog(t)
	l.add(event.Opened{Session: "s", Root: "/home/me/project", Model: "anthropic/claude-sonnet-4-6", Mode: "auto"})
	call, size := 0, 9000
	for n, step := 1, 0; n < events; step++ {
		var batch []event.Body
		if step%40 == 0 {
			if step > 0 {
				batch = append(batch, event.Stopped{Reason: "end"})
			}
			batch = append(batch, event.Asked{Text: fmt.Sprintf("Part %d of the work: make the parser faster.", step/40+1)})
		}
		grown := fmt.Sprintf(`,{"role":"user","seq":%d,"parts":[{"type":"text","text":%s}]}]}`, n, quote(strings.Repeat("what was read ", 300)))
		request := l.keep(grown)
		batch = append(batch, event.Sent{Request: request.Handle, Repeats: size - 2, Bytes: size + len(grown) - 2})
		size += len(grown) - 2
		file := fmt.Sprintf("internal/parser/file%02d.go", step%50)
		calls := []tool.Call{
			{Tool: "Read", Args: json.RawMessage(`{"path":` + quote(file) + `}`)},
			{Tool: "Edit", Args: json.RawMessage(`{"path":` + quote(file) + `,"old":"a","new":"b"}`)},
			{Tool: "Bash", Args: json.RawMessage(`{"command":"go test ./internal/parser"}`)},
		}
		message := model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: fmt.Sprintf("Step %d: the next file is %s.", step, file)}}}
		for i := range calls {
			call++
			calls[i].ID = fmt.Sprintf("c%d", call)
			message.Parts = append(message.Parts, model.Call{Call: calls[i]})
		}
		batch = append(batch, event.Replied{Message: message, Stop: "calls", Cost: 120_000, Usage: model.Usage{Input: 400, Cached: 8000 + step*90, Output: 180}})
		for i, c := range calls {
			kind := []effect.Kind{effect.Read, effect.Write, effect.Process}[i]
			plan := tool.Plan{Call: c, Summary: c.Tool + " " + file, Parts: []tool.Part{{Name: file, Effects: effect.Set{{Kind: kind, On: file}}}}}
			result := tool.Result{Status: tool.Success, Text: strings.Repeat("a line of what came back\n", 40), Metrics: &tool.Metrics{Milliseconds: 12}}
			if i == 1 {
				plan.Preview = "--- a/" + file + "\n+++ b/" + file + "\n@@ -1 +1 @@\n-a\n+b\n"
				result.Edits = []edit.Intent{{Path: file, Base: "aa", Result: "bb"}}
			}
			if i == 2 && step%9 == 0 {
				result.Status, result.Failure = tool.Error, &tool.Failure{Kind: tool.NonzeroExit, Message: "the command ended with exit status 1"}
			}
			batch = append(batch, event.Planned{Plan: plan}, event.Decided{Call: c.ID, Verdict: "allow", By: "mode auto"}, event.Started{Call: c.ID}, event.Finished{Call: c.ID, Result: result})
		}
		l.add(batch...)
		n += len(batch)
	}
	return l
}

func TestTenThousandEvents(t *testing.T) {
	file, report := write(t, bigLog(t, 10_000).source())
	if report.Events < 10_000 || report.Left != nil {
		t.Fatalf("%d events, left out: %v", report.Events, report.Left)
	}
	tb := openTab(t, file, wide)
	// What is in the page does not grow with the session.
	elements := func() int {
		return eval[int](tb, "document.body.querySelectorAll('*:not(script)').length")
	}
	if n := elements(); n > 1500 {
		t.Errorf("the page has %d elements when it opens", n)
	}
	if n := eval[int](tb, "document.querySelectorAll('#list .entry').length"); n > 60 {
		t.Errorf("the list has %d entries", n)
	}
	last := eval[int](tb, "document.querySelector('#scrub').max*1")
	for _, share := range []float64{0.1, 0.5, 0.99, 0} {
		eval[bool](tb, fmt.Sprintf("(document.querySelector('#list').scrollTop = %f * document.querySelector('#list').scrollHeight, true)", share))
		want := share * float64(last)
		tb.wait(fmt.Sprintf("[...document.querySelectorAll('#list .entry')].some(e => Math.abs(e.dataset.at - %f) < 30)", want))
	}
	tb.press("G")
	tb.need("#detail h2", "Bash")
	tb.press("/")
	eval[bool](tb, "(document.querySelector('#search').value = 'part 7 of the work', document.querySelector('#search').dispatchEvent(new Event('input')), true)")
	tb.wait("/^1 of /.test(document.querySelector('#count').innerText)")
	tb.need("#list", "Part 7 of the work")
	tb.press("\x1b")
	tb.press("2")
	tb.wait("document.querySelectorAll('#strip .bar').length > 3")
	if n := elements(); n > 2500 {
		t.Errorf("with the timeline the page has %d elements", n)
	}
}

// BenchmarkWrite is the page of a session of 10,000 events; B/event is its size.
func BenchmarkWrite(b *testing.B) {
	l := bigLog(b, 10_000)
	var size counter
	var report trace.Report
	for b.Loop() {
		size = 0
		var err error
		if report, err = trace.Write(&size, l.source()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size)/float64(report.Events), "B/event")
	b.ReportMetric(float64(size)/(1<<20), "MiB")
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// BenchmarkOpen opens the page of 10,000 events in a browser. ready-ms is from the
// start of the navigation until the page can be used; move-ms is a step to the next
// frame with all it draws, search-ms a search through all events, and frames/s is
// how smoothly the list scrolls from end to end (60 is what the browser gives).
func BenchmarkOpen(b *testing.B) {
	file, _ := write(b, bigLog(b, 10_000).source())
	if info, err := os.Stat(file); err == nil {
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB")
	}
	var ready, move, search, scroll float64
	for b.Loop() {
		tb := openTab(b, file, wide)
		ready += eval[float64](tb, "performance.getEntriesByName('ready')[0].startTime")
		move += eval[float64](tb, `(() => { const t = performance.now(); for (let i = 0; i < 50; i++) { document.querySelector('#next').click(); document.body.offsetHeight; } return (performance.now() - t) / 50 })()`)
		search += eval[float64](tb, `(() => { const s = document.querySelector('#search'); s.value = 'exit status 1'; const t = performance.now(); s.dispatchEvent(new Event('input')); return new Promise(r => { const look = () => / of /.test(document.querySelector('#count').innerText) ? r(performance.now() - t - 120) : requestAnimationFrame(look); look(); }) })()`)
		scroll += eval[float64](tb, `new Promise(r => {
			const box = document.querySelector('#list'), step = box.scrollHeight / 120;
			let n = 0, t = performance.now();
			const tick = () => { box.scrollTop += step; ++n < 120 ? requestAnimationFrame(tick) : r(1000 * n / (performance.now() - t)) };
			tick();
		})`)
	}
	n := float64(b.N)
	b.ReportMetric(ready/n, "ready-ms")
	b.ReportMetric(move/n, "move-ms")
	b.ReportMetric(search/n, "search-ms")
	b.ReportMetric(scroll/n, "frames/s")
}

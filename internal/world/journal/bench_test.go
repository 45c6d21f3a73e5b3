package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func benchmarkAppend(b *testing.B, body event.Body) {
	j := must(Open(filepath.Join(b.TempDir(), "s"), nil))
	defer j.Close()
	for b.Loop() {
		must(j.Append(body))
	}
}

func BenchmarkAppendWaiting(b *testing.B) {
	benchmarkAppend(b, event.Started{Call: "c17", Reads: true})
}

func BenchmarkAppendDurable(b *testing.B) {
	benchmarkAppend(b, event.Finished{Call: "c17", Result: tool.Result{Status: tool.Success, Text: "ok"}})
}

// BenchmarkDisk is what the disk needs for the same bytes.
func BenchmarkDisk(b *testing.B) {
	f := must(os.Create(filepath.Join(b.TempDir(), "f")))
	defer f.Close()
	line := make([]byte, 200)
	size := int64(0)
	for at := int64(0); b.Loop(); at += int64(len(line)) {
		if at+int64(len(line)) > size {
			preallocate(f, size, ahead)
			size += ahead
		}
		f.WriteAt(line, at)
		if err := syncData(f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for name, events := range map[string]int{"new": 0, "1000 events": 1000} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			at := filepath.Join(dir, "s")
			if events > 0 {
				j := must(Open(at, nil))
				for range events {
					must(j.Append(event.Packed{}))
				}
				j.Close()
			}
			n := 0
			for b.Loop() {
				if n++; events == 0 {
					at = filepath.Join(dir, strings.Repeat("s", 1+n%100), segmentName(n))
				}
				j := must(Open(at, nil))
				b.StopTimer()
				j.Close()
				b.StartTimer()
			}
		})
	}
}

func BenchmarkSpill(b *testing.B) {
	for name, size := range map[string]int{"8 KiB": 8 << 10, "1 MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			j := must(Open(filepath.Join(b.TempDir(), "s"), nil))
			defer j.Close()
			text := make([]byte, size)
			for i := 0; b.Loop(); i++ {
				text[0], text[1], text[2] = byte(i), byte(i>>8), byte(i>>16)
				s := must(j.Spill("output"))
				s.Write(text)
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpenLarge resumes a session of 100,000 events of 580 bytes from a
// snapshot that is 1,000 events old.
func BenchmarkOpenLarge(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "s")
	j := must(Open(dir, nil))
	const events = 100_000
	body := event.Packed{Kept: []recall.Item{{Slot: "file", Text: strings.Repeat("x", 400)}}}
	for j.last.seq < events {
		must(j.Append(body, body, body, body, body, body, body, body))
	}
	size := j.log.(*diskLog).end
	if err := j.Keep(j.last.seq-1000, make([]byte, 200<<10)); err != nil {
		b.Fatal(err)
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	for _, full := range []bool{false, true} {
		b.Run(map[bool]string{false: "snapshot", true: "all"}[full], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				j := must(Open(dir, nil))
				from, state := j.Snapshot()
				if full {
					from, state = 0, nil
				}
				n := 0
				for _, err := range j.Since(from) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if !full && (n > 1100 || len(state) == 0) {
					b.Fatalf("%d events since the snapshot of %d bytes", n, len(state))
				}
				b.StopTimer()
				if err := j.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(size)/events, "B/event")
		})
	}
}

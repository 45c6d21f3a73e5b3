package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// clock ticks one second a look.
func clock() func() time.Time {
	now := noon
	return func() time.Time { now = now.Add(time.Second); return now }
}

// mask is a Redactor that hides one word.
type mask struct{ word string }

func (m mask) Bytes(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte(m.word), []byte("[redacted:W]"))
}

// Writer holds all back until Close: whoever uses it must close it.
func (m mask) Writer(w io.Writer) io.WriteCloser { return &masked{m: m, w: w} }

type masked struct {
	bytes.Buffer
	m mask
	w io.Writer
}

func (m *masked) Close() error {
	_, err := m.w.Write(m.m.Bytes(m.Bytes()))
	return err
}

// both runs a test on a journal on disk and on one in memory.
func both(t *testing.T, test func(t *testing.T, open func(Options) *Journal)) {
	for name, open := range map[string]func(*testing.T) func(Options) *Journal{
		"disk": func(t *testing.T) func(Options) *Journal {
			dir := filepath.Join(t.TempDir(), "state", "sessions", "s1")
			return func(o Options) *Journal { return must(o.Open(dir)) }
		},
		"memory": func(t *testing.T) func(Options) *Journal { return Options.Memory },
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func all(t *testing.T, events iter.Seq2[event.Event, error]) []event.Event {
	t.Helper()
	var list []event.Event
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// A clock that jumps an hour, forth or back, changes no order: it is that of the
// numbers, and times never go back.
func TestBug_S07_AClockThatJumpsChangesNoOrder(t *testing.T) {
	both(t, func(t *testing.T, open func(Options) *Journal) {
		now := noon
		j := open(Options{Now: func() time.Time { return now }})
		defer j.Close()
		for i, jump := range []time.Duration{0, time.Hour, -2 * time.Hour, time.Minute, 3 * time.Hour, -time.Hour} {
			now = now.Add(jump)
			must(j.Append(event.Asked{Text: fmt.Sprint(i)}))
		}
		list := all(t, j.Since(0))
		if len(list) != 6 {
			t.Fatalf("%d events", len(list))
		}
		for i, e := range list {
			if asked, ok := e.Body.(event.Asked); !ok || e.Seq != int64(i+1) || asked.Text != fmt.Sprint(i) {
				t.Errorf("event %d is %+v", i+1, e)
			}
			if i > 0 && e.Time.Before(list[i-1].Time) {
				t.Errorf("event %d is of %s, the one before of %s", i+1, e.Time, list[i-1].Time)
			}
		}
	})
}

func TestAppendNumbersAndStamps(t *testing.T) {
	both(t, func(t *testing.T, open func(Options) *Journal) {
		now := noon
		j := open(Options{Now: func() time.Time { return now }})
		defer j.Close()
		got := must(j.Append(event.Asked{Text: "a"}, event.Packed{}))
		now = noon.Add(-time.Hour) // the clock is set back
		got = append(got, must(j.Append(event.Ruled{Path: "AGENTS.md"}))...)
		now = noon.Add(1234567 * time.Microsecond).In(time.FixedZone("", 3600))
		got = append(got, must(j.Append(event.Stopped{Reason: "end"}))...)
		want := []event.Event{
			{Seq: 1, Time: noon, Body: event.Asked{Text: "a"}},
			{Seq: 2, Time: noon, Body: event.Packed{}},
			{Seq: 3, Time: noon, Body: event.Ruled{Path: "AGENTS.md"}},
			{Seq: 4, Time: noon.Add(1234 * time.Millisecond), Body: event.Stopped{Reason: "end"}},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("appended (-want +got):\n%s", d)
		}
		for seq := range int64(4) {
			if d := cmp.Diff(want[seq:], all(t, j.Since(seq))); d != "" {
				t.Errorf("since %d (-want +got):\n%s", seq, d)
			}
		}
		if more := append(all(t, j.Since(4)), all(t, j.Since(9))...); len(more) != 0 {
			t.Errorf("since the last: %v", more)
		}
		if none, err := j.Append(); none != nil || err != nil {
			t.Error(none, err)
		}
	})
}

// What Append returns is what Since yields, now and after a restart, whatever
// was taken out of it on the way.
func TestAppendReturnsWhatIsOnDisk(t *testing.T) {
	both(t, func(t *testing.T, open func(Options) *Journal) {
		o := Options{Redactor: mask{"hunter2hunter2"}, Now: clock()}
		j := open(o)
		got := must(j.Append(
			event.Asked{Text: "use hunter2hunter2"},
			event.Sent{},
			event.Started{Call: "c1", Fingerprint: json.RawMessage(`{ "a" : "hunter2hunter2" }`)},
			event.Asked{Text: strings.Repeat("hunter2hunter2 ", 30_000)},
			event.Opaque{Type: "dreamt", Version: 7, JSON: json.RawMessage(`{"of":"hunter2hunter2"}`)},
		))
		if strings.Contains(fmt.Sprint(got), "hunter2") {
			t.Error("a secret is left")
		}
		last := got[len(got)-1].Body.(event.Opaque)
		if last.Type != redacted || string(last.JSON) != `{"events":[1,3,4,5]}` {
			t.Errorf("note: %s %s", last.Type, last.JSON)
		}
		if d := cmp.Diff(got, all(t, j.Since(0))); d != "" {
			t.Errorf("since (-appended +read):\n%s", d)
		}
		if _, ok := j.log.(*memoryLog); ok {
			return
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j = open(o)
		defer j.Close()
		if d := cmp.Diff(got, all(t, j.Since(0))[:len(got)]); d != "" {
			t.Errorf("after a restart (-appended +read):\n%s", d)
		}
	})
}

func TestRefusedBodiesChangeNothing(t *testing.T) {
	both(t, func(t *testing.T, open func(Options) *Journal) {
		j := open(Options{})
		defer j.Close()
		if e, err := j.Append(event.Asked{}, event.Started{Fingerprint: json.RawMessage("{")}); err == nil {
			t.Fatal("appended", e)
		}
		if got := must(j.Append(event.Asked{})); got[0].Seq != 1 {
			t.Errorf("seq %d", got[0].Seq)
		}
	})
}

func TestEventOverTheLimit(t *testing.T) {
	j := Memory(nil)
	var large *TooLarge
	if _, err := j.Append(event.Asked{Text: strings.Repeat("x", artifactLimit)}); !errors.As(err, &large) || large.Name != "asked event" {
		t.Fatal(err)
	}
	if got := must(j.Append(event.Asked{})); got[0].Seq != 1 {
		t.Errorf("seq %d", got[0].Seq)
	}
}

func TestBug_N05_HostileTextRoundTrips(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcde\u00e9", 5<<20/17)
	both(t, func(t *testing.T, open func(Options) *Journal) {
		j := open(Options{Now: clock()})
		want := []string{
			"a\nb\r\nc\rd", "a\u2028b\u2029c\u0085d\x1c", "a\x00b\x1b[31m\x7f<&>", "",
			"\nJ1 00000002 00000000 00000000 {}\n", long, strings.Repeat("\n\x00\u2028", 300_000),
		}
		var bodies []event.Body
		for _, s := range want {
			bodies = append(bodies, event.Asked{Text: s})
		}
		for _, n := range []int{1, 100_000} {
			lone := json.RawMessage(`{"lone":"\ud800` + strings.Repeat(`\u003c`, n) + `"}`)
			bodies = append(bodies, event.Started{Call: "c1", Fingerprint: lone})
		}
		got := must(j.Append(bodies...))
		for i, b := range bodies {
			if !reflect.DeepEqual(got[i].Body, b) {
				t.Errorf("body %d changed", i)
			}
		}
		if !reflect.DeepEqual(got, all(t, j.Since(0))) {
			t.Error("read otherwise than appended")
		}
		l, ok := j.log.(*diskLog)
		if !ok {
			return
		}
		j.Close()
		text := must(os.ReadFile(filepath.Join(l.dir, segmentName(1))))
		if lines := bytes.Count(text, []byte("\n")); lines != len(bodies)+2 {
			t.Errorf("%d lines for %d events and the two records of a close", lines, len(bodies))
		}
		if max := lineLimit * len(bodies) / 2; len(text) > max {
			t.Errorf("the log has %d bytes", len(text))
		}
		if got := all(t, Read(l.dir)); !reflect.DeepEqual(got[0].Body, bodies[0]) || len(got) != len(bodies)+2 {
			t.Errorf("%d events read", len(got))
		}
	})
}

// Strings near the limit, and bodies too long for a line without any such.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, open func(Options) *Journal) {
		j := open(Options{})
		defer j.Close()
		var bodies []event.Body
		for n := -3; n < 1; n++ {
			s := strings.Repeat("x", stringLimit+n)
			bodies = append(bodies, event.Settled{Call: s, As: "short", By: s + `"`, Note: s})
		}
		many := make([]string, 9)
		for i := range many {
			many[i] = strings.Repeat(fmt.Sprint(i), 200<<10)
		}
		bodies = append(bodies, event.Asked{Mentions: many}, // 1.8 MB in small strings
			event.Asked{Text: strings.Repeat("x", 300<<10), Mentions: many},
			event.Started{Fingerprint: json.RawMessage(`{"artifact:x":"` + strings.Repeat("k", 300<<10) + `"}`)},
			event.Started{Fingerprint: json.RawMessage(`{"` + strings.Repeat("k", 300<<10) + `":1}`)},
			event.Opaque{Type: "dreamt", Version: 1, JSON: json.RawMessage(`{"a" :  "` + strings.Repeat(`\/`, 300<<10) + `"}`)},
		)
		got := must(j.Append(bodies...))
		if !reflect.DeepEqual(got, all(t, j.Since(0))) {
			t.Error("read otherwise than appended")
		}
		for i, b := range bodies {
			if !reflect.DeepEqual(got[i].Body, b) {
				t.Errorf("body %d changed", i)
			}
		}
	})
}

func TestPromise_P24_ChainRecords(t *testing.T) {
	both(t, func(t *testing.T, open func(Options) *Journal) {
		j := open(Options{})
		var got []event.Event
		for range chainEvery * 2 {
			got = append(got, must(j.Append(event.Packed{}))...)
		}
		var at []int64
		for _, e := range got {
			if o, ok := e.Body.(event.Opaque); ok && o.Type == chained {
				at = append(at, e.Seq)
			}
		}
		if d := cmp.Diff([]int64{257, 514}, at); d != "" {
			t.Errorf("chain records (-want +got):\n%s", d)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestClosed(t *testing.T) {
	both(t, func(t *testing.T, open func(Options) *Journal) {
		j := open(Options{})
		must(j.Append(event.Asked{}))
		if err := errors.Join(j.Close(), j.Close()); err != nil {
			t.Error(err)
		}
		if _, err := j.Append(event.Asked{}); !errors.Is(err, errClosed) {
			t.Error(err)
		}
	})
}

func keep(t *testing.T, j *Journal, chunks ...string) string {
	t.Helper()
	s := must(j.Spill("output"))
	for _, c := range chunks {
		if n, err := s.Write([]byte(c)); n != len(c) || err != nil {
			t.Fatal(n, err)
		}
	}
	if s.Handle() != "" {
		t.Error("a handle before Close")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Error("written after Close:", err)
	}
	if err := s.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Error("closed twice:", err)
	}
	return s.Handle()
}

func contents(t *testing.T, j *Journal, handle string) string {
	t.Helper()
	f, err := j.Artifact(handle)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return string(must(io.ReadAll(f)))
}

func TestArtifacts(t *testing.T) {
	both(t, func(t *testing.T, open func(Options) *Journal) {
		j := open(Options{Redactor: mask{"hunter2hunter2"}})
		defer j.Close()
		large := strings.Repeat("large\n", 50_000)
		const hello = "artifact:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
		if h := keep(t, j, "hel", "lo"); h != hello {
			t.Error(h)
		}
		for range 2 {
			for text, want := range map[string]string{
				"": "", "hello": "hello", large: large, "a hunter2hunter2": "a [redacted:W]",
			} {
				h := keep(t, j, text[:len(text)/2], text[len(text)/2:])
				if got := contents(t, j, h); got != want {
					t.Errorf("%.20q became %.20q", text, got)
				}
				must(j.Append(event.Finished{Call: "c1", Result: tool.Result{Artifacts: []tool.Artifact{{Handle: h}}}}))
			}
		}
		f := must(j.Artifact(hello))
		if at := must(f.Seek(-2, io.SeekEnd)); at != 3 {
			t.Error(at)
		}
		for _, h := range []string{"", "hello", "artifact:", hello + "0", hello[9:], "artifact:" + strings.Repeat("0", 64),
			"artifact:../../" + hello[15:], strings.ToUpper(hello)} {
			if f, err := j.Artifact(h); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q: %v, %v", h, f, err)
			}
		}
	})
}

func TestArtifactOverTheLimit(t *testing.T) {
	both(t, func(t *testing.T, open func(Options) *Journal) {
		j := open(Options{})
		defer j.Close()
		s := must(j.Spill("output"))
		chunk := make([]byte, 1<<20)
		for range 65 {
			if n, err := s.Write(chunk); n != len(chunk) || err != nil {
				t.Fatal(n, err)
			}
		}
		var large *TooLarge
		if err := s.Close(); !errors.As(err, &large) || *large != (TooLarge{"output", 65 << 20, artifactLimit}) {
			t.Error(err)
		}
		if s.Handle() != "" {
			t.Error(s.Handle())
		}
	})
}

func TestWorkersSpillWhileTheLoopAppends(t *testing.T) {
	both(t, func(t *testing.T, open func(Options) *Journal) {
		j := open(Options{})
		defer j.Close()
		var workers sync.WaitGroup
		for i := range 8 {
			workers.Go(func() {
				for n := range 20 {
					s := must(j.Spill("output"))
					fmt.Fprint(s, strings.Repeat("x", (i%2)*70_000), n)
					if err := s.Close(); err != nil {
						t.Error(err)
						return
					}
					must(j.Append(event.Finished{Call: fmt.Sprint(i, n), Result: tool.Result{Text: s.Handle()}}))
					for _, err := range j.Since(0) {
						if err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		workers.Wait()
		seq := int64(0)
		for e := range j.Since(0) {
			if seq++; e.Seq != seq {
				t.Fatalf("event %d after %d", e.Seq, seq-1)
			}
		}
		if seq < 160 {
			t.Errorf("%d events", seq)
		}
	})
}

func TestMemoryForgetsTheOldestArtifacts(t *testing.T) {
	s := newMemoryShelf(100)
	put := func(digest string, n int, as care) { s.keep(digest, make([]byte, n), as) }
	has := func(digest string) bool { _, err := s.open(digest); return err == nil }
	put("a", 40, loose)
	put("b", 40, loose)
	put("a", 40, loose) // used again: b is the oldest now
	put("c", 40, loose)
	if !has("a") || has("b") || !has("c") {
		t.Error("not the oldest was forgotten")
	}
	put("d", 90, pinned)
	if has("a") || has("c") || !has("d") {
		t.Error("what is pinned is in want of room")
	}
	put("d", 90, loose)
	put("e", 20, loose)
	if !has("d") || has("e") {
		t.Error("what is pinned was forgotten")
	}
}

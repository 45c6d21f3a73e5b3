package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// The test binary is also the program that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("JOURNAL_TEST_WRITE"); dir != "" {
		write(dir)
	}
	if dir := os.Getenv("JOURNAL_TEST_RACE"); dir != "" {
		race(dir)
		os.Exit(0)
	}
	if dir := os.Getenv("JOURNAL_TEST_SESSION"); dir != "" {
		os.Exit(shortSession(dir))
	}
	os.Exit(m.Run())
}

// write appends for ever, and says what is acknowledged.
func write(dir string) {
	j, err := Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("open")
	for n := 0; ; n++ {
		bodies := []event.Body{event.Packed{}, event.Asked{Text: fmt.Sprint(n, strings.Repeat("x", n%500))}}
		for _, e := range must(j.Append(bodies...)) {
			fmt.Println(e.Seq)
		}
	}
}

// writer starts that program and waits until it has the session.
func writer(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.CommandContext(t.Context(), must(os.Executable()))
	c.Env = append(os.Environ(), "JOURNAL_TEST_WRITE="+dir)
	out := bufio.NewScanner(must(c.StdoutPipe()))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if !out.Scan() || out.Text() != "open" {
		t.Fatal("the writer did not start:", out.Text())
	}
	return c, out
}

func TestPromise_P01_AKillLosesNothingAcknowledged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	for round := range 8 {
		c, out := writer(t, dir)
		for range 100 + round*37 {
			out.Scan()
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		acknowledged := int64(0)
		for more := true; more; more = out.Scan() {
			acknowledged = must(strconv.ParseInt(out.Text(), 10, 64))
		}
		c.Wait() // it was killed
		j := must(Open(dir, nil))
		events := all(t, j.Since(0))
		if int64(len(events)) < acknowledged || acknowledged == 0 {
			t.Errorf("round %d: %d events of %d", round, len(events), acknowledged)
		}
		for i, e := range events {
			if e.Seq != int64(i+1) {
				t.Fatalf("round %d: event %d at place %d", round, e.Seq, i+1)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// crashed returns a session that was not closed, and where its frames end.
func crashed(t *testing.T, bodies ...event.Body) (dir string, ends []int64, events []event.Event) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "s")
	j := must(Options{Now: clock()}.Open(dir))
	l := j.log.(*diskLog)
	for _, b := range bodies {
		events = append(events, must(j.Append(b))...)
		ends = append(ends, l.end)
	}
	if err := errors.Join(l.f.Close(), l.lock.Close()); err != nil {
		t.Fatal(err)
	}
	return dir, ends, events
}

func few() []event.Body {
	return []event.Body{
		event.Asked{Text: "mend it"}, event.Packed{}, event.Sent{Repeats: 1},
		event.Started{Call: "c1"}, event.Finished{Call: "c1", Result: tool.Result{Status: tool.Success}},
		event.Stopped{Reason: "end"},
	}
}

// TestPromise_P07_ALogCutAtAnyByteOpens cuts at every byte of the last events. That
// zeros follow, as a file that was made longer has them, the usual run tries at
// every fifth, and the soak at each.
func TestPromise_P07_ALogCutAtAnyByteOpens(t *testing.T) {
	dir, ends, events := crashed(t, few()...)
	name := filepath.Join(dir, segmentName(1))
	whole := must(os.ReadFile(name))
	last := ends[len(ends)-1]
	if len(whole) != ahead+ballast || len(bytes.TrimRight(whole, "\x00")) != int(last) {
		t.Fatalf("%d bytes, of which %d are written", len(whole), last)
	}
	for cut := ends[len(ends)-4]; cut <= last; cut++ {
		for _, zeros := range []int64{0, 1000} {
			if zeros > 0 && cut%5 != 0 && !soak {
				continue
			}
			text := append(bytes.Clone(whole[:cut]), make([]byte, zeros)...)
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
			intact := 0
			for intact < len(ends) && ends[intact] <= cut {
				intact++
			}
			opensTo(t, dir, events[:intact], whole[ends[intact-1]:cut])
		}
	}
}

// opensTo opens the session twice: it has the events, and after them a record
// that tail was cut off, if there was any.
func opensTo(t *testing.T, dir string, events []event.Event, tail []byte) {
	t.Helper()
	j, err := Open(dir, nil)
	if err != nil {
		t.Fatalf("with a tail of %d bytes: %v", len(tail), err)
	}
	got := all(t, j.Since(0))
	added := must(j.Append(event.Asked{Text: "go on"}))
	if len(tail) > 0 {
		note := got[len(got)-1]
		if note.Kind() != repaired {
			t.Fatalf("with a tail of %d bytes: no record of a repair", len(tail))
		}
		kept := must(filepath.Glob(filepath.Join(dir, "torn-*")))
		if len(kept) != 1 || !bytes.Equal(must(os.ReadFile(kept[0])), tail) {
			t.Fatalf("torn end is not kept: %v", kept)
		}
		if err := os.Remove(kept[0]); err != nil {
			t.Fatal(err)
		}
		got = got[:len(got)-1]
	}
	if d := cmp.Diff(events, got); d != "" {
		t.Fatalf("with a tail of %d bytes (-want +got):\n%s", len(tail), d)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = must(Open(dir, nil))
	defer j.Close()
	again := all(t, j.Since(int64(len(events))))
	if !cmp.Equal(added, again[len(again)-3:len(again)-2]) { // before the records of Close
		t.Fatalf("opened again: %v", again)
	}
}

func TestPromise_P07_EveryFlippedByteIsFound(t *testing.T) {
	dir, ends, events := crashed(t, few()...)
	name := filepath.Join(dir, segmentName(1))
	whole := must(os.ReadFile(name))[:ends[len(ends)-1]+50]
	for at := range ends[len(ends)-1] {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << (at % 8)
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		hit := 0
		for ends[hit] <= at {
			hit++
		}
		start := int64(0)
		if hit > 0 {
			start = ends[hit-1]
		}
		if hit == len(ends)-1 { // the last record cannot be told from a torn one
			opensTo(t, dir, events[:hit], damaged[start:ends[hit]])
			continue
		}
		var corrupt *Corrupt
		if _, err := Open(dir, nil); !errors.As(err, &corrupt) {
			t.Fatalf("byte %d: %v", at, err)
		}
		corrupt.Why = ""
		if d := cmp.Diff(&Corrupt{segmentName(1), start, int64(hit), ""}, corrupt); d != "" {
			t.Fatalf("byte %d (-want +got):\n%s", at, d)
		}
		if !bytes.Equal(must(os.ReadFile(name)), damaged) {
			t.Fatalf("byte %d: the damaged log was changed", at)
		}
		got, damages := readAll(dir)
		if want := append(events[:hit:hit], events[hit+1:]...); !cmp.Equal(want, got) || len(damages) != 1 {
			t.Fatalf("byte %d: read %v and %v", at, got, damages)
		}
	}
}

func readAll(dir string) (events []event.Event, errs []error) {
	for e, err := range Read(dir) {
		if err != nil {
			errs = append(errs, err)
		} else {
			events = append(events, e)
		}
	}
	return events, errs
}

// Whoever can compute checksums can still not take out, move, double or change a
// record without a chain record telling.
func TestPromise_P24_ForgedLogsAreFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	j := must(Options{Now: clock()}.Open(dir))
	must(j.Append(few()...))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, segmentName(1))
	lines := bytes.SplitAfter(must(os.ReadFile(name)), []byte("\n"))
	lines = lines[:len(lines)-1]
	forge := func(change func(records []event.Record) []event.Record) error {
		var records []event.Record
		for _, raw := range lines {
			f, why := parseFrame(raw)
			if why != "" {
				t.Fatal(why)
			}
			records = append(records, f.Record)
		}
		var text []byte
		var crc uint32
		for i, r := range change(records) {
			r.Seq = int64(i + 1)
			var err error
			if text, crc, err = appendFrame(text, crc, r); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := Verify(dir)
		if err != nil || len(report.Damage) == 0 {
			return err
		}
		return report.Damage[0]
	}
	type records = []event.Record
	for what, change := range map[string]func(records) records{
		"taken out": func(r records) records { return append(r[:2:2], r[3:]...) },
		"moved":     func(r records) records { r[1], r[2] = r[2], r[1]; return r },
		"doubled":   func(r records) records { return append(r[:2:2], r[1:]...) },
		"changed": func(r records) records {
			r[0].Body.JSON = bytes.Replace(r[0].Body.JSON, []byte("mend"), []byte("harm"), 1)
			return r
		},
	} {
		var corrupt *Corrupt
		if err := forge(change); !errors.As(err, &corrupt) {
			t.Errorf("%s: %v", what, err)
		}
		if _, errs := readAll(dir); len(errs) != 1 {
			t.Errorf("%s: reading finds %v", what, errs)
		}
	}
	if err := forge(func(r records) records { return r }); err != nil {
		t.Error("not forged:", err)
	}
}

func TestPromise_P07_SplicedLogsAreFound(t *testing.T) {
	one, ends, _ := crashed(t, few()...)
	other, ends2, _ := crashed(t, append([]event.Body{event.Asked{Text: "another"}}, few()[1:]...)...)
	a := must(os.ReadFile(filepath.Join(one, segmentName(1))))
	b := must(os.ReadFile(filepath.Join(other, segmentName(1))))
	spliced := append(bytes.Clone(a[:ends[2]]), b[ends2[2]:]...)
	if err := os.WriteFile(filepath.Join(one, segmentName(1)), spliced, 0o600); err != nil {
		t.Fatal(err)
	}
	var corrupt *Corrupt
	if _, err := Open(one, nil); !errors.As(err, &corrupt) || corrupt.Offset != ends[2] || corrupt.LastSeq != 3 {
		t.Errorf("%v", err)
	}
	if got, errs := readAll(one); len(got) != len(few()) || len(errs) != 1 {
		t.Errorf("read %d events, %v", len(got), errs)
	}
}

func TestPromise_P05_OnceFailedAlwaysFailed(t *testing.T) {
	for _, what := range []string{"write", "sync"} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			j := must(Open(dir, nil))
			want := must(j.Append(event.Asked{Text: "safe"}))
			l := j.log.(*diskLog)
			good := l.f
			switch what {
			case "write":
				l.f = osFile{must(os.Open(filepath.Join(dir, segmentName(1))))} // may only be read
			case "sync":
				l.f = osFile{must(os.OpenFile("/dev/null", os.O_RDWR, 0))} // takes everything, syncs nothing
			}
			var failed *Failed
			_, err := j.Append(event.Asked{Text: "lost"})
			if !errors.As(err, &failed) {
				t.Fatal(err)
			}
			l.f.Close()
			l.f = good // the disk works again
			if _, again := j.Append(event.Packed{}); again != err {
				t.Errorf("appended after a failure: %v", again)
			}
			if got := all(t, j.Since(0)); !cmp.Equal(want, got[:1]) {
				t.Errorf("what was acknowledged: %v", got)
			}
			j.Close()
			j = must(Open(dir, nil))
			defer j.Close()
			if got := all(t, j.Since(0)); !cmp.Equal(want, got[:1]) {
				t.Errorf("after a restart: %v", got)
			}
		})
	}
}

// The record of what has effects, and of what a person or the model said, is on
// stable storage before Append returns, that is before anything follows from it.
// A device that cannot sync tells which those are.
func TestR067_WhatIsSyncedBeforeItHasEffects(t *testing.T) {
	for _, c := range []struct {
		name   string
		bodies []event.Body
		synced bool
	}{
		{"opened", []event.Body{event.Opened{}}, true},
		{"asked", []event.Body{event.Asked{}}, true},
		{"rules, items and the request", []event.Body{event.Ruled{}, event.Packed{}, event.Sent{}}, false},
		{"replied", []event.Body{event.Replied{}}, true},
		{"planned and decided by a rule", []event.Body{event.Planned{}, event.Decided{By: "default"}}, false},
		{"decided by a person", []event.Body{event.Decided{By: event.ByPerson}}, true},
		{"start of a call with effects", []event.Body{event.Planned{}, event.Decided{}, event.Started{}}, true},
		{"start of a call that only reads", []event.Body{event.Planned{}, event.Decided{}, event.Started{Reads: true}}, false},
		{"finished", []event.Body{event.Finished{}}, true},
		{"stopped", []event.Body{event.Stopped{}}, true},
	} {
		j := must(Open(filepath.Join(t.TempDir(), "s"), nil))
		l := j.log.(*diskLog)
		good := l.f
		l.f = osFile{must(os.OpenFile("/dev/null", os.O_RDWR, 0))} // takes everything, syncs nothing
		if _, err := j.Append(c.bodies...); (err != nil) != c.synced {
			t.Errorf("%s: synced: %v, want %v", c.name, err, c.synced)
		}
		l.f.Close()
		l.f = good
		j.Close()
	}
}

func TestPermissions(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(state, "sessions", "s")
	j := must(Open(dir, nil))
	must(j.Append(event.Finished{Result: tool.Result{Text: keep(t, j, strings.Repeat("x", 100_000)) + keep(t, j, "y")}}))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(filepath.Join(state, "sessions"), func(name string, d fs.DirEntry, err error) error {
		want := fs.FileMode(0o600)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			want = 0o700
		case strings.Contains(name, "artifacts/"):
			want = 0o400
		}
		if got := must(d.Info()).Mode().Perm(); got != want {
			t.Errorf("%s: %o, want %o", name, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o770); err != nil {
		t.Fatal(err)
	}
	if j, err := Open(dir, nil); err == nil {
		j.Close()
		t.Error("opened a session that others can write to")
	}
	if _, err := Open(filepath.Join(dir, "lock"), nil); err == nil {
		t.Error("opened a file")
	}
}

package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// What the log refuses, the results of running calls above all, is kept
// elsewhere: as it would have been written, secrets taken out.
func TestPromise_P05_WhatTheLogRefusesIsRescued(t *testing.T) {
	dir, elsewhere := filepath.Join(t.TempDir(), "s"), t.TempDir()
	j := must(Options{Redactor: mask{"hunter2hunter2"}, Now: clock(), Rescue: elsewhere}.Open(dir))
	must(j.Append(event.Started{Call: "c1"}, event.Started{Call: "c2"}))
	l := j.log.(*diskLog)
	good := l.f
	l.f = osFile{must(os.OpenFile("/dev/null", os.O_RDWR, 0))} // takes everything, syncs nothing
	long := strings.Repeat("long ", stringLimit)
	bodies := []event.Body{
		event.Finished{Call: "c1", Result: tool.Result{Text: "hunter2hunter2"}},
		event.Finished{Call: "c2", Result: tool.Result{Text: long}},
		event.Stopped{Reason: "error"},
	}
	var failed *Failed
	for _, b := range bodies {
		if _, err := j.Append(b); !errors.As(err, &failed) || filepath.Dir(failed.Rescue) != elsewhere ||
			!strings.Contains(err.Error(), failed.Rescue) {
			t.Fatal(err)
		}
	}
	l.f.Close()
	l.f = good
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	info := must(os.Stat(failed.Rescue))
	if info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
	var got []event.Event
	for line := range bytes.Lines(must(os.ReadFile(failed.Rescue))) {
		r, err := event.Parse(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		body := must(r.Body.Unseal())
		if r.Body.Type != failure && r.Body.Type != redacted {
			got = append(got, event.Event{Seq: r.Seq, Time: r.Time, Body: body})
		}
	}
	bodies[0] = event.Finished{Call: "c1", Result: tool.Result{Text: "[redacted:W]"}}
	var want []event.Event
	for i, b := range bodies {
		want = append(want, event.Event{Seq: []int64{3, 6, 7}[i], Time: got[i].Time, Body: b})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rescued (-want +got):\n%.2000s", d)
	}
}

func TestFailureWithoutARescue(t *testing.T) {
	for what, dir := range map[string]string{"none": "", "not there": "/nowhere/at/all"} {
		j := must(Options{Rescue: dir}.Open(filepath.Join(t.TempDir(), "s")))
		l := j.log.(*diskLog)
		good := l.f
		l.f = osFile{must(os.OpenFile("/dev/null", os.O_RDWR, 0))}
		var failed *Failed
		if _, err := j.Append(event.Asked{}); !errors.As(err, &failed) || failed.Rescue != "" {
			t.Errorf("%s: %v", what, err)
		}
		l.f.Close()
		l.f = good
		j.Close()
	}
}

func TestRefusesWhatOthersCanWrite(t *testing.T) {
	for _, name := range []string{"lock", segmentName(1), packName(1)} {
		dir := filepath.Join(t.TempDir(), "s")
		j := must(Open(dir, nil))
		keep(t, j, "a short one")
		j.Close()
		if err := os.Chmod(filepath.Join(dir, name), 0o622); err != nil {
			t.Fatal(err)
		}
		j, err := Open(dir, nil)
		if err == nil {
			s := must(j.Spill("output"))
			s.Write([]byte("another"))
			err = s.Close()
			j.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "others can write to it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "s")
	must(Open(dir, nil)).Close()
	elsewhere := filepath.Join(t.TempDir(), "log")
	if err := errors.Join(os.Rename(filepath.Join(dir, segmentName(1)), elsewhere), os.Symlink(elsewhere, filepath.Join(dir, segmentName(1)))); err != nil {
		t.Fatal(err)
	}
	if j, err := Open(dir, nil); err == nil {
		j.Close()
		t.Error("followed a link")
	}
}

// The clock may step back while nobody looks, too.
func TestTimeNeverGoesBackOverARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	for life := range 3 {
		now := noon.Add(-time.Duration(life) * time.Hour)
		j := must(Options{Now: func() time.Time { return now }}.Open(dir))
		e := must(j.Append(event.Asked{}))
		if !e[0].Time.Equal(noon) {
			t.Errorf("life %d: %v", life, e[0].Time)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

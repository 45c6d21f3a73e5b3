package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func TestPromise_P24_VerifyFindsWhatIsWrong(t *testing.T) {
	j, dir := furnished(t)
	short, long := keep(t, j, "a short one"), keep(t, j, strings.Repeat("a long one", 10_000))
	must(j.Append(event.Finished{Call: "c", Result: tool.Result{Artifacts: []tool.Artifact{{Handle: short}, {Handle: long}}}}))
	must(j.Append(event.Sent{Request: keep(t, j, strings.Repeat("a request", 10_000))}))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	whole := must(Verify(dir))
	if want := (Report{Events: j.last.seq, Files: len(must(segments(system{}, dir))), Lives: 1, Closed: true}); !cmp.Equal(want, whole) {
		t.Fatalf("%+v, want %+v", whole, want)
	}
	artifact := func(handle string) string {
		digest := strings.TrimPrefix(handle, prefix)
		return filepath.Join("artifacts", digest[:2], digest)
	}
	request := artifact(must1(all(t, Read(dir)), func(e event.Event) bool { return e.Kind() == "sent" }).Body.(event.Sent).Request)
	for what, c := range map[string]struct {
		name   string
		change func(b []byte) []byte // nil removes it
		damage string
		lost   string
		left   []string
	}{
		"long artifact changed":  {artifact(long), func(b []byte) []byte { b[7] ^= 1; return b }, "is damaged", "", nil},
		"long artifact gone":     {artifact(long), nil, "is missing", "", nil},
		"short artifact changed": {"artifacts.000001", func(b []byte) []byte { return bytes.Replace(b, []byte("short"), []byte("Short"), 1) }, "is damaged", "", nil},
		"packs gone":             {"artifacts.000001", nil, "is missing", "is missing", nil},
		"request gone":           {request, nil, "", "is missing", nil},
		"record changed":         {segmentName(2), func(b []byte) []byte { b[300] ^= 1; return b }, "is damaged at byte", "", nil},
		"file of the log gone":   {segmentName(2), nil, "the file is missing", "", nil},
		"a stranger":             {"notes.txt", func([]byte) []byte { return nil }, "", "", []string{"notes.txt"}},
		"unfinished":             {"artifacts/tmp-1", func([]byte) []byte { return nil }, "", "", []string{"artifacts/tmp-1"}},
		"a torn end kept":        {"torn-77", func([]byte) []byte { return nil }, "", "", []string{"torn-77"}},
	} {
		t.Run(what, func(t *testing.T) {
			name := filepath.Join(dir, c.name)
			saved, err := os.ReadFile(name)
			if c.change == nil {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			} else {
				os.Chmod(name, 0o600)
				if err := os.WriteFile(name, c.change(bytes.Clone(saved)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, dir)
			report := must(Verify(dir))
			if d := cmp.Diff(before, tree(t, dir)); d != "" {
				t.Errorf("it changed something:\n%s", d)
			}
			if got := errors.Join(report.Damage...); (c.damage == "") != (got == nil) || got != nil && !strings.Contains(got.Error(), c.damage) {
				t.Errorf("damage: %v, want %q", got, c.damage)
			}
			if got := errors.Join(report.Lost...); (c.lost == "") != (got == nil) || got != nil && !strings.Contains(got.Error(), c.lost) {
				t.Errorf("lost: %v, want %q", got, c.lost)
			}
			if !slices.Equal(c.left, report.Left) {
				t.Errorf("left: %v, want %v", report.Left, c.left)
			}
			os.Remove(name)
			if err == nil {
				if err := os.WriteFile(name, saved, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if again := must(Verify(dir)); !cmp.Equal(whole, again) {
		t.Errorf("in the end: %+v", again)
	}
	if _, err := Verify(filepath.Join(dir, "none")); err == nil {
		t.Error("verified what is not there")
	}
}

// must1 returns the last event that is meant.
func must1(events []event.Event, meant func(event.Event) bool) event.Event {
	for _, e := range slices.Backward(events) {
		if meant(e) {
			return e
		}
	}
	panic("no such event")
}

func TestRepair(t *testing.T) {
	dir, ends, events := crashed(t, few()...)
	name := filepath.Join(dir, segmentName(1))
	whole := must(os.ReadFile(name))[:ends[len(ends)-1]]
	tail := whole[ends[len(ends)-2] : len(whole)-3]
	artifacts := filepath.Join(dir, "artifacts")
	err := errors.Join(os.WriteFile(name, whole[:len(whole)-3], 0o600), os.Mkdir(artifacts, 0o700),
		os.WriteFile(filepath.Join(artifacts, "tmp-7"), nil, 0o600), os.WriteFile(filepath.Join(dir, "snapshot-3.tmp"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if report := must(Verify(dir)); report.Torn != int64(len(tail)) || !report.Sound() || report.Closed || len(report.Left) != 3 {
		t.Errorf("before: %+v", report)
	}
	done, err := Repair(dir)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(done, "\n")
	for _, want := range []string{"log.000001 at byte", "behind event 5", "torn-", "artifacts/tmp-7", "snapshot-3.tmp"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing of %s in:\n%s", want, said)
		}
	}
	if kept := must(filepath.Glob(filepath.Join(dir, "torn-*"))); len(kept) != 1 || !bytes.Equal(must(os.ReadFile(kept[0])), tail) {
		t.Errorf("kept: %v", kept)
	}
	report := must(Verify(dir))
	if report.Torn != 0 || !report.Sound() || !report.Closed || len(report.Left) != 2 { // the copy, and what is not ours
		t.Errorf("after: %+v", report)
	}
	if d := cmp.Diff(events[:5], theirs(all(t, Read(dir)))); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	log := must(os.ReadFile(name))
	if done, err := Repair(dir); err != nil || len(done) != 0 || !bytes.Equal(log, must(os.ReadFile(name))) {
		t.Errorf("again: %v, %v", done, err)
	}
	j := must(Open(dir, nil))
	defer j.Close()
	var locked *Locked
	if _, err := Repair(dir); !errors.As(err, &locked) {
		t.Error(err)
	}
	if _, err := Repair(filepath.Join(dir, "none")); err == nil {
		t.Error("repaired what is not there")
	}
}

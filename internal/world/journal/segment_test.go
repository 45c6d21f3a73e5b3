package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

var update = flag.Bool("update", false, "write the golden session of the current version")

// rolled returns a closed session of several files, and all its events.
func rolled(t *testing.T) (dir string, o Options, names []string) {
	t.Helper()
	o = Options{Now: clock(), segment: 2000}
	dir = filepath.Join(t.TempDir(), "s")
	j := must(o.Open(dir))
	for n := range 60 {
		must(j.Append(event.Asked{Text: fmt.Sprint(n)}))
	}
	got := all(t, j.Since(0))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, all(t, Read(dir))[:len(got)]); d != "" {
		t.Errorf("read otherwise than while it was open:\n%s", d)
	}
	for _, n := range must(segments(system{}, dir)) {
		names = append(names, segmentName(n))
	}
	if len(names) < 4 {
		t.Fatalf("only %v", names)
	}
	for _, name := range names[1:] {
		if text := must(os.ReadFile(filepath.Join(dir, name))); !bytes.Contains(text[:120], []byte(`"t":"chain"`)) {
			t.Errorf("%s begins with %.120s", name, text)
		}
	}
	return dir, o, names
}

func TestSegments(t *testing.T) {
	dir, o, names := rolled(t)
	before := all(t, Read(dir))
	j := must(o.Open(dir))
	got := append(before, must(j.Append(event.Asked{Text: "more"}))...)
	if d := cmp.Diff(got, all(t, j.Since(0))); d != "" {
		t.Errorf("opened again (-want +got):\n%s", d)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	// A crash right after the next file was made.
	empty := filepath.Join(dir, segmentName(len(names)+1))
	if err := os.WriteFile(empty, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	j = must(o.Open(dir))
	defer j.Close()
	must(j.Append(event.Asked{Text: "still more"}))
	if text := must(os.ReadFile(empty)); !bytes.Contains(text[:120], []byte(`"t":"chain"`)) {
		t.Errorf("the new file begins with %.120s", text)
	}
	last := all(t, j.Since(0))
	if d := cmp.Diff(event.Body(event.Asked{Text: "still more"}), last[len(last)-1].Body); d != "" {
		t.Errorf("the last event (-want +got):\n%s", d)
	}
}

func TestPromise_P07_DamageInAnEarlierFile(t *testing.T) {
	for what, damage := range map[string]func(name string) error{
		"cut":     func(name string) error { return os.Truncate(name, must(os.Stat(name)).Size()-3) },
		"missing": os.Remove,
		"empty":   func(name string) error { return os.Truncate(name, 0) },
	} {
		t.Run(what, func(t *testing.T) {
			dir, o, names := rolled(t)
			before := all(t, Read(dir))
			if err := damage(filepath.Join(dir, names[1])); err != nil {
				t.Fatal(err)
			}
			var corrupt *Corrupt
			if _, err := o.Open(dir); !errors.As(err, &corrupt) {
				t.Fatal(err)
			}
			got, errs := readAll(dir)
			if len(errs) != 1 || len(got) < len(before)/2 || len(got) >= len(before) {
				t.Errorf("%d events of %d, %v", len(got), len(before), errs)
			}
			if d := cmp.Diff(before[len(before)-1], got[len(got)-1]); d != "" {
				t.Errorf("the last event (-want +got):\n%s", d)
			}
		})
	}
}

func TestALogThatNeverBegan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, segmentName(1)), []byte("J1 0000"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the record of the repair is torn as well
		j := must(Open(dir, nil))
		if got := all(t, j.Since(0)); got[0].Kind() != repaired || got[0].Seq != 1 {
			t.Error(got)
		}
		j.Close()
		if err := os.Truncate(filepath.Join(dir, segmentName(1)), 5); err != nil {
			t.Fatal(err)
		}
	}
	if kept := must(filepath.Glob(filepath.Join(dir, "torn-0*"))); len(kept) != 2 {
		t.Error(kept)
	}
}

func TestEventsOfANewerBelay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	j := must(Open(dir, nil))
	must(j.Append(event.Asked{}, event.Opaque{Type: "dreamt", Version: 1, JSON: json.RawMessage("{}")}))
	j.Close()
	j = must(Open(dir, nil)) // it is passed over
	must(j.Append(event.Opaque{Type: "sworn", Version: 2, Critical: true, JSON: json.RawMessage(`{"a":1}`)}))
	j.Close()
	var newer *event.Newer
	if _, err := Open(dir, nil); !errors.As(err, &newer) || newer.Type != "sworn" {
		t.Fatal(err)
	}
	got := all(t, Read(dir))
	if o := got[4].Body.(event.Opaque); string(o.JSON) != `{"a":1}` || !o.Critical {
		t.Errorf("%+v", o)
	}
}

func TestDamagedArtifactOfAnEvent(t *testing.T) {
	for what, damage := range map[string]func(name string) error{
		"missing": os.Remove,
		"shorter": func(name string) error { return os.Truncate(name, 1000) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			j := must(Open(dir, nil))
			text := strings.Repeat("x", 2*stringLimit)
			must(j.Append(event.Asked{Text: text}, event.Asked{Text: "short"}))
			name := must(filepath.Glob(filepath.Join(dir, "artifacts", "*", "*")))[0]
			if err := damage(name); err != nil {
				t.Fatal(err)
			}
			for e, err := range j.Since(0) {
				if err == nil {
					t.Errorf("got %d", e.Seq)
				}
			}
			j.Close()
			for e, err := range Read(dir) {
				if sealed, ok := e.Body.(event.Opaque); e.Seq == 1 && (err == nil || !ok || sealed.Type != "asked") {
					t.Errorf("%v, %v", e, err)
				} else if e.Seq == 2 && err != nil {
					t.Error(err)
				}
			}
			j = must(Open(dir, nil)) // the log itself is intact
			defer j.Close()
			must(j.Append(event.Asked{Text: text})) // and the artifact is made again
			for e, err := range j.Since(0) {
				if err != nil {
					t.Error(e.Seq, err)
				}
			}
		})
	}
}

// An artifact is on stable storage before a durable event that names it.
func TestArtifactsSettle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	j := must(Open(dir, nil))
	s := j.shelf.(*diskShelf)
	one, two := keep(t, j, "one"), keep(t, j, strings.Repeat("two", small))
	must(j.Append(event.Sent{Request: one}))
	if len(s.loose) != 2 {
		t.Error("a request that waits was synced")
	}
	must(j.Append(event.Finished{Call: "c1", Result: tool.Result{Text: "see " + two + " " + prefix}}))
	if len(s.loose) != 1 || !s.loose[strings.TrimPrefix(one, prefix)] {
		t.Errorf("loose: %v", s.loose)
	}
	half := must(j.Spill("output"))
	half.Write(make([]byte, 2*small))
	temps := filepath.Join(dir, "artifacts", "tmp-*")
	if len(must(filepath.Glob(temps))) != 1 {
		t.Error("no file for a large artifact")
	}
	j.log.close()
	j = must(Open(dir, nil))
	defer j.Close()
	if left := must(filepath.Glob(temps)); len(left) != 0 {
		t.Error(left)
	}
	if got := contents(t, j, two); got != strings.Repeat("two", small) {
		t.Errorf("%d bytes", len(got))
	}
}

// golden is a session of this version with one of many things.
func golden(j *Journal) {
	must(j.Append(few()[:3]...))
	must(j.Append(few()[3:]...))
	must(j.Append(event.Asked{Text: strings.Repeat("0123456789abcdef", 20_000)}))
	must(j.Append(event.Opaque{Type: "dreamt", Version: 1, JSON: json.RawMessage(`{"of":"sheep"}`)}))
}

func TestPromise_P07_EveryGoldenSessionOpens(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "s")
	j := must(Options{Now: clock()}.Open(fresh))
	golden(j)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	const current = "testdata/v2"
	if *update {
		if err := errors.Join(os.RemoveAll(current), os.MkdirAll(current, 0o755), os.CopyFS(current, os.DirFS(fresh))); err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(current, "lock"))
	}
	want := theirs(all(t, Read(fresh)))
	for _, from := range must(filepath.Glob("testdata/v*")) {
		dir := filepath.Join(t.TempDir(), "s")
		if err := errors.Join(os.Mkdir(dir, 0o700), copyPrivate(dir, from)); err != nil {
			t.Fatal(err)
		}
		j, err := Open(dir, nil)
		if err != nil {
			t.Errorf("%s: %v", from, err)
			continue
		}
		if d := cmp.Diff(want, theirs(all(t, j.Since(0)))); d != "" {
			t.Errorf("%s (-want +got):\n%s", from, d)
		}
		must(j.Append(event.Asked{Text: "go on"}))
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
	a := must(os.ReadFile(filepath.Join(fresh, segmentName(1))))
	b, err := os.ReadFile(filepath.Join(current, segmentName(1)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(b), string(a)); d != "" {
		t.Errorf("the format changed (-golden +got):\n%s", d)
	}
}

// theirs returns the events that are not the journal's own.
func theirs(events []event.Event) []event.Event {
	return slices.DeleteFunc(events, func(e event.Event) bool {
		return slices.Contains([]string{chained, repaired, redacted, ended}, e.Kind())
	})
}

// copyPrivate copies a tree, readable for us alone.
func copyPrivate(to, from string) error {
	return fs.WalkDir(os.DirFS(from), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			return os.Mkdir(filepath.Join(to, name), 0o700)
		}
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), b, 0o600)
	})
}

// Whatever is in a file, what is read of it are whole frames, in order; and all
// else in it is reported, but for zeros at its end.
func FuzzLog(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "s")
	j := must(Options{Now: clock()}.Open(dir))
	must(j.Append(few()...))
	j.Close()
	text := must(os.ReadFile(filepath.Join(dir, segmentName(1))))
	f.Add(text)
	f.Add(text[:len(text)-5])
	f.Add(append(bytes.Clone(text[:150]), text[170:]...))
	f.Add(append(bytes.Clone(text), make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, text []byte) {
		at, sound := int64(0), true
		w := walker{yield: func(f frame, err error) bool {
			var cut *torn
			var corrupt *Corrupt
			switch {
			case errors.As(err, &cut):
				if cut.offset < at || !bytes.HasPrefix(text[cut.offset:], cut.tail) || len(cut.tail) == 0 {
					t.Errorf("behind byte %d it is cut at %+v", at, cut)
				}
				at, sound = int64(len(text)), sound && cut.offset == at
			case errors.As(err, &corrupt):
				if sound = false; corrupt.Offset < at {
					t.Errorf("behind byte %d: %v", at, err)
				}
			case err != nil:
				t.Error(err)
			case f.offset < at || !bytes.HasPrefix(text[f.offset:], f.raw):
				t.Errorf("behind byte %d there is a record at %d: %q", at, f.offset, f.raw)
			default:
				sound = sound && f.offset == at
				at = f.offset + int64(len(f.raw))
			}
			return true
		}}
		w.scan(bytes.NewReader(text), mark{segment: 1}, true)
		if at < int64(len(text)) && sound && len(bytes.TrimRight(text[at:], "\x00")) > 0 {
			t.Errorf("what follows byte %d is passed over", at)
		}
	})
}

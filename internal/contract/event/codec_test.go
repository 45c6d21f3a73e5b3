package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of the current versions")

func TestRoundTrip(t *testing.T) {
	var kinds []string
	for i, b := range bodies() {
		kinds = append(kinds, b.kind())
		want := Event{Seq: int64(i + 1), Time: when, Body: b}
		line, err := Encode(want, 3)
		if err != nil {
			t.Fatal(err)
		}
		got, epoch, err := Decode(line)
		if err != nil || epoch != 3 {
			t.Fatalf("%s: epoch %d, %v", b.kind(), epoch, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s changed (-want +got):\n%s", b.kind(), d)
		}
	}
	if d := cmp.Diff(Kinds(), kinds); d != "" {
		t.Errorf("not one of every kind (-kinds +tested):\n%s", d)
	}
}

// A field that no test body sets would be one that no golden file holds.
func TestBodiesLeaveNoFieldUnset(t *testing.T) {
	var look func(path string, v reflect.Value)
	look = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			look(path, v.Elem())
		case reflect.Slice:
			for i := range v.Len() {
				look(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
			}
		case reflect.Struct:
			for f, fv := range v.Fields() {
				if f.Tag.Get("json") == "-" || v.Type() == reflect.TypeFor[time.Time]() {
					continue
				}
				if fv.IsZero() {
					t.Errorf("%s.%s is not set", path, f.Name)
					continue
				}
				look(path+"."+f.Name, fv)
			}
		}
	}
	for _, b := range bodies() {
		look(b.kind(), reflect.ValueOf(b))
	}
}

func TestPromise_P07_EveryGoldenEventDecodes(t *testing.T) {
	if *update {
		for i, b := range bodies() {
			line, err := Encode(Event{Seq: int64(i + 1), Time: when, Body: b}, 1)
			if err != nil {
				t.Fatal(err)
			}
			version, _ := format(b.kind())
			name := filepath.Join("testdata", fmt.Sprintf("v%d", version), b.kind()+".json")
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, append(line, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	current := map[string]Body{}
	for _, b := range bodies() {
		version, _ := format(b.kind())
		current[fmt.Sprintf("v%d/%s", version, b.kind())] = b
	}
	names, err := filepath.Glob("testdata/v*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		e, epoch, err := Decode(bytes.TrimSuffix(text, []byte("\n")))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := Encode(e, epoch)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		key := filepath.Base(filepath.Dir(name)) + "/" + strings.TrimSuffix(filepath.Base(name), ".json")
		want, ok := current[key]
		if !ok {
			continue // of an older version: that it decodes and encodes is all
		}
		delete(current, key)
		if d := cmp.Diff(want, e.Body); d != "" {
			t.Errorf("%s is another event now (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(string(text), string(again)+"\n"); d != "" {
			t.Errorf("%s encodes otherwise now (-golden +got):\n%s", name, d)
		}
	}
	for key := range current {
		t.Errorf("testdata/%s.json is missing; run the test with -update", key)
	}
}

func TestPromise_P07_UnknownEventsStayAsTheyAre(t *testing.T) {
	for _, line := range []string{
		`{"q":9,"t":"dreamt","v":1,"ts":"2031-01-02T03:04:05.678Z","ep":12,"b":{"of": ["sheep", 1e3], "a":"\u2028<&>"}}`,
		`{"q":9,"t":"asked","v":2,"ts":"2031-01-02T03:04:05.678Z","ep":12,"b":{"text":{"parts":[]}}}`,
		`{"q":9,"t":"log.repaired","v":1,"ts":"2031-01-02T03:04:05.678Z","ep":0,"b":{}}`,
		`{"q":9,"t":"dreamt","v":3,"ts":"2031-01-02T03:04:05.678Z","ep":12,"crit":true,"b":{}}`,
	} {
		e, epoch, err := Decode([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if _, ok := e.Body.(Opaque); !ok {
			t.Errorf("%s: decoded to %T", line, e.Body)
		}
		again, err := Encode(e, epoch)
		if err != nil || string(again) != line {
			t.Errorf("encodes to\n%s, want\n%s (%v)", again, line, err)
		}
		var newer *Newer
		if critical := strings.Contains(line, "crit"); errors.As(e.Understood(), &newer) != critical {
			t.Errorf("%s: understood: %v", line, e.Understood())
		} else if critical && *newer != (Newer{9, "dreamt", 3}) {
			t.Errorf("newer: %+v", *newer)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	const good = `{"q":1,"t":"asked","v":1,"ts":"2026-01-02T03:04:05.678Z","ep":1,"b":{"text":"x"}}`
	if _, _, err := Decode([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"q":1`, `"q":0`}, {`"q":1`, `"q":01`}, {`"q":1`, `"q":-1`}, {`"q":1`, `"q":99999999999999999999`},
		{`"q":1`, `"q": 1`}, {`"asked"`, `""`}, {`"asked"`, `"As\u006b"`}, {`"asked"`, `"` + strings.Repeat("a", 65) + `"`},
		{`"v":1`, `"v":0`}, {`"v":1`, `"v":4294967296`}, {`.678Z`, `Z`}, {`.678Z`, `,678Z`}, {`01-02T`, `13-02T`},
		{`"ep":1`, `"ep":`}, {`{"text":"x"}`, `{"text":7}`}, {`{"text":"x"}`, `null`}, {`{"text":"x"}`, `"x"`},
		{`{"text":"x"}`, ``}, {`{"text":"x"}}`, ``}, {`"b"`, `"out":[],"b"`}, {`"b"`, `"out":[2,2],"b"`}, {`"b"`, `"out":[2],"b"`},
	} {
		line := strings.Replace(good, change[0], change[1], 1)
		if line == good {
			t.Fatalf("%q is not in the line", change[0])
		}
		if e, _, err := Decode([]byte(line)); err == nil {
			t.Errorf("%s decoded to %+v", line, e)
		}
	}
	for _, body := range []string{"{", "{\"a\":\n1}", "{\"a\":\"\xff\"}", "7", ""} {
		line := `{"q":1,"t":"dreamt","v":1,"ts":"2026-01-02T03:04:05.678Z","ep":1,"b":` + body + `}`
		if e, _, err := Decode([]byte(line)); err == nil {
			t.Errorf("%s decoded to %+v", line, e)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, e := range map[string]Event{
		"no body":             {Seq: 1, Time: when},
		"no seq":              {Time: when, Body: Asked{}},
		"year":                {Seq: 1, Time: when.AddDate(9000, 0, 0), Body: Asked{}},
		"JSON that is none":   {Seq: 1, Time: when, Body: Started{Fingerprint: json.RawMessage("{")}},
		"a type that is none": {Seq: 1, Time: when, Body: Opaque{Type: `a"b`, Version: 1, JSON: json.RawMessage("{}")}},
		"no version":          {Seq: 1, Time: when, Body: Opaque{Type: "chain", JSON: json.RawMessage("{}")}},
		"no object":           {Seq: 1, Time: when, Body: Opaque{Type: "chain", Version: 1, JSON: json.RawMessage("[]")}},
	} {
		if line, err := Encode(e, 1); err == nil {
			t.Errorf("%s: encoded to %s", name, line)
		}
	}
}

// hostile are values that have split or broken lines elsewhere.
var hostile = map[string]string{
	"newlines":         "a\nb\r\nc\rd",
	"other separators": "a\u2028b\u2029c\u0085d\v\f\x1c",
	"NUL and controls": "a\x00b\x1b[31m\x7f",
	"frame lookalike":  "\nJ1 00000001 00000000 00000000 {}\n",
	"5 MB on one line": strings.Repeat("0123456789abcde\u00e9", 5<<20/17),
}

func TestBug_N05_OneEventIsOneLine(t *testing.T) {
	for name, text := range hostile {
		for _, b := range []Body{Asked{Text: text}, Started{Call: "c1", Fingerprint: quote(t, text)}} {
			want := Event{Seq: 1, Time: when, Body: b}
			line, err := Encode(want, 1)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.IndexByte(line, '\n') >= 0 || !utf8.Valid(line) {
				t.Errorf("%s: not one line of UTF-8", name)
			}
			got, _, err := Decode(line)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(want, got) { // cmp is slow on megabytes
				t.Errorf("%s: %T changed", name, b)
			}
		}
	}
}

func quote(t *testing.T, s string) json.RawMessage {
	b, err := json.Marshal(map[string]string{"text": s})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBug_N05_WhatIsNotUnicodeStaysReadable(t *testing.T) {
	line, err := Encode(Event{Seq: 1, Time: when, Body: Finished{Call: "c\xff"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := Decode(line)
	if err != nil || e.Body.(Finished).Call != "c\ufffd" {
		t.Errorf("%+v, %v", e, err)
	}
	args := json.RawMessage("{\"lone\":\"\\ud800\",\"raw\":\"\xff\"}")
	line, err = Encode(Event{Seq: 1, Time: when, Body: Started{Fingerprint: args}}, 1)
	if err != nil || !utf8.Valid(line) {
		t.Fatal(string(line), err)
	}
	e, _, err = Decode(line)
	if err != nil || string(e.Body.(Started).Fingerprint) != "{\"lone\":\"\\ud800\",\"raw\":\"\ufffd\"}" {
		t.Errorf("%+v, %v", e, err)
	}
}

// What decodes, encodes; and what was encoded once is encoded the same again.
func FuzzDecode(f *testing.F) {
	for i, b := range bodies() {
		line, err := Encode(Event{Seq: int64(i + 1), Time: when, Body: b}, 1)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"q":9,"t":"dreamt","v":3,"ts":"2031-01-02T03:04:05.678Z","ep":12,"crit":true,"out":[7],"b":{"a":""}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, epoch, err := Decode(line)
		if err != nil {
			return
		}
		first, err := Encode(e, epoch)
		if err != nil {
			t.Fatalf("%s decoded but does not encode: %v", line, err)
		}
		r, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if _, opaque := e.Body.(Opaque); opaque && r.Safe == 0 && !bytes.Equal(first, line) {
			t.Errorf("%s\nbecame\n%s", line, first)
		}
		again, _, err := Decode(first)
		if err != nil {
			t.Fatalf("%s does not decode: %v", first, err)
		}
		if second, err := Encode(again, epoch); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s\nbecame\n%s (%v)", first, second, err)
		}
	})
}

package diagnostic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// reading returns the reports of an output that cannot fail to be read.
func reading(t testing.TB, command string, b []byte) []Report {
	t.Helper()
	reports, err := Read(command, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

// Colours, line ends of other systems, progress that was drawn over and writes
// that cut a line change nothing.
func TestR134_R143_HowItIsPrintedChangesNothing(t *testing.T) {
	ways := map[string]func([]byte) []byte{
		"CRLF":     func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) },
		"coloured": func(b []byte) []byte { return eachLine(b, "\x1b[1;31m", "\x1b[0m\x1b[K") },
		"redrawn":  func(b []byte) []byte { return redraw.ReplaceAll(b, []byte("50% done...\r$1")) },
		"titled":   func(b []byte) []byte { return eachLine(b, "\x1b]0;title\x07", "") },
	}
	for _, f := range fixtures(t) {
		want := f.read(t)
		for way, change := range ways {
			if d := cmp.Diff(want, reading(t, f.command, change(f.output))); d != "" {
				t.Errorf("%s, %s (-plain +changed):\n%s", f.name, way, d)
			}
		}
		got, err := Read(f.command, iotest.OneByteReader(bytes.NewReader(f.output)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s, a byte at a time:\n%s", f.name, d)
		}
	}
}

var redraw = regexp.MustCompile(`(?m)^(.)`) // an empty line does not draw over

func eachLine(b []byte, before, after string) []byte {
	var out bytes.Buffer
	for l := range bytes.Lines(b) {
		l, ended := bytes.CutSuffix(l, []byte("\n"))
		fmt.Fprintf(&out, "%s%s%s", before, l, after)
		if ended {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

// The fixtures that were captured in colour say what the plain ones say. The
// order in which the tests of one file run may differ.
func TestR134_ColouredOutputsOfTheToolsAreTheSame(t *testing.T) {
	all := make(map[string][]Report)
	for _, f := range fixtures(t) {
		all[f.name] = f.read(t)
	}
	compared := 0
	for name, reports := range all {
		plain, ok := strings.CutSuffix(name, "-colour")
		if !ok || strings.HasPrefix(name, "cargo-test") { // that one ran less
			continue
		}
		compared++
		for _, r := range slices.Concat(reports, all[plain]) {
			slices.SortFunc(r.Failing, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
		}
		if d := cmp.Diff(all[plain], reports); d != "" {
			t.Errorf("%s (-plain +coloured):\n%s", name, d)
		}
	}
	if compared < 7 {
		t.Errorf("%d pairs were compared", compared)
	}
}

// names returns what failed: tests by name, problems by place.
func names(reports []Report) []string {
	var all []string
	for _, r := range reports {
		for _, c := range r.Failing {
			all = append(all, c.Name)
		}
		for _, p := range r.Problems {
			all = append(all, fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column))
		}
	}
	return all
}

// Of an output whose start or end is lost, nothing is said that the whole does
// not say. A block that has lost its title may stand without it.
func TestR143_APartSaysNothingThatTheWholeDoesNot(t *testing.T) {
	for _, f := range fixtures(t) {
		whole := strings.Join(names(f.read(t)), "\n")
		lines := bytes.SplitAfter(f.output, []byte("\n"))
		for cut := range lines {
			for part, b := range map[string][]byte{
				"start": bytes.Join(lines[:cut], nil), "end": bytes.Join(lines[cut:], nil),
			} {
				for _, r := range reading(t, f.command, b) {
					if r.Tool != f.tool() && r.Tool != "cc" {
						t.Errorf("%s, its %s at line %d: read as %s", f.name, part, cut, r.Tool)
					}
					for _, n := range names([]Report{r}) {
						if !said(whole, f.name, n) {
							t.Errorf("%s, its %s at line %d: %q, the whole has\n%s", f.name, part, cut, n, whole)
						}
					}
				}
			}
		}
	}
}

var inBlock = regexp.MustCompile(`[^.:]+$`)

// said reports whether name is in the whole, if need be as the last part of a
// name, or of a test of another depth.
func said(whole, fixture, name string) bool {
	switch {
	case strings.Contains(whole, name):
		return true
	case strings.HasPrefix(fixture, "go-test"): // a parent, whose subtests were cut off, or a package
		return strings.Contains(whole, name+"/") || name == "example.com/shop/cart" || name == "example.com/shop/money"
	case strings.HasPrefix(fixture, "pytest"):
		return strings.Contains(whole, inBlock.FindString(name))
	case strings.HasPrefix(fixture, "maven"), strings.HasPrefix(fixture, "cargo"), strings.HasPrefix(fixture, "jest"), strings.HasPrefix(fixture, "vitest"), strings.HasPrefix(fixture, "gradle"), strings.HasPrefix(fixture, "eslint"):
		return strings.HasPrefix(name, ":0:0") || strings.Contains(whole, strings.TrimSuffix(name, ":0:0"))
	}
	return false
}

// Two tools in one output are told apart, one after the other.
func TestR143_TwoToolsInOneOutput(t *testing.T) {
	var firsts []fixture
	for _, f := range fixtures(t) {
		if strings.HasSuffix(f.name, "-several-failures") || strings.HasSuffix(f.name, "-errors") || strings.HasSuffix(f.name, "-problems") {
			firsts = append(firsts, f)
		}
	}
	for _, a := range firsts {
		for _, b := range firsts {
			if a.tool() == b.tool() || isCC(a) && isCC(b) {
				continue
			}
			both := append(bytes.Clone(a.output), '\n')
			both = append(both, b.output...)
			got := names(reading(t, "", both))
			for _, n := range slices.Concat(names(reading(t, "", a.output)), names(reading(t, "", b.output))) {
				if !slices.Contains(got, n) {
					t.Errorf("%s and then %s: %q is lost", a.name, b.name, n)
				}
			}
		}
	}
}

func isCC(f fixture) bool { return f.tool() == "gcc" || f.tool() == "clang" }

// Lines of a program that logs between the lines of the tool hide no test that
// failed.
func TestR143_NoiseBetweenTheLinesHidesNothing(t *testing.T) {
	for _, f := range fixtures(t) {
		want := names(f.read(t))
		got := names(reading(t, f.command, eachLine(f.output, "", "\n2026-01-02T03:04:05Z INFO server listening")))
		slices.Sort(want)
		slices.Sort(got)
		if f.name == "cargo-build-1.95.0-missing-dependency" || strings.HasPrefix(f.name, "go-test-1.26.8-panic") || strings.HasPrefix(f.name, "go-test-1.26.8-timeout") {
			continue // the noise is part of the message
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-without +with noise):\n%s", f.name, d)
		}
	}
}

// hostile repeats lines that make parsers remember something, never the same
// twice.
func hostile(n int) io.Reader {
	return &endless{n: n, make: func(i int) string {
		return fmt.Sprintf(` RUN  v1
> Task :x
Test project /x
=== RUN   TestA%[1]d
--- FAIL: TestB%[1]d/x (0.00s)
%[2]s--- FAIL: TestDeep%[1]d (0.00s)
{"Action":"run","Package":"p%[1]d","Test":"T"}
{"Action":"output","Package":"q","Test":"T%[1]d","Output":"=== RUN   T%[1]d\n"}
# p%[1]d
a%[1]d.go:1:2: x
==== FAILURES ====
____ t%[1]d ____
E   x
==== short test summary info ====
FAILED a.py::t%[1]d - x
FAIL  a%[1]d.js
  ● t%[1]d
 FAIL  a%[1]d.js > t%[1]d
error[E0308]: m%[1]d
 --> a.rs:1:%[1]d
test t%[1]d ... FAILED
[ERROR] /a%[1]d.java:[1,2] x
[ERROR] t%[1]d(a.B)  Time elapsed: 0 s  <<< FAILURE!
a.B%[1]d > t FAILED
%[1]d: x
1/2 Test #1: t%[1]d ...***Failed 0.00 sec
a.c:%[1]d:2: error: x
a.ts(%[1]d,2): error TS1: x
/a%[1]d.js
  %[1]d:2  error  x  y
`, i, strings.Repeat(" ", i%400))
	}}
}

type endless struct {
	n, i int
	make func(int) string
	rest string
}

func (e *endless) Read(b []byte) (int, error) {
	if e.rest == "" {
		if e.i == e.n {
			return 0, io.EOF
		}
		e.i++
		e.rest = e.make(e.i)
	}
	n := copy(b, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// However long the output, what is kept of it is bounded, and so is what is
// said.
func TestR143_R144_WhatIsKeptIsBounded(t *testing.T) {
	d := New("")
	if _, err := io.Copy(d, hostile(1_500)); err != nil {
		t.Fatal(err)
	}
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	if _, err := io.Copy(d, hostile(3_000)); err != nil {
		t.Fatal(err)
	}
	if after := held(); after > before+8<<20 {
		t.Errorf("%d bytes more are held after 3,000 rounds more", after-before)
	}
	reports := d.Reports()
	if len(reports) != 11 {
		t.Errorf("%d tools were recognised, want all 11", len(reports))
	}
	for _, r := range reports {
		if len(r.Failing) > maxCases || len(r.Problems) > 2*maxProblems {
			t.Errorf("%s has %d cases and %d problems", r.Tool, len(r.Failing), len(r.Problems))
		}
		if r.More == 0 {
			t.Errorf("%s does not say that it left some out", r.Tool)
		}
	}
	for _, limit := range []int{100, 1000, 20_000} {
		if s := Text(reports, limit); len(s) > limit {
			t.Errorf("%d bytes of text, over %d", len(s), limit)
		}
	}
}

// FuzzRead checks what holds for any output: the limits, that it is text, that
// how it is cut into writes does not matter, and that nothing panics.
func FuzzRead(f *testing.F) {
	for _, x := range fixtures(f) {
		if strings.Contains(x.name, "several-failures") || strings.Contains(x.name, "errors") {
			f.Add(x.output, 100)
		}
	}
	b, _ := io.ReadAll(hostile(2))
	f.Add(b, 7)
	f.Add([]byte("\xff\x00\r\r\x1b[\n--- FAIL: (s)\n=== RUN   \n  ● \n[ERROR] \n"), 1)
	f.Fuzz(func(t *testing.T, output []byte, cut int) {
		reports := reading(t, "", output)
		for _, r := range reports {
			if len(r.Failing) > maxCases || len(r.Problems) > 2*maxProblems {
				t.Errorf("%s has %d cases and %d problems", r.Tool, len(r.Failing), len(r.Problems))
			}
			for _, c := range r.Failing {
				if len(c.Name)+len(c.Suite)+len(c.File) > 3*maxName || len(c.Message) > maxMessage {
					t.Errorf("%s: a case of %d bytes", r.Tool, len(c.Name)+len(c.Suite)+len(c.File)+len(c.Message))
				}
			}
			for _, p := range r.Problems {
				if len(p.File)+len(p.Code) > 2*maxName || len(p.Message) > maxMessage {
					t.Errorf("%s: a problem of %d bytes", r.Tool, len(p.File)+len(p.Code)+len(p.Message))
				}
			}
		}
		b, err := json.Marshal(reports)
		if err != nil {
			t.Fatal(err)
		}
		var back []Report
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(reports, back); d != "" {
			t.Errorf("as data (-said +decoded), so it is no text:\n%s", d)
		}
		if s := Text(reports, 500); len(s) > 500 {
			t.Errorf("%d bytes of text, over 500", len(s))
		}
		d := New("")
		at := min(max(cut, 0), len(output))
		_, _ = d.Write(output[:at])
		_, _ = d.Write(output[at:])
		if x := cmp.Diff(reports, d.Reports()); x != "" {
			t.Errorf("cut at %d (-whole +cut):\n%s", at, x)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	plain := bytes.Repeat([]byte("2026-01-02T03:04:05Z INFO server listening on port 8080 with 12 workers\n"), 10_000)
	var real []byte
	for _, f := range fixtures(b) {
		real = append(real, f.output...)
	}
	for name, text := range map[string][]byte{"plain": plain, "real": real} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				reading(b, "", text)
			}
		})
	}
}

//go:build linux

package toolbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/secret"
	"github.com/belay-agent/belay/internal/world/journal"
)

// A flood is a lot of output: unit, again and again, size bytes in all.
type flood struct {
	Script string
	Unit   []byte
	Size   int64
	Slow   time.Duration // of whoever watches, for each piece
}

// A caught is what is left of a flood.
type caught struct {
	Facts      bashFacts
	Text       string
	Head, Tail []byte // of the artifact
	Took       time.Duration
	Peak       int64 // bytes of memory
}

// TestPromise_P14_AnySizeInLittleMemory floods a process of its own, which then
// says how large it became. The promise is of 2 GB; soak has all floods so large or larger.
func TestPromise_P14_AnySizeInLittleMemory(t *testing.T) {
	if in := os.Getenv("BELAY_TEST_FLOOD"); in != "" {
		drown(t, in)
		return
	}
	some := int64(128 << 20)
	if soak {
		some = 2 << 30
	}
	repeat := func(unit string, size int64) flood {
		return flood{Script: fmt.Sprintf("yes '%s' | head -c %d", unit, size), Unit: []byte(unit + "\n"), Size: size}
	}
	slow := repeat("a slow reader", 32<<20)
	slow.Slow = 2 * time.Millisecond
	for name, f := range map[string]flood{
		"lines":    repeat("ok  \texample.com/some/package\t0.412s", 2*some),
		"one line": {Script: fmt.Sprintf("head -c %d /dev/zero | tr '\\0' a", some), Unit: []byte("a"), Size: some},
		"colours":  repeat("\x1b[32mok\x1b[0m \x1b[1mexample\x1b[0m\r\x1b[K", some),
		"binary":   {Script: fmt.Sprintf("head -c %d /dev/zero", some), Unit: []byte{0}, Size: some},
		"slow":     slow,
	} {
		t.Run(name, func(t *testing.T) {
			got := sink(t, f)
			rate := float64(f.Size) / (1 << 20) / got.Took.Seconds()
			t.Logf("%d MiB in %s: %.0f MiB/s, at most %d MiB of memory", f.Size>>20, got.Took, rate, got.Peak>>20)
			if got.Peak > 64<<20*raceSlack {
				t.Errorf("it took %d MiB of memory", got.Peak>>20)
			}
			sum := sha256.New()
			f.Unit = bytes.Repeat(f.Unit, 1+(32<<10)/len(f.Unit)) // the same stream, in fewer copies
			all := &repeated{unit: f.Unit, left: f.Size}
			_, _ = io.Copy(sum, all)
			if want := hex.EncodeToString(sum.Sum(nil)); got.Facts.Sum != want || got.Facts.Bytes != f.Size {
				t.Errorf("%d bytes with the sum %s, want %d with %s", got.Facts.Bytes, got.Facts.Sum, f.Size, want)
			}
			head := make([]byte, len(got.Head))
			_, _ = io.ReadFull(&repeated{unit: f.Unit, left: f.Size}, head)
			if !bytes.Equal(head, got.Head) {
				t.Errorf("the artifact begins with %.60q", got.Head)
			}
			tail := make([]byte, len(got.Tail))
			_, _ = io.ReadFull(&repeated{unit: f.Unit, left: int64(len(tail)), at: int((f.Size - int64(len(tail))) % int64(len(f.Unit)))}, tail)
			if !bytes.Equal(tail, got.Tail) {
				t.Errorf("the artifact ends with %.60q, want %.60q", got.Tail, tail)
			}
			if kept := f.Size - got.Facts.Dropped; kept < min(f.Size, artifactMax) {
				t.Errorf("only %d bytes were kept", kept)
			}
			if len(got.Text) > tool.DefaultInline {
				t.Errorf("the text has %d bytes", len(got.Text))
			}
		})
	}
}

// sink floods another process.
func sink(t *testing.T, f flood) (got caught) {
	t.Helper()
	in, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "-test.run=^TestPromise_P14_AnySizeInLittleMemory$")
	c.Env = append(os.Environ(), "BELAY_TEST_FLOOD="+string(in))
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(line, "CAUGHT "); ok {
			if err := json.Unmarshal([]byte(rest), &got); err != nil {
				t.Fatal(err)
			}
			return got
		}
	}
	t.Fatalf("it said %s", out)
	return got
}

// drown runs a flood and prints what is left of it.
func drown(t *testing.T, in string) {
	var f flood
	if err := json.Unmarshal([]byte(in), &f); err != nil {
		t.Fatal(err)
	}
	debug.SetMemoryLimit(48 << 20) // what is garbage is no need
	dir := t.TempDir()
	j, err := journal.Options{Redactor: secret.New(secret.Options{})}.Open(filepath.Join(dir, "session"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	began := time.Now()
	env := tool.Env{Spill: j.Spill, Live: slowly(f.Slow)}
	r, facts := bashWith(t, bashIn(t, dir, BashOptions{}), env, bashArgs{Command: f.Script, Timeout: 600})
	got := caught{Facts: facts, Text: r.Text, Took: time.Since(began)}
	if len(r.Artifacts) != 1 {
		t.Fatalf("artifacts %v", r.Artifacts)
	}
	a, err := j.Artifact(r.Artifacts[0].Handle)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	got.Head, got.Tail = make([]byte, 4<<10), make([]byte, 4<<10)
	if _, err := io.ReadFull(a, got.Head); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Seek(-int64(len(got.Tail)), io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(a, got.Tail); err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(peak, &got.Peak); err != nil {
		t.Fatal(err)
	}
	got.Peak <<= 10
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("\nCAUGHT %s\n", b)
}

// slowly is a writer that takes its time.
type slowly time.Duration

func (s slowly) Write(b []byte) (int, error) {
	if s > 0 {
		<-time.After(time.Duration(s))
	}
	return len(b), nil
}

// A repeated reads as unit, again and again.
type repeated struct {
	unit []byte
	at   int
	left int64
}

func (r *repeated) Read(b []byte) (n int, err error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	b = b[:min(int64(len(b)), r.left)]
	for n < len(b) {
		c := copy(b[n:], r.unit[r.at:])
		r.at = (r.at + c) % len(r.unit)
		n += c
	}
	r.left -= int64(n)
	return n, nil
}

// TestR142_FarBehindWhatIsShown holds a long text to the same one of which every
// line was looked at.
func TestR142_FarBehindWhatIsShown(t *testing.T) {
	for name, line := range map[string]string{
		"plain":    "line %d\n",
		"coloured": "\x1b[31mline\x1b[0m %d\n",
		"redrawn":  "10%%\r50%%\rline %d\r\n",
		"no end":   "line %d ",
	} {
		t.Run(name, func(t *testing.T) {
			var all bytes.Buffer
			for i := 0; all.Len() < 3*whole; i++ {
				fmt.Fprintf(&all, line, i)
			}
			got := transcript{room: 4 << 10, most: 1000}
			for b := all.Bytes(); len(b) > 0; {
				n := min(len(b), 10_007)
				got.write(b[:n])
				b = b[n:]
			}
			got.close()
			last := all.Bytes()[all.Len()-pastMax/2:]
			if i := bytes.IndexByte(last, '\n'); i >= 0 {
				last = last[i+1:]
			}
			want := transcript{room: 4 << 10, most: 1000}
			want.write(last)
			want.close()
			if diff := cmp.Diff(want.last(tool.EdgeLines, 2000), got.last(tool.EdgeLines, 2000)); diff != "" {
				t.Errorf("the end: %s", diff)
			}
			if lines := int64(bytes.Count(all.Bytes(), []byte("\n"))); got.lines != max(lines, 1) {
				t.Errorf("%d lines, want %d", got.lines, lines)
			}
		})
	}
}

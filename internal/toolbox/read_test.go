package toolbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func TestR087_R090_R092_ReadNumbersLinesAndDescribesTheFile(t *testing.T) {
	const content = "\xEF\xBB\xBFone\r\ntwo\r\nthree"
	d := newDesk(t, map[string]string{"sub/a.txt": content})
	r := d.ok("Read", args{"path": "./sub/../sub/a.txt"})
	if want := "1\tone\n2\ttwo\n3\tthree\n"; r.Text != want {
		t.Errorf("text %q, want %q", r.Text, want)
	}
	info, err := os.Stat(filepath.Join(d.dir, "sub/a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := readData{
		Path: "sub/a.txt", Offset: 1, Lines: 3, TotalLines: 3, Size: int64(len(content)),
		Modified: info.ModTime().UnixMilli(), Digest: edit.Digest([]byte(content)),
		Newline: "\r\n", Encoding: "utf-8 with byte-order mark",
	}
	if d := cmp.Diff(want, facts[readData](t, r)); d != "" {
		t.Errorf("data (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"sub/a.txt": want.Digest}, r.Seen); d != "" {
		t.Errorf("seen (-want +got):\n%s", d)
	}
}

func TestR045_R087_ReadStopsAtItsLimits(t *testing.T) {
	var lines, wide strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&lines, "%d\n", i+1)
		fmt.Fprintf(&wide, "%d %s\n", i+1, strings.Repeat("x", 100))
	}
	d := newDesk(t, map[string]string{"lines": lines.String(), "wide": wide.String()})
	for _, c := range []struct {
		args             args
		lines, next, all int
	}{
		{args{"path": "lines"}, 1_996, 1_997, 5_000},
		{args{"path": "lines", "offset": -3}, 3, 0, 5_000},
		{args{"path": "lines", "offset": -3, "limit": 2}, 2, 5_000, 5_000},
		{args{"path": "lines", "offset": -9_000, "limit": 2}, 2, 3, 5_000},
		{args{"path": "lines", "limit": 10}, 10, 11, 5_000},
		{args{"path": "lines", "offset": 4_990}, 11, 0, 5_000},
		{args{"path": "lines", "offset": 3_001, "limit": 2_000}, 2_000, 0, 5_000},
		{args{"path": "lines", "offset": 5_000, "limit": 1}, 1, 0, 5_000},
		{args{"path": "wide"}, 468, 469, 5_000},
	} {
		r := d.call("Read", c.args)
		got := facts[readData](t, r)
		if got.Lines != c.lines || got.NextOffset != c.next || got.TotalLines != c.all || got.Truncated != (c.next > 0) {
			t.Errorf("Read(%v) shows %d lines of %d, next %d, truncated %t; want %d, %d, %d",
				c.args, got.Lines, got.TotalLines, got.NextOffset, got.Truncated, c.lines, c.all, c.next)
		}
		if got.Truncated != (r.Status == tool.Partial) {
			t.Errorf("Read(%v): truncated %t, status %s", c.args, got.Truncated, r.Status)
		}
		if len(r.Text) > tool.DefaultInline || lineCount(r.Text) > tool.MaxLines {
			t.Errorf("Read(%v): %d bytes, %d lines", c.args, len(r.Text), lineCount(r.Text))
		}
	}
}

func TestBug_R02_NothingToReadHasFourAnswers(t *testing.T) {
	d := newDesk(t, map[string]string{"empty": "", "short": "a\nb\n", "dir/x": "", "config.go": "x"})
	r := d.ok("Read", args{"path": "empty"})
	if r.Text != "empty is empty (0 lines)" || r.Seen["empty"] != edit.Digest(nil) {
		t.Errorf("empty file: %q, seen %v", r.Text, r.Seen)
	}
	if f := d.fails(tool.Invalid, "Read", args{"path": "short", "offset": 3}); f.Message != "read short: line 3 is past the end: it has 2 lines" || f.Hint != "give an offset of at most 2" {
		t.Errorf("past the end: %q, %q", f.Message, f.Hint)
	}
	if f := d.fails(tool.IsDirectory, "Read", args{"path": "dir"}); !strings.Contains(f.Hint, "LS") {
		t.Errorf("directory: %q, %q", f.Message, f.Hint)
	}
	if f := d.fails(tool.NotFound, "Read", args{"path": "confg.go"}); f.Message != "no such file or directory: confg.go" || f.Hint != "did you mean config.go?" {
		t.Errorf("missing: %q, %q", f.Message, f.Hint)
	}
	if len(d.seen) != 1 {
		t.Errorf("failed reads count as seen: %v", d.seen)
	}
}

// A line that is longer than a result can be read to its end by following what
// each result says.
func TestBug_R03_ALongLineCanBeReadToItsEnd(t *testing.T) {
	content := "first\n" + strings.Repeat("日本é", 25_000) + "\nlast"
	d := newDesk(t, map[string]string{"f": content})
	var got strings.Builder
	next := args{"path": "f"}
	for calls := 1; next != nil; calls++ {
		if calls > 10 {
			t.Fatal("the continuation does not end")
		}
		r := d.call("Read", next)
		if !utf8.ValidString(r.Text) {
			t.Fatal("a character was cut")
		}
		data := facts[readData](t, r)
		body, _, _ := strings.Cut(r.Text, "(lines ")
		for line := range strings.Lines(body) {
			_, text, _ := strings.Cut(line, "\t")
			if data.NextColumn > 0 || !strings.Contains(content, text) {
				text = strings.TrimSuffix(text, "\n")
			}
			got.WriteString(text)
		}
		if next = nil; data.Truncated {
			next = args{"path": "f", "offset": data.NextOffset}
			if data.NextColumn > 0 {
				next["column"] = data.NextColumn
			}
		}
	}
	if got.String() != content {
		t.Errorf("the pieces have %d bytes, the file %d", got.Len(), len(content))
	}
}

func TestR089_R091_ReadRefusesWhatIsNoTextInTheWorkspace(t *testing.T) {
	d := newDesk(t, map[string]string{"blob": "\x7fELF\x00\x00", "in/a": "x"})
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(d.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if f := d.fails(tool.Binary, "Read", args{"path": "blob"}); f.Message != "read blob: not text: ELF program or library, 6 bytes" {
		t.Errorf("%q", f.Message)
	}
	for _, path := range []string{"link", "../secret", "in/../../x", outside, "/etc/passwd"} {
		d.fails(tool.OutsideWorkspace, "Read", args{"path": path})
	}
	d.fails(tool.Invalid, "Read", args{"path": ""})
	d.fails(tool.Invalid, "Read", args{"path": "a\x00b"})
	d.fails(tool.NotFound, "Read", args{"path": "in/a/b"})
	d.fails(tool.NotFound, "Read", args{"path": "artifact:aa"}) // without a journal, a name like any other
}

type artifact struct{ *bytes.Reader }

func (artifact) Close() error { return nil }

func TestR102_R240_ReadOpensArtifacts(t *testing.T) {
	d := newDesk(t, nil)
	in := tool.Input{
		Args: json.RawMessage(`{"path":"artifact:ab12","offset":2,"limit":1}`),
		Open: func(handle string) (io.ReadSeekCloser, error) {
			if handle != "artifact:ab12" {
				return nil, errors.New("no such artifact")
			}
			return artifact{bytes.NewReader([]byte("one\ntwo\xff\nthree\n"))}, nil
		},
	}
	a, err := d.tools["Read"].Prepare(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Do(t.Context(), tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "2\ttwo\uFFFD\n(lines 2 to 2 of 3; go on with offset 3)\n"; r.Text != want {
		t.Errorf("text %q, want %q", r.Text, want)
	}
	if len(r.Seen) > 0 || len(a.Effects()) > 0 {
		t.Errorf("an artifact counts as a file: seen %v, effects %v", r.Seen, a.Effects())
	}
	in.Args = json.RawMessage(`{"path":"artifact:cd"}`)
	a, err = d.tools["Read"].Prepare(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Do(t.Context(), tool.Env{})
	if f, ok := errors.AsType[*tool.Failure](err); !ok || f.Kind != tool.NotFound {
		t.Errorf("an unknown handle: %v, want not_found", err)
	}
}

func TestR089_ReadNamesGeneratedFiles(t *testing.T) {
	d := newDesk(t, map[string]string{
		"gen.go":  "// Code generated by protoc-gen-go. DO NOT EDIT.\n\npackage p\n",
		"own.go":  "// generated by hand\npackage p\n",
		"late.go": strings.Repeat("// line\n", 200) + "// Code generated by x. DO NOT EDIT.\n",
	})
	for path, want := range map[string]bool{"gen.go": true, "own.go": false, "late.go": false} {
		r := d.ok("Read", args{"path": path})
		if got := facts[readData](t, r).Generated; got != want || got != strings.HasSuffix(r.Text, "(generated: change what it is made from)\n") {
			t.Errorf("%s: generated %t, want %t; %q", path, got, want, r.Text)
		}
	}
}

// A large file is read page by page: what is in memory does not grow with it, and
// it counts neither as seen nor as known by its digest.
func TestR088_R092_LargeFilesArePaged(t *testing.T) {
	d := newDesk(t, map[string]string{"sparse": "first\n"})
	f, err := os.OpenFile(filepath.Join(d.dir, "sparse"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	const size = 1 << 30
	_, middle := f.WriteAt([]byte("\nthe middle\r\nzweite Zeile: \xfcber\r\n"), size/2)
	_, end := f.WriteAt([]byte("\nlast but one\nlast"), size-18)
	if err := errors.Join(middle, end, f.Close()); err != nil {
		t.Skipf("make a sparse file: %v", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := d.call("Read", args{"path": "sparse", "offset": 3, "limit": 2})
	runtime.ReadMemStats(&after)
	if want := "3\tthe middle\n4\tzweite Zeile: über\n(lines 3 to 4 of a file of 1073741824 bytes; go on with offset 5)\n"; r.Text != want {
		t.Errorf("the middle: %q, want %q", r.Text, want)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
	got := facts[readData](t, r)
	if got.Size != size || got.Digest != "" || got.Modified == 0 || got.TotalLines != 0 || got.NextOffset != 5 || len(r.Seen) > 0 {
		t.Errorf("%+v, seen %v", got, r.Seen)
	}
	if runtime.GOOS == "linux" && got.Inode == 0 {
		t.Error("no inode")
	}
	r = d.ok("Read", args{"path": "sparse", "offset": -2})
	if want := "6\tlast but one\n7\tlast\n"; r.Text != want || facts[readData](t, r).TotalLines != 7 {
		t.Errorf("the end: %q, %s", r.Text, r.Data)
	}
	d.fails(tool.Binary, "Read", args{"path": "sparse", "offset": 2})
	if f := d.fails(tool.Invalid, "Read", args{"path": "sparse", "offset": 8}); f.Hint != "give an offset of at most 7" {
		t.Errorf("past the end: %q", f.Hint)
	}
	d.fails(tool.Invalid, "Read", args{"path": "sparse", "offset": 3, "column": 40})
	d.fails(tool.TooLarge, "Read", args{"path": "sparse", "symbol": "X"})
	d.fails(tool.TooLarge, "Edit", args{"path": "sparse", "old": "first", "new": "1"})
}

// Lines and bytes of a large file are the same as those of the same file read
// whole, to the end of a line that is larger than any page.
func TestBug_R03_ALongLineOfALargeFileCanBeReadToItsEnd(t *testing.T) {
	content := strings.Repeat("a line\n", 50_000) + strings.Repeat("日本é", 25_000) + "\r\nlast\xff\xfe" + strings.Repeat("é", 90)
	d := newDesk(t, map[string]string{"f": content})
	raw, err := d.w.OpenRaw("f")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	next := readArgs{Path: "f", Offset: 49_999}
	for calls := 0; next.Path != ""; calls++ {
		if calls > 10 {
			t.Fatal("the continuation does not end")
		}
		large, err := readLarge(t.Context(), raw, []byte(content[:headBytes]), next)
		if err != nil {
			t.Fatal(err)
		}
		whole := d.call("Read", args{"path": "f", "offset": next.Offset, "column": max(next.Column, 1)})
		shown, _, _ := strings.Cut(large.Text, "(lines ")
		if want, _, _ := strings.Cut(whole.Text, "(lines "); shown != want || shown == "" {
			t.Fatalf("offset %d, column %d: %d bytes are shown, %d of the whole", next.Offset, next.Column, len(shown), len(want))
		}
		got := facts[readData](t, large)
		next = readArgs{Offset: got.NextOffset, Column: got.NextColumn}
		if got.Truncated {
			next.Path = "f"
		}
	}
}

// A file in another encoding is shown right, and edited in its own: what was not
// asked for keeps its bytes, and what cannot be written is refused.
func TestR090_Bug_E01_FilesKeepTheirEncoding(t *testing.T) {
	for _, c := range []struct {
		raw, encoding, shown string
		old, new, want       string
	}{
		{"k = 1\n\xc4\xe3\xba\xc3\n", "gb18030", "1\tk = 1\n2\t你好\n", "k = 1", "k = 2 们", "k = 2 \xc3\xc7\n\xc4\xe3\xba\xc3\n"},
		{"\xff\xfek\x00\r\x00\n\x00\xe9\x00", "utf-16le with byte-order mark", "1\tk\n2\té\n", "k", "l\n日", "\xff\xfel\x00\r\x00\n\x00\xe5\x65\r\x00\n\x00\xe9\x00"},
		{"caf\xe9 = 1\n", "iso-8859-1", "1\tcafé = 1\n", "1", "ü", "caf\xe9 = \xfc\n"},
		{"\x96 caf\xe9\n", "windows-1252", "1\t– café\n", "–", "€", "\x80 caf\xe9\n"},
		{"k = 1\n\x82\xb1\x82\xf1\x82\xc9\n", "shift_jis", "1\tk = 1\n2\tこんに\n", "k", "猫", "\x94\x4c = 1\n\x82\xb1\x82\xf1\x82\xc9\n"},
	} {
		d := newDesk(t, map[string]string{"f": c.raw})
		r := d.ok("Read", args{"path": "f"})
		if got := facts[readData](t, r); r.Text != c.shown || got.Encoding != c.encoding {
			t.Errorf("%s: %q, %s", c.encoding, r.Text, got.Encoding)
		}
		d.ok("Edit", args{"path": "f", "old": c.old, "new": c.new})
		d.holds("f", c.want)
	}
	d := newDesk(t, map[string]string{"f": "caf\xe9 = 1\n", "g": "\xcf\xf0\xe8\xe2\xe5\xf2\n"})
	d.ok("Read", args{"path": "f"})
	if f := d.fails(tool.Invalid, "Edit", args{"path": "f", "old": "1", "new": "日"}); !strings.Contains(f.Message, "'日' is not in iso-8859-1") {
		t.Errorf("%q, %q", f.Message, f.Hint)
	}
	d.holds("f", "caf\xe9 = 1\n")
	if r := d.ok("Read", args{"path": "g"}); !strings.HasSuffix(r.Text, "(its encoding cannot be told: what is no ASCII may look wrong)\n") {
		t.Errorf("%q", r.Text)
	}
}

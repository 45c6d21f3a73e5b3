package toolbox

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// written is what f writes.
func written(t testing.TB, f func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipped(w io.Writer) error {
	z := zip.NewWriter(w)
	f, err := z.Create("a.txt")
	if err == nil {
		_, err = f.Write([]byte("text"))
	}
	if err != nil {
		return err
	}
	return z.Close()
}

func tarred(w io.Writer) error {
	a := tar.NewWriter(w)
	if err := a.WriteHeader(&tar.Header{Name: "a", Size: 1, Mode: 0o644}); err != nil {
		return err
	}
	if _, err := a.Write([]byte("x")); err != nil {
		return err
	}
	return a.Close()
}

func gzipped(w io.Writer) error {
	z := gzip.NewWriter(w)
	if _, err := z.Write([]byte("text")); err != nil {
		return err
	}
	return z.Close()
}

func TestR089_ReadNamesWhatIsNoText(t *testing.T) {
	files := map[string]string{
		"a.zip": written(t, zipped), "a.tar": written(t, tarred), "a.gz": written(t, gzipped),
		"a.pdf": "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n\x00", "a.db": "SQLite format 3\x00\x10\x00", "data": "\x01\x00\x02\x00",
		"a.webp": "RIFF\x10\x00\x00\x00WEBPVP8 ", "cut.png": "\x89PNG\r\n\x1a\n\x00", "u32": "\xff\xfe\x00\x00a\x00\x00\x00",
	}
	d := newDesk(t, files)
	for path, want := range map[string]string{
		"a.zip": "zip archive (also jar, docx, xlsx, apk, whl)", "a.tar": "tar archive", "a.gz": "gzip archive",
		"a.pdf": "PDF document", "a.db": "SQLite database", "data": "binary data", "a.webp": "WebP image",
		"cut.png": "PNG image", "u32": "UTF-32 text",
	} {
		f := d.fails(tool.Binary, "Read", args{"path": path})
		var detail struct {
			Type string
			Size int
		}
		if err := json.Unmarshal(f.Detail, &detail); err != nil {
			t.Fatal(err)
		}
		if detail.Type != want || detail.Size != len(files[path]) || !strings.Contains(f.Message, "not text: "+want) || f.Hint == "" {
			t.Errorf("%s: %q, %q, %s; want %s", path, f.Message, f.Hint, f.Detail, want)
		}
	}
	if len(d.seen) > 0 {
		t.Errorf("they count as seen: %v", d.seen)
	}
}

func TestR089_ReadNamesMinifiedFiles(t *testing.T) {
	d := newDesk(t, map[string]string{
		"a.min.js": "a=1", "b.js": strings.Repeat("a=1;", 1000) + "\n", "own.js": strings.Repeat("let a = 1;\n", 500), "data.json": strings.Repeat("1,", 2000),
	})
	for path, want := range map[string]bool{"a.min.js": true, "b.js": true, "own.js": false, "data.json": false} {
		r := d.ok("Read", args{"path": path})
		if got := facts[readData](t, r).Minified; got != want || got != strings.HasSuffix(r.Text, "(minified: change what it is made from)\n") {
			t.Errorf("%s: minified %t, want %t", path, got, want)
		}
	}
}

// A spill keeps an artifact in memory.
type spill struct {
	bytes.Buffer
	closed bool
}

func (s *spill) Close() error { s.closed = true; return nil }

func (s *spill) Handle() string {
	if !s.closed {
		return "not closed"
	}
	return "artifact:" + edit.Digest(s.Bytes())
}

func TestR089_ImagesThatAreImagesAreMedia(t *testing.T) {
	picture := image.NewPaletted(image.Rect(0, 0, 7, 5), color.Palette{color.Black, color.White})
	files := map[string]string{
		"a.png":  written(t, func(w io.Writer) error { return png.Encode(w, picture) }),
		"a.jpg":  written(t, func(w io.Writer) error { return jpeg.Encode(w, picture, nil) }),
		"a.gif":  written(t, func(w io.Writer) error { return gif.Encode(w, picture, nil) }),
		"a.webp": "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\x06\x00\x01\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00", // one colour
	}
	files["named.txt"] = files["a.png"]
	files["cut.png"] = files["a.png"][:len(files["a.png"])-20]
	files["cut.jpg"] = files["a.jpg"][:len(files["a.jpg"])/2]
	files["cut.webp"] = files["a.webp"][:len(files["a.webp"])-8]
	files["text.png"] = "no image\n"
	files["text.gif"] = "GIF89a is how they begin\n"
	files["wide.png"] = written(t, func(w io.Writer) error { return png.Encode(w, image.NewGray(image.Rect(0, 0, maxSide+1, 1))) })
	files["large.png"] = files["a.png"] + strings.Repeat("x", maxImage)
	d := newDesk(t, files)
	for path, format := range map[string]string{"a.png": "image/png", "a.jpg": "image/jpeg", "a.gif": "image/gif", "a.webp": "image/webp", "named.txt": "image/png"} {
		a, err := d.prepare("Read", args{"path": path})
		if err != nil {
			t.Fatal(err)
		}
		s := new(spill)
		r, err := a.Do(t.Context(), tool.Env{Spill: func(string) (tool.Spill, error) { return s, nil }})
		if err != nil {
			t.Fatal(err)
		}
		digest := edit.Digest([]byte(files[path]))
		want := []tool.Artifact{{Handle: "artifact:" + digest, Type: format, Bytes: int64(len(files[path]))}}
		if diff := cmp.Diff(want, r.Media); diff != "" || s.String() != files[path] {
			t.Errorf("%s: media (-want +got):\n%s", path, diff)
		}
		if got := facts[imageData](t, r); got.Width != 7 || got.Height != 5 || got.Digest != digest || r.Seen[path] != digest {
			t.Errorf("%s: %+v, seen %v", path, got, r.Seen)
		}
	}
	if r := d.ok("Read", args{"path": "a.png"}); len(r.Media) > 0 || !strings.Contains(r.Text, "7 by 5 pixels") {
		t.Errorf("without a store: %q, %v", r.Text, r.Media)
	}
	for path, kind := range map[string]tool.Kind{"cut.png": tool.Binary, "cut.jpg": tool.Binary, "cut.webp": tool.Binary, "wide.png": tool.TooLarge, "large.png": tool.TooLarge} {
		d.fails(kind, "Read", args{"path": path})
	}
	for _, path := range []string{"text.png", "text.gif"} {
		if r := d.ok("Read", args{"path": path}); r.Text != "1\t"+files[path] {
			t.Errorf("%s: %q", path, r.Text)
		}
	}
}

// TestR250_AnImageIsReadBackFromItsArtifact: what a compaction took out of the talk
// is shown again by its handle. One that is damaged is none.
func TestR250_AnImageIsReadBackFromItsArtifact(t *testing.T) {
	picture := written(t, func(w io.Writer) error {
		return png.Encode(w, image.NewPaletted(image.Rect(0, 0, 7, 5), color.Palette{color.Black, color.White}))
	})
	d := newDesk(t, nil)
	read := func(content string) (tool.Result, error) {
		a, err := d.tools["Read"].Prepare(t.Context(), tool.Input{
			Args: []byte(`{"path":"artifact:ab12"}`),
			Open: func(string) (io.ReadSeekCloser, error) { return artifact{bytes.NewReader([]byte(content))}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return a.Do(t.Context(), tool.Env{})
	}
	r, err := read(picture)
	if err != nil {
		t.Fatal(err)
	}
	want := []tool.Artifact{{Handle: "artifact:ab12", Type: "image/png", Bytes: int64(len(picture))}}
	if diff := cmp.Diff(want, r.Media); diff != "" || len(r.Seen) > 0 || !strings.Contains(r.Text, "7 by 5 pixels") {
		t.Errorf("%q, seen %v, media (-want +got):\n%s", r.Text, r.Seen, diff)
	}
	if r, err := read(picture[:len(picture)-20]); err == nil {
		t.Errorf("a damaged one is %+v", r)
	}
}

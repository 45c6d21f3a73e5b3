package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// large makes a workspace of 5,000 files in 500 directories, four deep.
func large(b *testing.B) *Workspace {
	b.Helper()
	root := b.TempDir()
	for d := range 500 {
		dir := filepath.Join(root, fmt.Sprint("a", d%5), fmt.Sprint("b", d%25), fmt.Sprint("c", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 10 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f, ".go")), []byte("package p\n"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.o\n/build/\nnode_modules/\n!keep.o\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	w, err := Open(root)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = w.Close() })
	return w
}

func BenchmarkFiles(b *testing.B) {
	w := large(b)
	for b.Loop() {
		n := 0
		for _, err := range w.Files(context.Background(), ".") {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 5000 {
			b.Fatalf("%d files", n)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	w := large(b)
	for b.Loop() {
		if _, err := w.Read("a1/b1/c1/1.go"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeCRLF(b *testing.B) {
	raw := []byte(strings.Repeat("some text of a usual line\r\n", 40_000))
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		decode(raw, &codecUTF8)
	}
}

// BenchmarkDecode shows a text of 1 MB in each encoding that is told by looking.
func BenchmarkDecode(b *testing.B) {
	for name, raw := range map[string]string{
		UTF8: strings.Repeat(chinese, 16_000), UTF16LEMark: markOfUTF16LE + strings.Repeat("\x2d\x4e\n\x00", 250_000),
		GB18030: strings.Repeat(encoded(b, simplifiedchinese.GB18030, chinese), 12_000), ShiftJIS: strings.Repeat("\x82\xb1\x82\xf1\n", 200_000),
		Windows1252: strings.Repeat("caf\xe9 \x96 \xfcber\n", 70_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if code := detect([]byte(raw)); code.name != name || decode([]byte(raw), code).Content == "" {
					b.Fatal(code.name)
				}
			}
		})
	}
}

// BenchmarkWrite is one edit, with its two syncs.
func BenchmarkWrite(b *testing.B) {
	w := large(b)
	const path = "a1/b1/c1/1.go"
	for b.Loop() {
		text, err := w.Read(path)
		if err != nil {
			b.Fatal(err)
		}
		r, err := text.Region(0, 0, "// x\n")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.Write([]edit.Intent{{Path: path, Base: text.Digest, Regions: []edit.Region{r}}}); err != nil {
			b.Fatal(err)
		}
	}
}

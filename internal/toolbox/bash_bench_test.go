//go:build linux

package toolbox

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/secret"
	"github.com/belay-agent/belay/internal/world/journal"
)

// BenchmarkCapture has Bash run cat on a large file, beside what this machine
// takes to copy it to another, and to read it from a pipe and do nothing with it.
func BenchmarkCapture(b *testing.B) {
	const size = 512 << 20
	dir := b.TempDir()
	big := filepath.Join(dir, "big")
	line := []byte("ok  	example.com/some/package/of/a/project	0.412s	coverage: 81.3% of statements\n")
	if err := os.WriteFile(big, bytes.Repeat(line, size/len(line)), 0o600); err != nil {
		b.Fatal(err)
	}
	measure := func(name string, do func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				do(b)
			}
		})
	}
	measure("file", func(b *testing.B) {
		if out, err := exec.Command("sh", "-c", "cat "+big+" >"+big+".copy").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	})
	measure("pipe", func(b *testing.B) {
		cat := exec.Command("cat", big)
		cat.Stdout = struct{ io.Writer }{io.Discard}
		if err := cat.Run(); err != nil {
			b.Fatal(err)
		}
	})
	capture := func(spill func(string) (tool.Spill, error)) func(b *testing.B) {
		bash := bashIn(b, dir, BashOptions{})
		return func(b *testing.B) {
			_, f := bashWith(b, bash, tool.Env{Spill: spill, Live: io.Discard}, bashArgs{Command: "cat big"})
			if f.Bytes != size/int64(len(line))*int64(len(line)) {
				b.Fatalf("%d bytes", f.Bytes)
			}
		}
	}
	measure("capture", capture(new(shelf).spill))
	j, err := journal.Options{Redactor: secret.New(secret.Options{})}.Open(filepath.Join(dir, "session"))
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	measure("capture, redacted", capture(j.Spill))
}

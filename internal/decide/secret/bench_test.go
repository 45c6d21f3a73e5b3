package secret

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// lazily is how Belay itself makes a Redactor.
func lazily(o Options) *Redactor {
	o.Once = sync.OnceValue[*regexp.Regexp]
	return New(o)
}

func BenchmarkNew(b *testing.B) {
	held := map[string]string{"A": key, "B": "sk-ant-0123456789abcdefghijklmnopqrstuvwxyz"}
	b.Run("rules", func(b *testing.B) {
		for b.Loop() {
			lazily(Options{})
		}
	})
	b.Run("rules and two keys", func(b *testing.B) {
		for b.Loop() {
			lazily(Options{Held: held})
		}
	})
	b.Run("compiled", func(b *testing.B) {
		for b.Loop() {
			New(Options{})
		}
	})
}

// A log is what commands print most: no anchor is in it.
func log() string {
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "2026-11-30 12:%02d:%02d.%03d INFO  worker %d finished job %d in %d ms, %d rows left\n", i/60%60, i%60, i%1000, i%7, i, i%911, 20000-i)
	}
	return b.String()
}

// code is what holds anchors: the standard library that speaks of keys and tokens.
func code(b testing.TB) string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("there is no go command: ", err)
	}
	var all strings.Builder
	for _, dir := range []string{"go/parser", "go/token", "encoding/json", "net/http", "crypto/tls"} {
		names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", dir, "*.go"))
		if err != nil || len(names) == 0 {
			b.Skip("there is no source of the standard library")
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				b.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

// BenchmarkRules beside BenchmarkExpressionsOnly shows what anchors buy.
func BenchmarkRules(b *testing.B) {
	r := lazily(Options{Held: map[string]string{"KEY": "sk-0123456789abcdefghijklmnopqrstuvwxyz"}})
	for name, text := range map[string][]byte{"log": []byte(log()), "code": []byte(code(b))} {
		b.Run("find/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.find(text, true)
			}
		})
		b.Run("rules/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.byRules(text, true)
			}
		})
		b.Run("anchors/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for at := 0; at < len(text); at++ {
					at, _ = r.rules.next(text, at)
				}
			}
		})
		b.Run("stream/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				w := r.Writer(io.Discard)
				for rest := text; len(rest) > 0; {
					n := min(len(rest), 32<<10)
					w.Write(rest[:n])
					rest = rest[n:]
				}
				w.Close()
			}
		})
	}
}

// BenchmarkExpressionsOnly looks for the same tokens without anchors.
func BenchmarkExpressionsOnly(b *testing.B) {
	var all []*regexp.Regexp
	for line := range strings.Lines(table) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(f) == 6 && f[5] != "." {
			all = append(all, regexp.MustCompile(f[5]))
		}
	}
	text := []byte(log())[:1<<18]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for _, re := range all {
			re.Find(text)
		}
	}
}

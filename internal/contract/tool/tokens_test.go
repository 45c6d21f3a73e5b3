package tool

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// samples are what results are made of.
func samples(t *testing.T) map[string]string {
	read := func(path ...string) string {
		b, err := os.ReadFile(filepath.Join(path...))
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:min(len(b), 60<<10)])
	}
	var sums, coded strings.Builder
	for i := range 500 {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		sums.WriteString(hex.EncodeToString(sum[:]) + "  file.txt\n")
		coded.WriteString(base64.StdEncoding.EncodeToString(sum[:]))
	}
	root := "../../.."
	return map[string]string{
		"English": read(root, "docs/reliability.md"), "Chinese": read(root, "README.zh-CN.md"), "Go": read(root, "internal/agent/do.go") + read(root, "internal/agent/agent.go"),
		"tests":   read(root, "internal/toolbox/diagnostic/testdata/go-test-json-1.26.8-several-failures.txt"),
		"digests": sums.String(), "base64": coded.String(),
		"log":      strings.Repeat("2026-11-30T12:34:56.789Z INFO  [worker-7] handled GET /api/v1/items/4711?limit=20 in 12.4ms\n", 400),
		"Japanese": strings.Repeat("ファイルを読み込めませんでした。もう一度お試しください。", 200),
		"Russian":  strings.Repeat("Не удалось прочитать файл: доступ запрещён. Попробуйте ещё раз.\n", 200),
	}
}

// R144: an estimate is near what a model's own count would be, of all that tools
// return.
func TestR144_TokensAreEstimated(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range samples(t) {
		want, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		got := EstimateTokens(text)
		t.Logf("%-8s %6d bytes, %5d tokens, estimated %5d (%+.0f %%)", name, len(text), want, got, 100*(float64(got)/float64(want)-1))
		if off := math.Abs(float64(got)/float64(want) - 1); off > 0.3 {
			t.Errorf("%s: %d, want about %d", name, got, want)
		}
	}
}

// R144: limits count tokens as well as bytes.
func TestR144_LimitsCountBytesAndTokens(t *testing.T) {
	for name, text := range samples(t) {
		text = strings.Repeat(text, 1+DefaultInline/len(text))
		text = text[:min(len(text), DefaultInline)]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		before := EstimateTokens(text)
		short, cut := Excerpt(text, DefaultInline, "artifact:x")
		if dense := before > MaxTokens; dense != cut && countLines(text) <= MaxLines {
			t.Errorf("%s: %d tokens, cut: %t", name, before, cut)
		}
		if got := EstimateTokens(short); got > MaxTokens || len(short) > DefaultInline {
			t.Errorf("%s: %d tokens, %d bytes", name, got, len(short))
		}
		if cut && !strings.Contains(short, "artifact:x") {
			t.Errorf("%s: the cut does not say where the rest is", name)
		}
	}
}

func FuzzEstimateTokens(f *testing.F) {
	f.Add("a bc 123 \xff 漢字")
	f.Fuzz(func(t *testing.T, s string) {
		if n := EstimateTokens(s); n < 0 || n > 2*len(s)+1 {
			t.Errorf("%d tokens of %d bytes", n, len(s))
		}
	})
}

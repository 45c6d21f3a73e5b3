package tool

import (
	"os"
	"testing"
)

// BenchmarkEstimateTokens over English, Go and Chinese of this repository.
func BenchmarkEstimateTokens(b *testing.B) {
	for name, path := range map[string]string{
		"English": "../../../docs/reliability.md", "Go": "../../agent/agent.go", "Chinese": "../../../README.zh-CN.md",
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			s := string(text)
			for b.Loop() {
				if EstimateTokens(s) == 0 {
					b.Fatal("nothing")
				}
			}
		})
	}
}

package compaction

import (
	"bytes"
	"strings"
	"testing"
)

func TestWrongUsage(t *testing.T) {
	for want, args := range map[string][]string{
		`no session is named "nosuch"`:       {"nosuch"},
		`flag provided but not defined: -ol`: {"-ol"},
		`provider "nope"`:                    {"-model", "nope/x", quick},
	} {
		var stdout, stderr bytes.Buffer
		if status := Main(limited(t), args, &stdout, &stderr); status != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: status %d, stdout %q, stderr %q", args, status, stdout.String(), stderr.String())
		}
	}
}

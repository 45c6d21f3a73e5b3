package loop

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/pattern"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// alike reports whether both ask for the same calls and got the same results, but
// for how long they took and what time it was.
func alike(a, b session.Exchange) bool {
	return slices.EqualFunc(a.Message.Calls(), b.Message.Calls(), func(a, b tool.Call) bool {
		return a.Tool == b.Tool && (bytes.Equal(a.Args, b.Args) || bytes.Equal(compact(a.Args), compact(b.Args)))
	}) && slices.EqualFunc(a.Results, b.Results, func(a, b *tool.Result) bool {
		return a != nil && b != nil && a.Status == b.Status && sameText(a.Text, b.Text)
	})
}

func compact(args json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return args
	}
	return b.Bytes()
}

// timeRE finds what differs between two runs of one command that found the same:
// durations, times of day and dates, and the handles of outputs that hold them.
var timeRE = pattern.Later(`\b\d+(?:\.\d+)?\s?(?:ns|[µu]s|ms|s|secs?|seconds?|m|mins?|minutes?)\b|\b(?:\d+m)?\d+(?:\.\d+)?s\b|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?\b|\bartifact:[0-9a-f]+\b`)

// sameText compares line by line, so that only lines that differ are searched for
// times.
func sameText(a, b string) bool {
	if a == b {
		return true
	}
	for more := true; more; {
		var one, other string
		var also bool
		one, a, more = strings.Cut(a, "\n")
		other, b, also = strings.Cut(b, "\n")
		if more != also || one != other && timeRE().ReplaceAllString(one, "#") != timeRE().ReplaceAllString(other, "#") {
			return false
		}
	}
	return true
}

// leastWords is how many bytes of words are enough to be called a repetition: less
// is what anyone says before a call.
const leastWords = 60

func sameWords(a, b session.Exchange) bool {
	words := strings.TrimSpace(a.Message.Text())
	return len(words) >= leastWords && words == strings.TrimSpace(b.Message.Text())
}

// inside are the tools that see nothing but the workspace and the session: what
// they say changes only if somebody changes something there.
var inside = []string{"Read", "LS", "Glob", "Grep", "Write", "Edit", "MultiEdit", "Patch", "Rename", "Todo"}

// waits reports whether a step may be waiting for the world outside.
func waits(x session.Exchange) bool {
	return slices.ContainsFunc(x.Message.Calls(), func(c tool.Call) bool { return !slices.Contains(inside, c.Tool) })
}

// A text stutters if it ends in at least eight equal pieces, which make at least
// 400 bytes of it.
const (
	leastPieces  = 8
	leastStutter = 400
	maxPiece     = 1000
)

func stutters(text string) bool {
	text = strings.TrimSpace(text)
	for size := 1; size <= min(maxPiece, len(text)/leastPieces); size++ {
		n := 1
		end := text[len(text)-size:]
		for at := len(text) - 2*size; at >= 0 && text[at:at+size] == end; at -= size {
			n++
		}
		if n >= leastPieces && n*size >= leastStutter && strings.TrimLeft(end, "-=_*# \n") != "" {
			return true
		}
	}
	return false
}

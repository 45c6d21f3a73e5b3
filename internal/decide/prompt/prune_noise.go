package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/pattern"
	"github.com/belay-agent/belay/internal/decide/session"
)

var (
	// escapeRE is what a terminal obeys: control sequences, titles and the like.
	escapeRE = pattern.Later(`\x1b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])`)

	// base64RE is a run that no words are: whole lines of it, or one long one.
	base64RE = pattern.Later(`(?:[A-Za-z0-9+/]{60,}={0,2}\r?\n){4,}[A-Za-z0-9+/]*={0,2}|[A-Za-z0-9+/]{400,}={0,2}`)

	// frameRE is a line that says where something happened.
	frameRE = pattern.Later(`(?m)^.*[\w./-]+\.[A-Za-z]{1,5}["']?[:(, ]+(?:line )?\d+.*$`)
)

// withoutNoise returns text without what no reader needs: escape sequences and
// encoded bytes.
func withoutNoise(text string) string {
	if strings.Contains(text, "\x1b") {
		text = escapeRE().ReplaceAllString(text, "")
	}
	if !encoded(text) {
		return text
	}
	return base64RE().ReplaceAllStringFunc(text, func(run string) string {
		if !mixed(run) {
			return run
		}
		return fmt.Sprintf("[%d bytes of base64]", len(run))
	})
}

// encoded reports whether text has 60 bytes of base64 in a row, without which
// base64RE finds nothing. Most texts have not, and the look is cheap beside the
// search.
func encoded(text string) bool {
	run := 0
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '+', c == '/':
			if run++; run == 60 {
				return true
			}
		default:
			run = 0
		}
	}
	return false
}

// mixed reports whether a run has what encoded bytes have and a ruler, a hash or a
// long word has not: capitals, small letters and digits.
func mixed(run string) bool {
	return strings.ContainsAny(run, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(run, "ghijklmnopqrstuvwxyz") &&
		strings.ContainsAny(run, "0123456789")
}

// maxFrames is how many lines that say where are left of a failed run.
const maxFrames = 8

// failures says what a run came to: of one that failed the cases, and the lines of
// the output that say where.
func failures(run session.Run, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", run.Command, run.Outcome)
	if run.Counts != "" {
		b.WriteString(" (" + run.Counts + ")")
	}
	if run.Outcome == "passed" || run.Outcome == "succeeded" {
		return b.String()
	}
	for _, f := range run.Failing {
		b.WriteString("\n  " + f)
	}
	if run.More > 0 {
		fmt.Fprintf(&b, "\n  and %d more", run.More)
	}
	said := make(map[string]bool)
	for _, frame := range frameRE().FindAllString(text, 200) {
		frame = clipped(strings.TrimSpace(frame), 200)
		if said[frame] || len(said) == maxFrames || strings.Contains(b.String(), frame) {
			continue
		}
		said[frame] = true
		b.WriteString("\n  " + frame)
	}
	if len(run.Failing)+len(said) == 0 { // nothing was recognised: its end says most
		b.WriteString("\n" + tailOf(strings.TrimSpace(text), 600))
	}
	return b.String()
}

// shortArgs returns arguments whose long strings are cut, and whether any was.
func shortArgs(args json.RawMessage, most int) (json.RawMessage, bool) {
	var v any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if len(args) <= most || d.Decode(&v) != nil {
		return args, false
	}
	cut := false
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			if len(v) > most {
				cut = true
				return clipped(v, most/2) + fmt.Sprintf(" [... %d bytes of it are left out]", len(v)-len(headOf(v, most/2)))
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		}
		return v
	}
	v = walk(v)
	if !cut {
		return args, false
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return args, false
	}
	return bytes.TrimSpace(out.Bytes()), true
}

// clipped returns at most about n bytes of s, and says if that is not all.
func clipped(s string, n int) string {
	if short := headOf(s, n); short != s {
		return short + "..."
	}
	return s
}

func headOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tailOf returns the last lines of s, at most n bytes.
func tailOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if _, rest, ok := strings.Cut(s, "\n"); ok {
		s = rest
	}
	return "[...]\n" + strings.ToValidUTF8(s, "")
}

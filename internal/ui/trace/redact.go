package trace

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/pattern"
)

// A Redaction takes out of a page what is not for others: words, contents and
// commands become their size and a keyed digest, by which equal texts can be told
// to be equal and nothing can be guessed. Structure, kinds, timings, sizes, costs,
// decisions and the rules that made them stay, and so do the names of files in the
// workspace; other paths are shortened.
type Redaction struct {
	Key   []byte // of the digests; new for each page
	Root  string // the workspace
	Names []Name // further words to replace, longer ones first: home, user, host
}

// A Name is a word, and what stands in its place.
type Name struct{ Word, With string }

// structural are the keys whose strings say how and not what. A string under any
// other key is content until it is known not to be, so that a new field is never
// shown to others by mistake.
var structural = map[string]bool{
	// of events and calls
	"session": true, "version": true, "mode": true, "parent": true, "call": true, "id": true, "tool": true, "verdict": true,
	"remember": true, "also": true, "as": true, "status": true, "stop": true, "state": true, "trigger": true, "origin": true,
	"profile": true, "confined": true, "idempotency": true, "risk": true, "evidence": true,
	// of models and messages
	"model": true, "from": true, "role": true, "to": true, "type": true, "effort": true,
	// of effects, edits and items
	"slot": true, "mode_was": true, "was": true, "kind": true, "effects": true, "inexact": true, "rule": true,
}

// foreign are the keys of what tools, models and providers shape: what a key means
// in there is theirs, so every string is content.
var foreign = map[string]bool{"args": true, "data": true, "raw": true, "input": true, "fingerprint": true, "detail": true, "malformed": true}

// pathKeys are the keys whose strings are names of files.
var pathKeys = map[string]bool{"path": true, "file_path": true, "root": true, "on": true, "mentions": true, "cwd": true, "dir": true}

var (
	digestRE   = pattern.Later(`[0-9a-f]{40,64}`)
	absoluteRE = pattern.Later(`(^|/|[^\pL\pN_./~\]-])[~/](?:[^/\s"'()*,;:]*/)+([^/\s"'(),;:]+)`) // a path of several elements
)

// text says how much there was, and which text it was among others.
func (x *Redaction) text(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("[%d bytes #%s]", len(s), x.sum(s)[:8])
}

func (x *Redaction) sum(s string) string {
	mac := hmac.New(sha256.New, x.Key)
	mac.Write([]byte(s))
	return hex.EncodeToString(mac.Sum(nil))
}

// names takes the names of places, people and machines out of s, shortens paths that
// lead out of the workspace to their last element, and makes digests ones that fit
// no file.
func (x *Redaction) names(s string) string {
	if x.Root != "" && x.Root != "/" {
		s = replaceWord(s, x.Root, "[workspace]")
	}
	for _, n := range x.Names {
		if len(n.Word) > 1 {
			s = replaceWord(s, n.Word, n.With)
		}
	}
	s = absoluteRE().ReplaceAllString(s, "$1…/$2")
	return digestRE().ReplaceAllStringFunc(s, func(d string) string { return x.sum(d)[:len(d)] })
}

// replaceWord replaces word where no letter or digit goes on with it.
func replaceWord(s, word, with string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, word)
		if i < 0 {
			return b.String() + s
		}
		end := i + len(word)
		b.WriteString(s[:i])
		if i > 0 && wordByte(s[i-1]) && wordByte(word[0]) || end < len(s) && wordByte(s[end]) {
			b.WriteString(word)
		} else {
			b.WriteString(with)
		}
		s = s[end:]
	}
}

func wordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}

func (x *Redaction) row(r row) row {
	switch r.Kind {
	case "opened", "ruled":
		r.Line = x.names(r.Line)
	case "decided":
		r.Line = x.reason(r.By, r.Line)
	case "stopped":
		r.Line = x.text(r.Line)
	default:
		r.Line = x.text(r.Line)
	}
	for i, p := range r.Paths {
		r.Paths[i] = x.names(p)
	}
	calls := make([]asked, len(r.Calls))
	for i, c := range r.Calls {
		calls[i] = asked{c.ID, c.Tool, x.text(c.Line)}
	}
	if r.Calls = calls; len(calls) == 0 {
		r.Calls = nil
	}
	r.By, r.Of, r.Error, r.Model, r.Status = x.names(r.By), "", x.names(r.Error), x.names(r.Model), x.names(r.Status)
	return r
}

// reason is what a decision is for: a person's words are the person's.
func (x *Redaction) reason(by, reason string) string {
	if by == "person" || by == "code" {
		return x.text(reason)
	}
	return x.names(reason)
}

// body returns the JSON of an event of that kind without what is not for others.
func (x *Redaction) body(kind string, b []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return []byte(`{}`)
	}
	m, _ := v.(map[string]any)
	by, _ := m["by"].(string)
	reason, _ := m["reason"].(string)
	v = x.value("", v, false)
	if kind == "decided" && m != nil {
		clean := v.(map[string]any)
		clean["by"], clean["reason"] = x.names(by), x.reason(by, reason)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return []byte(`{}`)
	}
	return out
}

// value returns v, which stands under key, without what is not for others.
// Within what is foreign all but paths is content.
func (x *Redaction) value(key string, v any, within bool) any {
	within = within || foreign[key]
	switch v := v.(type) {
	case map[string]any:
		kind, _ := v["kind"].(string)
		named := kind != "" && kind != "read" && kind != "write" // what it is on is no file
		out := make(map[string]any, len(v))
		for k, e := range v {
			name := k
			if key == "seen" {
				name = x.names(k)
			} else if !plainKey(k) {
				name = x.text(k)
			}
			if on, ok := e.(string); ok && k == "on" && named {
				out[name] = x.text(on)
				continue
			}
			out[name] = x.value(k, e, within)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = x.value(key, e, within)
		}
		return out
	case string:
		return x.string(key, v, within)
	}
	return v
}

func (x *Redaction) string(key, s string, within bool) string {
	switch {
	case pathKeys[key]:
		return x.names(s)
	case structural[key] && !within:
		return x.names(s)
	case strings.HasPrefix(s, handlePrefix), s != "" && digestRE().FindString(s) == s:
		return x.names(s)
	}
	return x.text(s)
}

// plainKey reports whether a key is one of ours rather than content.
func plainKey(k string) bool {
	for i := range len(k) {
		if c := k[i]; c != '_' && c != '-' && c != '$' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(k) <= 40
}

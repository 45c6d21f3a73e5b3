package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// forms returns all ways in which value is looked for, itself first; some are
// equal.
func forms(value string) []string {
	b := []byte(value)
	lower := hex.EncodeToString(b)
	all := []string{value, lower, strings.ToUpper(lower)}
	all = append(all, inJSON(value)...)
	all = append(all, inURL(value)...)
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			all = append(all, inBase64(enc, b, before))
		}
	}
	return all
}

// inBase64 returns the characters that depend on b alone when before bytes, and
// any number after it, are encoded with it.
func inBase64(enc *base64.Encoding, b []byte, before int) string {
	text := enc.EncodeToString(append(make([]byte, before), b...))
	start := []int{0, 2, 3}[before]
	end := (before + len(b)) * 8 / 6
	return text[start:end]
}

// inJSON returns value as JSON writers put it inside a string.
func inJSON(value string) []string {
	var all []string
	for _, html := range []bool{false, true} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if enc.Encode(value) != nil {
			continue
		}
		text := strings.TrimSuffix(b.String(), "\n")
		text = text[1 : len(text)-1]
		all = append(all, text, strings.ReplaceAll(text, "/", `\/`))
	}
	return all
}

// inURL returns value percent-encoded, by writers that leave more or less as it
// is.
func inURL(value string) []string {
	var all []string
	for _, plain := range []string{"", "!'()*", "$&+=:@", "!'()*$&+=:@,;/?"} {
		for _, digits := range []string{"0123456789ABCDEF", "0123456789abcdef"} {
			text := percent(value, "-_.~"+plain, digits)
			all = append(all, text, strings.ReplaceAll(text, "%20", "+"))
		}
	}
	return all
}

func percent(value, plain, digits string) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(plain, c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// SetConfig gives one setting a value in the user's file, which it makes if need
// be; every other byte of it stays. Several texts are separated by commas, or
// written as TOML: ["a", "b"]. A file that does not parse is never changed, one
// that is only wrong can be. Nobody else can read the file once a key is in it.
func SetConfig(file, key, value string) error {
	if file == "" {
		return &ConfigError{Message: "there is no place for settings: no home directory"}
	}
	k, ok := knobFor(strings.Split(key, "."))
	if !ok {
		return askedForKey(key)
	}
	literal, err := k.literal(value)
	if err != nil {
		message := fmt.Sprintf("%s: %s", key, err)
		if value == "" {
			message += "; `belay config unset " + key + "` lets the default hold"
		}
		return &ConfigError{Message: message}
	}
	if strings.HasSuffix(key, ".key") && !strings.Contains(value, "${") {
		if err := hide(file); err != nil {
			return cannotChange(file, err)
		}
	}
	return rewrite(file, func(old []byte) ([]byte, error) {
		doc := bytes.TrimPrefix(old, bom)
		if err := checkSyntax(file, doc); err != nil {
			return nil, err
		}
		s, err := placeKey(doc, k.path(), literal)
		if err != nil {
			return nil, &ConfigError{File: file, Message: err.Error()}
		}
		at := len(old) - len(doc)
		return s.in(old, at), nil
	})
}

// hide lets nobody else look into file, which is to hold a key.
func hide(file string) error {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(file, info.Mode().Perm()&^0o077)
}

// literal returns value, which must do for k, as TOML.
func (k knob) literal(value string) (string, error) {
	if !utf8.ValidString(value) {
		return "", errors.New("the value is not UTF-8")
	}
	texts := []string{value}
	if k.shape.several() {
		var err error
		if texts, err = splitList(value); err != nil {
			return "", err
		}
	}
	literals := make([]string, len(texts))
	for i, text := range texts {
		if err := k.check(text); err != nil && !(k.expands && strings.Contains(text, "${")) {
			return "", err
		}
		literals[i] = quote(text)
	}
	switch k.shape {
	case asList, asRules:
		return "[" + strings.Join(literals, ", ") + "]", nil
	case asNumber:
		n, err := parseNumber(0, 1<<53)(value)
		return fmt.Sprint(n), err
	}
	return literals[0], nil
}

// splitList reads what a person writes for several texts.
func splitList(value string) ([]string, error) {
	value = strings.TrimSpace(value)
	if value == "" {
		return nil, nil
	}
	if strings.HasPrefix(value, "[") {
		var list struct{ V []string }
		d := toml.NewDecoder(strings.NewReader("V = " + value)).DisallowUnknownFields()
		if err := d.Decode(&list); err != nil {
			return nil, errors.New("the value is not an array of strings such as [\"a\", \"b\"]")
		}
		return list.V, nil
	}
	texts := strings.Split(value, ",")
	for i := range texts {
		texts[i] = strings.TrimSpace(texts[i])
	}
	return texts, nil
}

// quote returns s as a basic string of TOML, whose escapes include those of
// JSON.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("cli: a string is always JSON: " + err.Error())
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

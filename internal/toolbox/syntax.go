package toolbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v4"
	sh "mvdan.cc/sh/v3/syntax"
)

// maxParsed is how many bytes a file may have to be parsed for a result.
const maxParsed = 4 << 20

// A syntax says whether a file could be parsed before a change and can be after
// it. It is in a result only if it cannot be.
type syntax struct {
	Before *bool  `json:"ok_before,omitempty"` // nil for a new file
	After  bool   `json:"ok_after"`
	Error  string `json:"error"`
}

// broken returns what is wrong with a file of that name after a change, nil if
// nothing is or nobody here can tell: Go, JSON, TOML, YAML and shell are parsed.
func broken(name string, created bool, before, after string) *syntax {
	parse := parserOf(name)
	if parse == nil || len(before) > maxParsed || len(after) > maxParsed {
		return nil
	}
	err := parse(after)
	if err == nil {
		return nil
	}
	short := []rune(oneLine(err.Error()))
	s := &syntax{Error: string(short)}
	if !created {
		ok := parse(before) == nil
		s.Before = &ok
	}
	return s
}

// news reports whether the change is to blame.
func (s *syntax) news() bool { return s != nil && (s.Before == nil || *s.Before) }

// parserOf returns what parses files of that name, nil if nothing does.
func parserOf(name string) func(text string) error {
	switch strings.ToLower(path.Ext(name)) {
	case ".go":
		return parseGo
	case ".json":
		return parseJSON
	case ".toml":
		return parseTOML
	case ".yaml", ".yml":
		return parseYAML
	case ".sh", ".bash":
		return parseShell
	}
	return nil
}

func parseTOML(text string) error {
	var v any
	err := toml.Unmarshal([]byte(text), &v)
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := e.Position()
		return fmt.Errorf("%d:%d: %w", line, column, err)
	}
	return err
}

// parseYAML parses each document of text.
func parseYAML(text string) error {
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		var v yaml.Node
		if err := d.Decode(&v); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func parseShell(text string) error {
	_, err := sh.NewParser(sh.Variant(sh.LangBash)).Parse(strings.NewReader(text), "")
	return err
}

func parseGo(text string) error {
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 {
		return list[0]
	}
	return err
}

func parseJSON(text string) error {
	var v json.RawMessage
	err := json.Unmarshal([]byte(text), &v)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("line %d: %w", lineAt(text, min(int(e.Offset), len(text))), err)
	}
	return err
}

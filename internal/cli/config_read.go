package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// maxConfig is the largest file of settings, in bytes.
const maxConfig = 1 << 20

// bom may begin a file; it is skipped, and kept by every change.
var bom = []byte("\xef\xbb\xbf")

// readConfig returns the bytes of file, and whether there is one: it is absent
// only where the operating system says so.
func readConfig(file string) (b []byte, present bool, err error) {
	info, err := os.Stat(file) // opening a pipe would wait
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, cannotRead(file, err)
	}
	if !info.Mode().IsRegular() {
		return nil, true, &ConfigError{File: file, Message: "not a regular file"}
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, true, cannotRead(file, err)
	}
	defer f.Close()
	b, err = readAll(file, f)
	return b, true, err
}

func readAll(file string, r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxConfig+1))
	if err != nil {
		return nil, cannotRead(file, err)
	}
	if len(b) > maxConfig {
		return nil, &ConfigError{File: file, Message: fmt.Sprintf("larger than %d bytes", maxConfig)}
	}
	return b, nil
}

func cannotRead(file string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return &ConfigError{File: file, Message: "cannot be read: " + err.Error(), Err: err}
}

// An entry is one setting of a layer.
type entry struct {
	knob  knob
	items []item
	at    Origin
}

// shown returns the value of e as its knob would show it.
func (e entry) shown() string {
	s := defaultSettings()
	e.knob.apply(&s, e.items)
	return e.knob.show(&s)
}

// decodeConfig returns the settings of a file in the order in which they are
// written. All that is wrong comes back, joined, but that a syntax error is
// alone.
func decodeConfig(file string, layer Layer, b []byte) ([]entry, error) {
	d := decoder{file: file, layer: layer}
	b = bytes.TrimPrefix(b, bom)
	if err := checkSyntax(file, b); err != nil {
		return nil, err
	}
	var table []string
	d.parser.Reset(b)
	for d.parser.NextExpression() {
		e := d.parser.Expression()
		switch e.Kind {
		case unstable.Table:
			table = keyOf(e)
			d.table(e, table)
		case unstable.ArrayTable:
			table = keyOf(e)
			d.wrong(e.Child(), "%s is not an array of tables", strings.Join(table, "."))
		case unstable.KeyValue:
			d.keyValue(table, e)
		}
	}
	if err := d.parser.Error(); err != nil { // checkSyntax would have said so
		return nil, &ConfigError{File: file, Message: err.Error()}
	}
	if len(d.errs) > 0 {
		return nil, errors.Join(d.errs...)
	}
	return d.entries, nil
}

// checkSyntax reports what makes b no TOML document.
func checkSyntax(file string, b []byte) error {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			before := b[:i]
			return &ConfigError{
				File: file, Line: bytes.Count(before, []byte("\n")) + 1, Column: i - bytes.LastIndexByte(before, '\n'),
				Message: fmt.Sprintf("byte %#02x is not UTF-8", b[i]),
			}
		}
		i += n
	}
	var document map[string]any
	err := toml.Unmarshal(b, &document)
	if err == nil {
		return nil
	}
	e := &ConfigError{File: file, Message: strings.TrimPrefix(err.Error(), "toml: ")}
	if de, ok := errors.AsType[*toml.DecodeError](err); ok {
		e.Line, e.Column = de.Position()
	}
	return e
}

type decoder struct {
	file    string
	layer   Layer
	parser  unstable.Parser
	entries []entry
	errs    []error
}

// at returns where node, a key or a value that is no array and no table, is.
func (d *decoder) at(node *unstable.Node) Origin {
	p := d.parser.Shape(node.Raw).Start
	return Origin{Layer: d.layer, File: d.file, Line: p.Line, Column: p.Column}
}

func (d *decoder) wrong(node *unstable.Node, format string, a ...any) {
	at := d.at(node)
	d.errs = append(d.errs, &ConfigError{File: at.File, Line: at.Line, Column: at.Column, Message: fmt.Sprintf(format, a...)})
}

func (d *decoder) table(e *unstable.Node, key []string) {
	if _, ok := knobFor(key); ok || !isTable(key) {
		d.wrong(e.Child(), "%s", unknownTable(strings.Join(key, ".")))
	}
}

func (d *decoder) keyValue(table []string, e *unstable.Node) {
	first, value := keyNode(e), e.Value()
	key := append(table[:len(table):len(table)], keyOf(e)...)
	k, ok := knobFor(key)
	switch {
	case ok:
		d.setting(k, first, value)
	case value.Kind != unstable.InlineTable || !isTable(key):
		d.wrong(first, "%s", unknownKey(strings.Join(key, "."), ""))
	default:
		for it := value.Children(); it.Next(); {
			d.keyValue(key, it.Node())
		}
	}
}

func (d *decoder) setting(k knob, key, value *unstable.Node) {
	e := entry{knob: k, at: d.at(key)}
	values := []*unstable.Node{value}
	if k.shape.several() && value.Kind == unstable.Array {
		values = nil
		for it := value.Children(); it.Next(); {
			values = append(values, it.Node())
		}
	} else if k.shape.several() {
		d.wrong(key, "%s is %s, not %s", k.key, kindName(value.Kind), k.shape)
		return
	}
	for _, v := range values {
		place := v
		if v.Raw.Length == 0 { // of arrays and tables it is not known
			place = key
		}
		if k.shape == asRules && v.Kind == unstable.InlineTable {
			d.rule(k, &e, place, v)
			continue
		}
		if !k.shape.takes(v.Kind) {
			d.wrong(place, "%s is %s, not %s", k.key, kindName(v.Kind), k.shape)
			continue
		}
		if err := k.check(string(v.Data)); err != nil && !(k.expands && strings.Contains(string(v.Data), "${")) {
			d.wrong(place, "%s: %s", k.key, err)
			continue
		}
		e.items = append(e.items, item{text: string(v.Data), at: d.at(place)})
	}
	d.entries = append(d.entries, e)
}

// takes reports whether a value of that kind can be one of shape s, or one of
// its elements.
func (s shape) takes(kind unstable.Kind) bool {
	switch s {
	case asNumber:
		return kind == unstable.Integer
	case asAmount, asShare:
		return kind == unstable.String || kind == unstable.Integer || kind == unstable.Float
	}
	return kind == unstable.String
}

func kindName(k unstable.Kind) string {
	switch k {
	case unstable.String:
		return "a string"
	case unstable.Bool:
		return "a boolean"
	case unstable.Float:
		return "a number with a fraction"
	case unstable.Integer:
		return "a whole number"
	case unstable.Array:
		return "an array"
	case unstable.InlineTable:
		return "a table"
	}
	return "a date or time"
}

// keyNode returns the first node of e's key.
func keyNode(e *unstable.Node) *unstable.Node {
	it := e.Key()
	it.Next()
	return it.Node()
}

func keyOf(e *unstable.Node) []string {
	var key []string
	for it := e.Key(); it.Next(); {
		key = append(key, string(it.Node().Data))
	}
	return key
}

// expand replaces each ${NAME} where the setting allows that.
func (e *entry) expand(getenv func(string) string) error {
	if !e.knob.expands {
		return nil
	}
	for n := range e.items {
		i := &e.items[n]
		expanded, err := expandVariables(i.text, getenv)
		if err == nil {
			err = e.knob.check(expanded)
		}
		if err != nil {
			return &ConfigError{File: i.at.File, Line: i.at.Line, Column: i.at.Column, Message: e.knob.key + ": " + err.Error()}
		}
		i.text = expanded
	}
	return nil
}

func expandVariables(text string, getenv func(string) string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !variableRE.MatchString(name) {
			return "", errors.New("${ is not followed by the name of a variable and }")
		}
		value := getenv(name)
		if value == "" {
			return "", fmt.Errorf("the variable %s is not defined", name)
		}
		b.WriteString(value)
		text = after
	}
}

package cli

import (
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// several reports whether a setting of shape s has any number of texts.
func (s shape) several() bool { return s == asList || s == asRules }

// rule adds to e a rule that is written as a table: { rule = "...", match = [...],
// refuse = [...] }. Where the table begins is not known, place is near it.
func (d *decoder) rule(k knob, e *entry, place, table *unstable.Node) {
	var i item
	wrong := len(d.errs)
	for it := table.Children(); it.Next(); {
		field := it.Node()
		at := keyNode(field)
		switch name := strings.Join(keyOf(field), "."); name {
		case "rule":
			if v := field.Value(); v.Kind != unstable.String {
				d.wrong(at, "%s: rule is %s, not a string", k.key, kindName(v.Kind))
			} else if err := k.check(string(v.Data)); err != nil {
				d.wrong(at, "%s: %s", k.key, err)
			} else {
				i.text, i.at = string(v.Data), d.at(at)
			}
		case "match":
			i.match = d.examples(k, at, field.Value())
		case "refuse":
			i.refuse = d.examples(k, at, field.Value())
		default:
			d.wrong(at, "%s: %s is not a field of a rule; they are rule, match and refuse", k.key, name)
		}
	}
	if len(d.errs) > wrong {
		return
	}
	if i.text == "" {
		d.wrong(place, "%s: a table without rule", k.key)
		return
	}
	e.items = append(e.items, i)
}

// examples returns the texts of a list of examples.
func (d *decoder) examples(k knob, at, value *unstable.Node) (texts []string) {
	if value.Kind != unstable.Array {
		d.wrong(at, "%s: examples are %s, not an array of strings", k.key, kindName(value.Kind))
		return nil
	}
	for it := value.Children(); it.Next(); {
		v := it.Node()
		if v.Kind != unstable.String {
			d.wrong(at, "%s: an example is %s, not a string", k.key, kindName(v.Kind))
			return nil
		}
		texts = append(texts, string(v.Data))
	}
	return texts
}

// literal returns i as an element of an array in TOML.
func (i item) literal() string {
	if len(i.match) == 0 && len(i.refuse) == 0 {
		return quote(i.text)
	}
	text := "{ rule = " + quote(i.text)
	if len(i.match) > 0 {
		text += ", match = " + quoteAll(i.match)
	}
	if len(i.refuse) > 0 {
		text += ", refuse = " + quoteAll(i.refuse)
	}
	return text + " }"
}

// quoteAll returns texts as an array of TOML.
func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

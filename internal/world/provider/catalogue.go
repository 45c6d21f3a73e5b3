package provider

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-agent/belay/internal/contract/model"
)

// What is assumed of a model of which nothing is published.
const (
	safeWindow    = 128_000
	safeMaxOutput = 8_192
)

// maxCatalogue is the largest catalogue, in bytes.
const maxCatalogue = 4 << 20

// published is the catalogue that comes with the program. Of it only the lines of
// the model that is wanted are parsed.
//
//go:embed models.toml
var published string

// Abilities are what a catalogue can say that a model can do.
func Abilities() []string { return []string{"tools", "images", "reasoning", "schema", "caching"} }

// An Entry is what a catalogue says of a model. What it does not say is zero.
type Entry struct {
	Window int      `toml:"window,omitempty"` // tokens of a request and its reply
	Output int      `toml:"output,omitempty"` // tokens of a reply, at most
	Price  *tariff  `toml:"price,omitempty,inline"`
	Tiers  []tier   `toml:"tiers,omitempty,inline"`
	Able   []string `toml:"able,omitempty,inline"` // Abilities; empty if nothing is known
	Hourly bool     `toml:"hourly,omitempty"`      // the maker bills less at some hours than the price says
}

// A tier is the price of requests with more tokens of input than Above.
type tier struct {
	Above  int    `toml:"above"`
	Input  string `toml:"input"`
	Cached string `toml:"cached,omitempty"`
	Write  string `toml:"write,omitempty"`
	Output string `toml:"output"`
}

func (t tier) tariff() tariff { return tariff{t.Input, t.Cached, t.Write, t.Output} }

// A Catalogue holds entries by the names of their models, "provider/name".
type Catalogue struct {
	Date   string           `toml:"date,omitempty"` // of its facts
	Models map[string]Entry `toml:"models"`
}

// ParseCatalogue reads and checks a catalogue. The error says what is wrong, and
// where.
func ParseCatalogue(text []byte) (Catalogue, error) {
	var c Catalogue
	d := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok {
			first := strict.Errors[0]
			line, _ := first.Position()
			return c, fmt.Errorf("line %d: %s is not known", line, strings.Join(first.Key(), "."))
		}
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := at.Position()
			return c, fmt.Errorf("line %d: %s", line, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return c, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		if err := c.Models[name].check(name); err != nil {
			return c, fmt.Errorf("model %q: %w", name, err)
		}
	}
	return c, nil
}

func (e Entry) check(name string) error {
	if prefix, bare, _ := strings.Cut(name, "/"); prefix == "" || bare == "" {
		return errors.New("its name is not of the form provider/name")
	}
	if e.Window < 0 || e.Window > maxTokens || e.Output < 0 || e.Output > maxTokens {
		return fmt.Errorf("a window of %d tokens and replies of %d cannot be", e.Window, e.Output)
	}
	for _, a := range e.Able {
		if !slices.Contains(Abilities(), a) {
			return fmt.Errorf("%q is none of %s", a, strings.Join(Abilities(), ", "))
		}
	}
	if len(e.Tiers) > 0 && e.Price == nil {
		return errors.New("it has tiers, and no price below them")
	}
	_, _, err := e.prices()
	return err
}

// prices converts what e says of cost.
func (e Entry) prices() (p model.Price, tiers []model.Tier, err error) {
	if e.Price == nil {
		return p, nil, nil
	}
	if p, err = e.Price.price(); err != nil {
		return p, nil, err
	}
	above := 0
	for _, t := range e.Tiers {
		price, err := t.tariff().price()
		if err != nil {
			return p, nil, err
		}
		if t.Above <= above {
			return p, nil, errors.New("its tiers do not rise")
		}
		above = t.Above
		tiers = append(tiers, model.Tier{Above: above, Price: price})
	}
	return p, tiers, nil
}

// over returns e where it says something, and what is below it elsewhere.
func (e Entry) over(below Entry) Entry {
	if e.Window == 0 {
		e.Window = below.Window
	}
	if e.Output == 0 {
		e.Output = below.Output
	}
	if e.Price == nil {
		e.Price, e.Tiers = below.Price, below.Tiers
	}
	if e.Able == nil {
		e.Able = below.Able
	}
	e.Hourly = e.Hourly || below.Hourly
	return e
}

// Info returns e as the runtime sees the model of that name, with safe values for
// what is not known.
func (e Entry) Info(name string) model.Info {
	i := model.Info{Name: name, Window: e.Window, MaxOutput: e.Output, Known: e.Window > 0}
	i.Price, i.Tiers, _ = e.prices() // it was checked
	i.NoTools = len(e.Able) > 0 && !slices.Contains(e.Able, "tools")
	return limited(i)
}

// limited completes the limits of i so that a reply leaves room for a request.
func limited(i model.Info) model.Info {
	if i.Window == 0 {
		i.Window = safeWindow
	}
	if i.MaxOutput == 0 {
		i.MaxOutput = safeMaxOutput
	}
	if i.MaxOutput > i.Window/2 {
		i.MaxOutput = i.Window / 4
	}
	return i
}

// lookUp returns what is known of a model: from files, of which a later one
// overrides an earlier one, or as it is published. A file that is missing says
// nothing.
func lookUp(name string, files []string) (model.Info, error) {
	e, _ := find(name, section)
	for _, file := range files {
		c, err := ReadCatalogue(file)
		if err != nil {
			return model.Info{}, &model.BadRequest{Reason: fmt.Sprintf("catalogue %s: %v", file, err), Hint: "mend it or remove it; docs/models.md has its form"}
		}
		if own, ok := find(name, func(name string) (Entry, bool) { e, ok := c.Models[name]; return e, ok }); ok {
			e = own.over(e)
		}
	}
	return e.Info(name), nil
}

// find looks for a model under its name, under that without the date of a
// snapshot, and, as something resold, under the name that its maker gives it: then
// the price is not what is asked.
func find(name string, in func(string) (Entry, bool)) (Entry, bool) {
	for _, n := range []string{name, undated(name)} {
		if e, ok := in(n); ok {
			return e, true
		}
	}
	_, resold, _ := strings.Cut(name, "/")
	if !strings.Contains(resold, "/") {
		return Entry{}, false
	}
	for _, n := range []string{resold, strings.ReplaceAll(resold, ".", "-")} { // a router's claude-opus-4.5
		if e, ok := in(undated(n)); ok {
			e.Price, e.Tiers = nil, nil
			return e, true
		}
	}
	return Entry{}, false
}

// undated returns name without what makes it a snapshot: -20250929, -2025-09-29,
// @20250929 or -latest.
func undated(name string) string {
	name = strings.TrimSuffix(name, "-latest")
	for _, n := range []int{len("-2006-01-02"), len("-20060102")} {
		if at := len(name) - n; at > 0 && (name[at] == '-' || name[at] == '@') {
			if date := strings.ReplaceAll(name[at+1:], "-", ""); len(date) == 8 && date[:2] == "20" && allDigits(date) {
				return name[:at]
			}
		}
	}
	return name
}

// section returns what is published of a model.
func section(name string) (Entry, bool) {
	head := "\n[models." + strconv.Quote(name) + "]\n"
	at := strings.Index(published, head)
	if at < 0 {
		return Entry{}, false
	}
	text := published[at+1:]
	if end := strings.Index(text, "\n[models."); end >= 0 {
		text = text[:end]
	}
	var c Catalogue
	if err := toml.Unmarshal([]byte(text), &c); err != nil {
		return Entry{}, false // a test parses all of it
	}
	return c.Models[name], true
}

// Published returns the catalogue that comes with the program.
func Published() (Catalogue, error) { return ParseCatalogue([]byte(published)) }

// ReadCatalogue reads a file. One that is missing is empty.
func ReadCatalogue(file string) (Catalogue, error) {
	info, err := os.Stat(file) // opening a pipe would wait
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Catalogue{}, nil
	}
	if err != nil {
		return Catalogue{}, err
	}
	if !info.Mode().IsRegular() {
		return Catalogue{}, errors.New("it is not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return Catalogue{}, err
	}
	defer f.Close() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxCatalogue+1))
	if err != nil {
		return Catalogue{}, err
	}
	if len(text) > maxCatalogue {
		return Catalogue{}, fmt.Errorf("it is larger than %d bytes", maxCatalogue)
	}
	return ParseCatalogue(text)
}

// Over returns c with all that it does not say taken from below.
func (c Catalogue) Over(below Catalogue) Catalogue {
	all := Catalogue{Date: c.Date, Models: maps.Clone(below.Models)}
	if all.Date == "" {
		all.Date = below.Date
	}
	if all.Models == nil {
		all.Models = make(map[string]Entry)
	}
	for name, e := range c.Models {
		all.Models[name] = e.over(below.Models[name])
	}
	return all
}

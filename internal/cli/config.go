package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/world/provider"
)

// A Layer is one of the places that settings come from; a later one wins.
type Layer string

// The closed list of layers.
const (
	layerDefault Layer = "default"
	layerUser    Layer = "user"
	layerProject Layer = "project" // can only tighten
	layerFlag    Layer = "flag"
)

// An Origin is where a setting was written.
type Origin struct {
	Layer        Layer
	File         string // or the flag; "" of a default
	Line, Column int
}

func (o Origin) String() string {
	switch {
	case o.File == "":
		return string(o.Layer)
	case o.Line == 0:
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// Sources are where LoadConfig looks.
type Sources struct {
	User   string // the user's file; "" if there is no place for one
	Dir    string // the root of the project; "" for none
	State  string // where trust is remembered; "" trusts nothing
	Flags  []Flag
	Getenv func(string) string // what is empty counts as undefined
}

// A Flag is a setting from the command line: `--mode plan` is the Key "mode".
type Flag struct{ Name, Key, Value string }

// A Config is the settings in effect, and where each is from.
type Config struct {
	Settings
	Warnings []string // what was left out and why, each to be said once

	root    string            // of the project
	origins map[string]Origin // by key; of rules by key, space and rule
}

// Policy returns the policy that holds in the project.
func (c *Config) Policy() policy.Policy {
	p := c.Settings.Policy()
	p.Root = filepath.ToSlash(c.root)
	return p
}

// LoadConfig reads all layers. A file that is missing is empty; one that cannot
// be read or understood is an error, and never taken for an empty one: a
// *ConfigError for each thing that is wrong, joined.
func LoadConfig(from Sources) (*Config, error) {
	c := &Config{Settings: defaultSettings(), root: from.Dir, origins: make(map[string]Origin)}
	if from.User != "" {
		b, _, err := readConfig(from.User)
		if err != nil {
			return nil, err
		}
		if err := c.addUser(from.User, b, from.Getenv); err != nil {
			return nil, err
		}
	}
	if from.Dir != "" {
		if err := c.addProject(from.State, from.Dir); err != nil {
			return nil, err
		}
	}
	for _, f := range from.Flags {
		if err := c.addFlag(f); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Config) addUser(file string, b []byte, getenv func(string) string) error {
	entries, err := decodeConfig(file, layerUser, b)
	if err != nil {
		return err
	}
	for i := range entries {
		if err := entries[i].expand(getenv); err != nil {
			return err
		}
		c.apply(entries[i])
	}
	for name, p := range c.Providers {
		if p.API == "" {
			p.API = provider.UsualAPI(name)
		}
		if p.Key == "" && p.KeyEnv != "" {
			p.Key = getenv(p.KeyEnv)
		}
		c.Providers[name] = p
	}
	return nil
}

// addProject adds what tightens from the project's own file, if the user has
// trusted it as it is now.
func (c *Config) addProject(state, dir string) error {
	file := projectFile(dir)
	b, present, err := readConfig(file)
	if err != nil || !present {
		return err
	}
	why, err := distrust(state, dir, digestOf(b))
	if err != nil {
		return err
	}
	if why != "" {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s is ignored: %s; `belay config trust` trusts it as it is now", file, why))
		return nil
	}
	entries, err := decodeConfig(file, layerProject, b)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.knob.tighter == nil:
			c.warn(e, "a project may not set it")
		case !e.knob.tighter(&c.Settings, e.items):
			if now := e.knob.show(&c.Settings); now != e.shown() {
				c.warn(e, "a project may only tighten, and "+now+" is in effect")
			}
		default:
			c.apply(e)
		}
	}
	return nil
}

func (c *Config) warn(e entry, why string) {
	c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %s is ignored: %s", e.at, e.knob.key, why))
}

func (c *Config) addFlag(f Flag) error {
	at := Origin{Layer: layerFlag, File: f.Name}
	k, ok := knobFor(strings.Split(f.Key, "."))
	if !ok || k.shape.several() {
		return &ConfigError{File: f.Name, Message: f.Key + " cannot be set by a flag"}
	}
	if err := k.check(f.Value); err != nil {
		return &ConfigError{File: f.Name, Message: err.Error()}
	}
	c.apply(entry{knob: k, items: []item{{text: f.Value, at: at}}, at: at})
	return nil
}

func (c *Config) apply(e entry) {
	e.knob.apply(&c.Settings, e.items)
	if e.knob.show != nil {
		c.origins[e.knob.key] = e.at
		return
	}
	for _, i := range e.items {
		if key := e.knob.key + " " + i.text; c.origins[key] == (Origin{}) {
			c.origins[key] = i.at
		}
	}
}

// A Shown is one setting as a person sees it. Keys are hidden.
type Shown struct {
	Key, Value string
	From       Origin
}

// Shown returns every setting in effect, each rule by itself.
func (c *Config) Shown() []Shown {
	var all []Shown
	add := func(k knob) {
		from, ok := c.origins[k.key]
		if !ok {
			from.Layer = layerDefault
		}
		all = append(all, Shown{k.key, k.show(&c.Settings), from})
	}
	for _, k := range knobs() {
		if k.show != nil {
			add(k)
			continue
		}
		for _, r := range c.Rules {
			if key := "rules." + r.Verdict.String(); key == k.key {
				all = append(all, Shown{key, r.String(), c.origins[key+" "+r.String()]})
			}
		}
	}
	for _, name := range sortedNames(c.Providers) {
		for _, field := range providerFields {
			k, _ := providerKnob(name, field)
			if _, set := c.origins[k.key]; set || field == "api" {
				add(k)
			}
		}
	}
	return all
}

func sortedNames(m map[string]Provider) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func projectFile(dir string) string { return filepath.Join(dir, ".belay", "config.toml") }

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

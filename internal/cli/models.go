package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/ui/terminal"
	"github.com/belay-agent/belay/internal/world/provider"
)

const (
	refreshURL  = "https://models.dev/api.json"
	refreshWait = 60 * time.Second
	maxRefresh  = 32 << 20 // bytes
)

func (s System) modelsCommand() *cobra.Command {
	var asJSON, local bool
	c := &cobra.Command{
		Use:   "models [NAME]",
		Short: "List the models that are known, with their limits and prices, or those on this machine",
		Long: `List the models that are known, or those whose names contain NAME: the tokens that fit
into the window and into a reply, dollars for a million tokens of input, of cached
input and of output, and what they can do. Other models work too, with safe limits.

With --local the model servers on this machine are asked: Ollama, LM Studio, llama.cpp
and vLLM, where they usually listen or where the settings say.`,
		Example: `  belay models opus
  belay models --local
  belay models --json | jq '.models[] | select(.window >= 1000000) | .model'`,
		Args: counted(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if local {
				return s.localModels(c.Context(), args, asJSON)
			}
			return s.models(args, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&local, "local", false, "ask the servers on this machine")
	c.AddCommand(s.refreshCommand())
	return c
}

// A listedModel is a model of the catalogue. Prices are micro-cents for a million
// tokens.
type listedModel struct {
	Name   string       `json:"model"`
	Window int          `json:"window,omitempty"`
	Output int          `json:"output,omitempty"`
	Price  *listedPrice `json:"price,omitempty"`
	Tiers  []listedTier `json:"tiers,omitempty"`
	Able   []string     `json:"able,omitempty"`
}

type listedPrice struct {
	Input  int64 `json:"input"`
	Cached int64 `json:"cached"`
	Write  int64 `json:"cache_write"`
	Output int64 `json:"output"`
}

type listedTier struct {
	Above int `json:"above"`
	listedPrice
}

func listed(name string, e provider.Entry) listedModel {
	i := e.Info(name)
	m := listedModel{Name: name, Window: e.Window, Output: e.Output, Able: e.Able}
	price := func(p model.Price) listedPrice { return listedPrice{p.Input, p.Cached, p.CacheWrite, p.Output} }
	if e.Price != nil {
		p := price(i.Price)
		m.Price = &p
	}
	for _, t := range i.Tiers {
		m.Tiers = append(m.Tiers, listedTier{t.Above, price(t.Price)})
	}
	return m
}

// catalogue returns all that is known of models.
func (s System) catalogue() (provider.Catalogue, error) {
	all, err := provider.Published()
	if err != nil {
		return all, err
	}
	for _, file := range s.catalogues() {
		c, err := provider.ReadCatalogue(file)
		if err != nil {
			return all, usage("catalogue %s: %v", file, err)
		}
		all = c.Over(all)
	}
	return all, nil
}

func (s System) models(args []string, asJSON bool) error {
	all, err := s.catalogue()
	if err != nil {
		return err
	}
	var found []listedModel
	for _, name := range slices.Sorted(maps.Keys(all.Models)) {
		if len(args) == 0 || strings.Contains(name, args[0]) {
			found = append(found, listed(name, all.Models[name]))
		}
	}
	if asJSON {
		return json.NewEncoder(tame{s.Stdout}).Encode(struct {
			Date   string        `json:"date"`
			Models []listedModel `json:"models"`
		}{all.Date, append([]listedModel{}, found...)})
	}
	if len(found) == 0 {
		return s.sayNone(fmt.Sprintf("no model that is known has %q in its name%s", args[0],
			meant(args[0], "belay models ", []string{"refresh"}, "; one that is not known works too, with safe limits")))
	}
	w := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "model\twindow\treply\t$ in\tcached\tout\tcan\n")
	for _, m := range found {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", terminal.Line(m.Name, 200), tokenCount(m.Window), tokenCount(m.Output), prices(m.Price), strings.Join(m.Able, ", "))
		for _, t := range m.Tiers {
			fmt.Fprintf(w, "  above %s\t\t\t%s\t\n", tokenCount(t.Above), prices(&t.listedPrice))
		}
	}
	fmt.Fprintf(w, "\nas of %s; `belay models refresh` brings newer figures\n", all.Date)
	return w.Flush()
}

func prices(p *listedPrice) string {
	if p == nil {
		return "?\t?\t?"
	}
	return showDollars(p.Input) + "\t" + showDollars(p.Cached) + "\t" + showDollars(p.Output)
}

func tokenCount(n int) string {
	if n == 0 {
		return "?"
	}
	return fmt.Sprint(n)
}

func (s System) localModels(ctx context.Context, args []string, asJSON bool) error {
	root, err := s.root()
	if err != nil {
		return err
	}
	c, err := s.config(root)
	if err != nil {
		return err
	}
	servers := s.findLocal(ctx, c)
	for i := range servers {
		servers[i].Models = slices.DeleteFunc(servers[i].Models, func(m provider.LocalModel) bool {
			return len(args) > 0 && !strings.Contains(m.Name, args[0])
		})
	}
	if asJSON {
		return json.NewEncoder(tame{s.Stdout}).Encode(struct {
			Servers []provider.Local `json:"servers"`
		}{append([]provider.Local{}, servers...)})
	}
	if len(servers) == 0 {
		return s.sayNone(fmt.Sprintf("no model server answers on this machine where %s usually listen; one that listens elsewhere: belay config set providers.NAME.base_url URL", strings.Join(provider.Locals(), ", ")))
	}
	w := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "model\twindow\ttools\tserver\n")
	for _, l := range servers {
		for _, m := range l.Models {
			tools := "?"
			switch {
			case m.Tools:
				tools = "yes"
			case m.NoTools:
				tools = "no"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", terminal.Line(m.Name, 200), tokenCount(m.Window), tools, l.URL)
		}
	}
	return w.Flush()
}

func (s System) refreshCommand() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "refresh [--from FILE|URL]",
		Short: "Bring newer figures of models, into a file beside the settings",
		Long: `Bring newer figures of models, from models.dev or from a file or URL of the same form
or of the form of models.toml (docs/models.md). They are checked, and replace those
that came with Belay and those of the last time. What models.toml beside the settings
says stays above them. Nothing is ever brought without this command.`,
		Example: "  belay models refresh\n  belay models refresh --from models.json",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return s.refresh(c.Context(), from) },
	}
	c.Flags().StringVar(&from, "from", refreshURL, "a `FILE|URL` to take them from")
	return c
}

func (s System) refresh(ctx context.Context, from string) error {
	files := s.catalogues()
	if files == nil {
		return usage("no directory for settings is known, so there is no place for the figures")
	}
	text, err := s.fetch(ctx, from)
	if err != nil {
		err = fmt.Errorf("refresh models from %s: %w", from, err)
		if isURL(from) {
			return &statusError{exitProvider, err}
		}
		return usage("%v", err)
	}
	c, leftOut, err := provider.ImportCatalogue(text)
	if err != nil {
		return usage("refresh models from %s: %v; nothing was changed", from, err)
	}
	if c.Date == "" {
		c.Date = time.Now().Format(time.DateOnly)
	}
	if text, err = c.Text(); err != nil {
		return err
	}
	if err := writeWhole(files[0], text); err != nil {
		return fmt.Errorf("write %s: %w", files[0], err)
	}
	note := ""
	if leftOut > 0 {
		note = fmt.Sprintf("; %d that made no sense left out", leftOut)
	}
	_, err = fmt.Fprintf(s.Stdout, "%s in %s%s\n", count(int64(len(c.Models)), "model"), terminal.Line(files[0], 1<<12), note)
	return err
}

func isURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// fetch reads a file or what a URL answers.
func (s System) fetch(ctx context.Context, from string) ([]byte, error) {
	if !isURL(from) {
		f, err := os.Open(from)
		if err != nil {
			return nil, err
		}
		defer f.Close() // it was only read
		return bounded(f)
	}
	tr, err := s.transport("", "")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, refreshWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	tr.DisableKeepAlives = true
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() // it was only read
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New("the server answers " + resp.Status)
	}
	return bounded(resp.Body)
}

func bounded(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxRefresh+1))
	if err == nil && len(b) > maxRefresh {
		err = fmt.Errorf("it is larger than %d MiB", maxRefresh>>20)
	}
	return b, err
}

// writeWhole puts text into file: all of it or, where that fails, nothing.
func writeWhole(file string, text []byte) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once it is renamed
	if err := errors.Join(fill(tmp, text, 0o600), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), file); err != nil {
		return err
	}
	return syncDir(dir)
}

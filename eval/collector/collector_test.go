// Package collector holds what Belay exports against a real OpenTelemetry
// collector. It is a module of its own: nothing else of Belay needs a collector.
package collector

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// A span is one as the collector wrote it.
type span struct {
	Trace  string `json:"traceId"`
	ID     string `json:"spanId"`
	Parent string `json:"parentSpanId"`
	Name   string `json:"name"`
	Start  string `json:"startTimeUnixNano"`
	End    string `json:"endTimeUnixNano"`
	Attrs  []struct {
		Key   string                     `json:"key"`
		Value map[string]json.RawMessage `json:"value"`
	} `json:"attributes"`
	Status struct {
		Code int `json:"code"`
	} `json:"status"`
}

func (s span) attr(key string) string {
	for _, a := range s.Attrs {
		if a.Key == key {
			for _, v := range a.Value {
				return strings.Trim(string(v), `"`)
			}
		}
	}
	return ""
}

// TestR326_ACollectorReceivesSpansWithRightParents runs the demo, live and then
// again from its log: both come out of the collector as the same tree of spans,
// without any content.
func TestR326_ACollectorReceivesSpansWithRightParents(t *testing.T) {
	belay := filepath.Join(t.TempDir(), "belay")
	build := exec.Command("go", "build", "-o", belay, "./cmd/belay")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	home := t.TempDir()
	settings := filepath.Join(home, ".config", "belay", "config.toml")
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(url string, args ...string) {
		t.Helper()
		if err := os.WriteFile(settings, fmt.Appendf(nil, "[otlp]\nendpoint = %q\n", url), 0o644); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(belay, args...)
		c.Dir = home
		c.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		if err := c.Run(); err != nil {
			t.Fatalf("belay %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
		}
		if bytes.Contains(stderr.Bytes(), []byte("not all spans")) {
			t.Errorf("belay %s says:\n%s", strings.Join(args, " "), stderr.Bytes())
		}
	}

	live := collect(t, func(url string) { run(url, "demo") })
	later := collect(t, func(url string) { run("", "export", "--all", "--otlp", url) })
	check(t, live)
	if len(live) != len(later) {
		t.Errorf("%d spans came live, %d from the log", len(live), len(later))
	}
	for id, s := range live {
		if again := later[id]; again.Name != s.Name || again.Parent != s.Parent || again.Start != s.Start || again.End != s.End {
			t.Errorf("live it is %+v, from the log %+v", s, again)
		}
	}
}

func check(t *testing.T, spans map[string]span) {
	t.Helper()
	names := map[string]int{}
	roots := 0
	for _, s := range spans {
		kind, _, _ := strings.Cut(s.Name, " ")
		names[kind]++
		if s.attr("gen_ai.operation.name") != kind {
			t.Errorf("%s is operation %q", s.Name, s.attr("gen_ai.operation.name"))
		}
		if s.End < s.Start {
			t.Errorf("%s ends before it starts", s.Name)
		}
		if s.Parent == "" {
			roots++
			if kind != "invoke_agent" {
				t.Errorf("%s has no parent", s.Name)
			}
			continue
		}
		parent, there := spans[s.Parent]
		if !there || parent.Trace != s.Trace || !strings.HasPrefix(parent.Name, "invoke_agent") || parent.Start > s.Start || parent.End < s.End {
			t.Errorf("%s has the parent %q, from %s to %s for %s to %s", s.Name, parent.Name, parent.Start, parent.End, s.Start, s.End)
		}
		for _, a := range s.Attrs {
			if strings.Contains(a.Key, "messages") || strings.Contains(a.Key, "arguments") || strings.Contains(a.Key, "result") {
				t.Errorf("%s has content: %s", s.Name, a.Key)
			}
		}
	}
	if roots != 1 || names["chat"] < 5 || names["execute_tool"] < 8 {
		t.Errorf("of %d spans %d have no parent: %v", len(spans), roots, names)
	}
}

// collect runs a collector while send runs, and returns the spans it wrote.
func collect(t *testing.T, send func(url string)) map[string]span {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spans.json")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	config := fmt.Sprintf(`yaml:{receivers: {otlp: {protocols: {http: {endpoint: "%s"}}}}, exporters: {file: {path: "%s"}}, service: {telemetry: {metrics: {level: none}, logs: {level: error}}, pipelines: {traces: {receivers: [otlp], exporters: [file]}}}}`, address, file)
	collector, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Version: "test"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs: []string{config}, ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
		}},
		DisableGracefulShutdown: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- collector.Run(ctx) }()
	for collector.GetState() != otelcol.StateRunning {
		select {
		case err := <-over:
			t.Fatal(err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	send("http://" + address)
	collector.Shutdown()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	return read(t, file)
}

func factories() (otelcol.Factories, error) {
	receivers, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	exporters, err := otelcol.MakeFactoryMap[exporter.Factory](fileexporter.NewFactory())
	return otelcol.Factories{Receivers: receivers, Exporters: exporters, Telemetry: otelconftelemetry.NewFactory()}, err
}

func read(t *testing.T, file string) map[string]span {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spans := map[string]span{}
	for line := range bytes.Lines(b) {
		var batch struct {
			Resources []struct {
				Scopes []struct {
					Spans []span `json:"spans"`
				} `json:"scopeSpans"`
			} `json:"resourceSpans"`
		}
		if err := json.Unmarshal(line, &batch); err != nil {
			t.Fatal(err)
		}
		for _, r := range batch.Resources {
			for _, scope := range r.Scopes {
				for _, s := range scope.Spans {
					spans[s.ID] = s
				}
			}
		}
	}
	return spans
}

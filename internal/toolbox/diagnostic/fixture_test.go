package diagnostic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/*.json")

// A fixture is what a real tool printed.
type fixture struct {
	name    string
	command string
	exit    string
	output  []byte
}

// fixtures returns all of testdata.
func fixtures(t testing.TB) []fixture {
	t.Helper()
	f, err := os.Open("testdata/commands.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []fixture
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Split(s.Text(), "\t")
		if len(fields) != 3 {
			t.Fatalf("commands.tsv: %q", s.Text())
		}
		b, err := os.ReadFile("testdata/" + fields[0] + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fixture{fields[0], fields[2], fields[1], b})
	}
	return all
}

// tool returns the tool whose output a fixture is, by its name.
func (f fixture) tool() string { return strings.SplitN(f.name, "-", 2)[0] }

func (f fixture) read(t testing.TB) []Report {
	t.Helper()
	reports, err := Read(f.command, bytes.NewReader(f.output))
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

// The expected reports stand beside the fixtures. They were checked by hand
// against the text.
func TestR143_RealOutputsAreReadAsExpected(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			got, err := json.MarshalIndent(f.read(t), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			path := filepath.Join("testdata", f.name+".json")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("reports (-want +got):\n%s", d)
			}
		})
	}
}

package constraints

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/decide/constraint"
)

// The targets, in each language.
const (
	precision = 0.95
	recall    = 0.90
)

func in(language string, texts []Text) []Text {
	return slices.DeleteFunc(slices.Clone(texts), func(t Text) bool { return t.Language != language })
}

func read(t *testing.T, folder string) []Text {
	t.Helper()
	texts, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestR260_ConstraintsAreFound in texts of authors who had not seen the reader, and
// from whom it has not learned.
func TestR260_ConstraintsAreFound(t *testing.T) {
	texts := read(t, "blind")
	for _, language := range []string{"en", "zh"} {
		of := in(language, texts)
		if len(of) != 200 {
			t.Fatalf("%d texts in %s", len(of), language)
		}
		s := Measure(of, constraint.Find, func(fault string) { t.Logf("%s: %s", language, fault) })
		t.Logf("%s: %s", language, s)
		if s.Precision() < precision || s.Recall() < recall {
			t.Errorf("%s is below its targets", language)
		}
	}
}

// TestBlindTextsAreNotLearned holds that no text that is measured was learned from.
func TestBlindTextsAreNotLearned(t *testing.T) {
	learned := make(map[string]bool)
	for _, x := range read(t, "texts") {
		learned[x.Text] = true
	}
	for _, x := range read(t, "blind") {
		if learned[x.Text] {
			t.Errorf("learned from, and measured: %q", x.Text)
		}
	}
}

// TestWeightsAreLearnedFromTheTexts that are here, and from nothing else.
func TestWeightsAreLearnedFromTheTexts(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round sums in other ways")
	}
	learned := Train(read(t, "texts"))
	for name, weights := range map[string]constraint.Weights{"weights.en.tsv": learned.English, "weights.zh.tsv": learned.Chinese} {
		built, err := os.ReadFile(filepath.Join("..", "..", weightsFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(built) != Table(weights) {
			t.Errorf("%s is not what the texts teach: go run ./eval constraints -write", name)
		}
	}
}

// TestLearningGeneralises: from one half of the texts it learns what is in the other
// one, and from texts without labels nothing.
func TestLearningGeneralises(t *testing.T) {
	texts := slices.DeleteFunc(in("en", read(t, "texts")), func(x Text) bool { return !strings.HasPrefix(x.Author, "en_") })
	odd, even := []Text(nil), []Text(nil)
	for i, x := range texts {
		if i%2 == 0 {
			even = append(even, x)
		} else {
			odd = append(odd, x)
		}
	}
	quiet := func(string) {}
	if s := Measure(odd, Train(even).Find, quiet); s.Precision() < 0.9 || s.Recall() < 0.8 {
		t.Errorf("one half teaches the other: %s", s)
	}
	for i := range even {
		even[i].Constraints = nil
	}
	if s := Measure(odd, Train(even).Find, quiet); s.Found > 0 {
		t.Errorf("found without a label to learn from: %s", s)
	}
}

func TestMeasureCountsFaults(t *testing.T) {
	var x Text
	x.Text, x.Language = "no curl, no wget; keep it small", "en"
	x.Constraints = append(x.Constraints, struct {
		Words string          `json:"words"`
		Kind  constraint.Kind `json:"kind"`
	}{"no curl, no wget", constraint.Forbid})
	find := func(string) []constraint.Constraint {
		return []constraint.Constraint{{Words: "no curl", Kind: constraint.Ask}, {Words: "no wget", Kind: constraint.Forbid}, {Words: "keep it small", Kind: constraint.Require}}
	}
	faults := 0
	if s := Measure([]Text{x}, find, func(string) { faults++ }); s != (Score{Right: 1, Found: 2, Labelled: 1}) || faults != 2 {
		t.Errorf("%+v with %d faults", s, faults)
	}
	none := func(string) []constraint.Constraint { return nil }
	if s := Measure([]Text{x}, none, func(string) { faults++ }); s != (Score{Labelled: 1}) || faults != 3 || s.Recall() != 0 || s.Precision() != 1 {
		t.Errorf("%+v with %d faults", s, faults)
	}
}

func TestReadTellsWhatIsWrong(t *testing.T) {
	folder := t.TempDir()
	if _, err := Read(folder); err == nil {
		t.Error("an empty folder is read")
	}
	for _, bad := range []string{"{", `{"text": "do it", "constraints": [{"words": "do that"}]}`} {
		if err := os.WriteFile(filepath.Join(folder, "a.jsonl"), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), "a.jsonl") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestUsage(t *testing.T) {
	var out, errors bytes.Buffer
	if status := Main(t.Context(), []string{"-x"}, &out, &errors); status != 2 || !strings.Contains(errors.String(), "usage:") {
		t.Errorf("%d, %s", status, &errors)
	}
	if status := Main(t.Context(), nil, &out, &errors); status != 1 { // not in this folder
		t.Errorf("%d", status)
	}
}

// FuzzWeights: a table of weights is what it was read from.
func FuzzWeights(f *testing.F) {
	f.Add("1\t-2\t3\thas not\n")
	f.Add("1\t2\n\t\t\t\nx\ty\tz\tw\n7\t7\t7\t\n")
	f.Fuzz(func(t *testing.T, table string) {
		weights := constraint.ParseWeights(table)
		if again := Table(constraint.ParseWeights(Table(weights))); again != Table(weights) {
			t.Fatalf("%q became %q", Table(weights), again)
		}
	})
}

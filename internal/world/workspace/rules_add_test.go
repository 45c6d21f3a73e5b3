package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
)

const lessons = "## Lessons"

// TestR327_WhereARuleGoes: the last of its section, which is made where there is none.
func TestR327_WhereARuleGoes(t *testing.T) {
	for name, tc := range map[string]struct{ before, after string }{
		"no file":                  {"", "## Lessons\n\n- r\n"},
		"no section":               {"# Rules\n\nBe kind.\n", "# Rules\n\nBe kind.\n\n## Lessons\n\n- r\n"},
		"no last line ending":      {"Be kind.", "Be kind.\n\n## Lessons\n\n- r\n"},
		"a section at the end":     {"## Lessons\n\n- a\n", "## Lessons\n\n- a\n- r\n"},
		"without its line ending":  {"## Lessons\n\n- a", "## Lessons\n\n- a\n- r\n"},
		"a section in the middle":  {"## Lessons\n\n- a\n\n## Style\n\nx\n", "## Lessons\n\n- a\n- r\n\n## Style\n\nx\n"},
		"an empty section":         {"## Lessons\n", "## Lessons\n\n- r\n"},
		"an empty one, and a next": {"## Lessons\n## Style\n", "## Lessons\n\n- r\n## Style\n"},
		"a fenced # in it":         {"## Lessons\n\n```\n# no heading\n```\n\n## Style\n", "## Lessons\n\n```\n# no heading\n```\n- r\n\n## Style\n"},
		"a fenced section":         {"```\n## Lessons\n```\n", "```\n## Lessons\n```\n\n## Lessons\n\n- r\n"},
		"#hashtag is no heading":   {"## Lessons\n\n#tag\n", "## Lessons\n\n#tag\n- r\n"},
	} {
		at, item := ruled(tc.before, lessons, "r")
		if d := cmp.Diff(tc.after, tc.before[:at]+item+tc.before[at:]); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// FuzzNewRule: whatever the file holds, all of it stays, and the rule is a line of its
// own.
func FuzzNewRule(f *testing.F) {
	f.Add("## Lessons\n- a\n\n# b", "r")
	f.Add("```\n", "r")
	f.Fuzz(func(t *testing.T, before, rule string) {
		if rule == "" || strings.TrimSpace(rule) != rule || strings.ContainsAny(rule, "\n\r") {
			t.Skip()
		}
		at, item := ruled(before, lessons, rule)
		after := before[:at] + item + before[at:]
		if at > 0 && before[at-1] != '\n' && item[0] != '\n' {
			t.Fatalf("%q goes on in the line before it: %q", item, after)
		}
		if !strings.HasSuffix(item, "- "+rule+"\n") {
			t.Fatalf("the rule is no line of its own in %q", item)
		}
		if next, _ := ruled(after, lessons, rule); next < at {
			t.Fatalf("a second one goes before the first: %q", after)
		}
	})
}

// TestR327_ARuleIsAddedOnceAndOnlyToWhatWasRead: in the form of the file, and not to
// one that changed since.
func TestR327_ARuleIsAddedOnceAndOnlyToWhatWasRead(t *testing.T) {
	dir := t.TempDir()
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	file := filepath.Join(dir, "AGENTS.md")
	add := func(rule string) (edit.Intent, bool) {
		t.Helper()
		e, ok, err := w.NewRule(lessons, rule)
		if err != nil {
			t.Fatal(err)
		}
		return e, ok
	}
	write := func(e edit.Intent) error {
		_, err := w.Write([]edit.Intent{e})
		return err
	}
	holds := func(want string) {
		t.Helper()
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, string(b)); d != "" {
			t.Errorf("the file (-want +got):\n%s", d)
		}
	}

	early, _ := add("a")
	first, ok := add("a")
	if !ok || write(first) != nil {
		t.Fatal("no file was made")
	}
	holds("## Lessons\n\n- a\n")
	if err := write(early); !errors.Is(err, ErrStale) {
		t.Errorf("a file that came meanwhile: %v, want ErrStale", err)
	}
	if _, ok := add("a"); ok {
		t.Error("it is added twice")
	}

	if err := os.WriteFile(file, []byte("\uFEFFBe kind.\r\n\r\n## Lessons\r\n- a\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	second, _ := add("b")
	if err := write(second); err != nil {
		t.Fatal(err)
	}
	holds("\uFEFFBe kind.\r\n\r\n## Lessons\r\n- a\r\n- b\r\n")
	if i, err := os.Stat(file); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", i.Mode(), err)
	}

	late, _ := add("c")
	if err := os.WriteFile(file, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(late); !errors.Is(err, ErrStale) {
		t.Errorf("a file that changed meanwhile: %v, want ErrStale", err)
	}
	holds("mine\n")

	if err := os.WriteFile(file, []byte(strings.Repeat("x", maxRules-4)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.NewRule(lessons, "d"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file that would be too large: %v, want ErrTooLarge", err)
	}
}

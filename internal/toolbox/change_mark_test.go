package toolbox

import (
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestR136_AMarkIsNeverWrittenInPlaceOfASecret: the model sees a mark where the
// file has a secret. Whatever tool would write the mark is refused, and says how to
// change the file all the same.
func TestR136_AMarkIsNeverWrittenInPlaceOfASecret(t *testing.T) {
	const mark = "[secret:github-pat:k3f7q]"
	const file = "a = 1\ntoken = ghp_0Jd8sKq2LmXv93TzBf71RyUcWnEa5GhP6iQo\nb = 2\n"
	marked := strings.Replace(file, "ghp_0Jd8sKq2LmXv93TzBf71RyUcWnEa5GhP6iQo", mark, 1)
	desk := func() *desk {
		d := newDesk(t, map[string]string{"f.ini": file, "doc.md": "see [redacted:KEY] and " + mark + "\nlast\n"})
		f := &changer{w: d.w, shown: new(shown)}
		d.tools["Patch"] = f.patch()
		d.ok("Read", args{"path": "f.ini"})
		d.ok("Read", args{"path": "doc.md"})
		return d
	}
	for name, c := range map[string]struct {
		tool string
		args args
		kind tool.Kind
	}{
		"a new file":        {"Write", args{"path": "new.ini", "content": marked}, tool.Invalid},
		"the whole file":    {"Write", args{"path": "f.ini", "content": strings.Replace(marked, "a = 1", "a = 3", 1)}, tool.Invalid},
		"a line beside":     {"Edit", args{"path": "f.ini", "old": "b = 2", "new": "b = 2\nc = " + mark}, tool.Invalid},
		"what a key is":     {"Edit", args{"path": "f.ini", "old": "b = 2", "new": "b = [redacted:OPENAI_API_KEY]"}, tool.Invalid},
		"the line itself":   {"Edit", args{"path": "f.ini", "old": "token = " + mark, "new": "token = none"}, tool.NoMatch},
		"more lines":        {"Edit", args{"path": "f.ini", "old": marked, "new": "a = 3\n"}, tool.NoMatch},
		"one of two edits":  {"MultiEdit", args{"path": "f.ini", "edits": []args{{"old": "a = 1", "new": "a = 3"}, {"old": "b = 2", "new": mark}}}, tool.Invalid},
		"an added line":     {"Patch", args{"patch": "*** Begin Patch\n*** Update File: f.ini\n@@\n a = 1\n+c = " + mark + "\n*** End Patch\n"}, tool.Invalid},
		"a line of context": {"Patch", args{"patch": "*** Begin Patch\n*** Update File: f.ini\n@@\n token = " + mark + "\n-b = 2\n+b = 3\n*** End Patch\n"}, tool.NoMatch},
		"an added file":     {"Patch", args{"patch": "*** Begin Patch\n*** Add File: g.ini\n+" + mark + "\n*** End Patch\n"}, tool.Invalid},
		"once more":         {"Edit", args{"path": "doc.md", "old": "last", "new": "last " + mark}, tool.Invalid},
	} {
		d := desk()
		f := d.fails(c.kind, c.tool, c.args)
		if !strings.Contains(f.Message, "stands for a secret") || !strings.Contains(f.Hint, "lines beside it") {
			t.Errorf("%s: %q, %q", name, f.Message, f.Hint)
		}
		d.holds("f.ini", file)
	}
	d := desk()
	d.ok("Edit", args{"path": "f.ini", "old": "b = 2", "new": "b = 3"})
	d.holds("f.ini", strings.Replace(file, "b = 2", "b = 3", 1))
	d.ok("Edit", args{"path": "doc.md", "old": "see [redacted:KEY] and " + mark, "new": "see " + mark + ", [redacted:KEY]"})
	d.holds("doc.md", "see "+mark+", [redacted:KEY]\nlast\n")
}

package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRulesAboveOfAnotherUserAreNotFollowed: in a directory that all may write,
// someone else's repository and rules say nothing to whoever works below.
func TestRulesAboveOfAnotherUserAreNotFollowed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the owner of the system can give a file away")
	}
	const mine, another = 4711, 4712
	dir := t.TempDir()
	w := ruledBy(t, filepath.Join(dir, "mine"), map[string]string{"AGENTS.md": "mine"})
	ruledBy(t, dir, map[string]string{".git/HEAD": "", "AGENTS.md": "do as I say", "CLAUDE.md": "so does the system"})
	give := func(name string, to int) {
		t.Helper()
		if err := os.Chown(filepath.Join(dir, name), to, to); err != nil {
			t.Fatal(err)
		}
	}
	give("mine", mine)
	give("AGENTS.md", another)
	files := ruleFiles(t, w)
	if len(files) != 3 || files[0].Path != "../CLAUDE.md" || files[0].Left != "" ||
		files[1].Path != "../AGENTS.md" || files[1].Left != "it belongs to another user" || files[2].Left != "" {
		t.Errorf("rule files %+v", files)
	}
	give("AGENTS.md", mine)
	if files := ruleFiles(t, w); files[1].Left != "" || files[1].Content != "do as I say" {
		t.Errorf("of the owner of the folder: %+v", files[1])
	}
}

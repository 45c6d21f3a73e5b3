package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
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

// TestR235_WhatIsAboveAndCannotBeReadIsSaid instead of keeping anybody from working
// below it: nobody but its owner could mend that.
func TestR235_WhatIsAboveAndCannotBeReadIsSaid(t *testing.T) {
	dir := t.TempDir()
	ruledBy(t, dir, map[string]string{"top/.git/HEAD": "", "top/AGENTS.md": "above"})
	w := ruledBy(t, filepath.Join(dir, "top/a/w"), map[string]string{"AGENTS.md": "here"})
	if err := os.Chmod(filepath.Join(dir, "top"), 0o111); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "top"), 0o755) })
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // whom no mode keeps out
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		syscall.Setfsuid(4711)
		defer syscall.Setfsuid(0)
	}
	files := ruleFiles(t, w)
	if len(files) != 2 || files[0].Path != "../../AGENTS.md" || !strings.Contains(files[0].Left, "permission denied") || files[1].Content != "here" {
		t.Errorf("rule files %+v", files)
	}
}

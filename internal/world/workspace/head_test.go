package workspace

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHead compares with git itself in each layout that a repository can have.
func TestHead(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	repo, linked, bare := filepath.Join(dir, "repo"), filepath.Join(dir, "linked"), filepath.Join(dir, "none")
	git := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org", "-C", in}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	head := func(at string) string {
		t.Helper()
		w, err := Open(at)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		return w.Head()
	}
	same := func(what, at string) {
		t.Helper()
		if got, want := head(at), git(at, "rev-parse", "HEAD"); got != want {
			t.Errorf("%s: Head = %q, want %q", what, got, want)
		}
	}

	git(dir, "init", "-q", "repo")
	git(dir, "init", "-q", "none")
	if got := head(bare); got != "" {
		t.Errorf("a repository without a commit has head %q", got)
	}
	git(repo, "commit", "-q", "--allow-empty", "-m", "one")
	same("a branch", repo)
	git(repo, "worktree", "add", "-q", linked, "-b", "other")
	git(linked, "commit", "-q", "--allow-empty", "-m", "two")
	same("a linked worktree", linked)
	git(repo, "pack-refs", "--all")
	same("packed references", repo)
	same("a linked worktree with packed references", linked)
	git(repo, "checkout", "-q", "--detach")
	same("a detached head", repo)
}

func TestHeadOutsideARepository(t *testing.T) {
	w, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if got := w.Head(); got != "" {
		t.Errorf("Head = %q", got)
	}
}

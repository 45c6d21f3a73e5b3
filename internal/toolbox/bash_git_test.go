//go:build unix

package toolbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/shell"
)

// gitRun runs git in dir without the settings of whoever runs the test.
func gitRun(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t.test", "-c", "commit.gpgsign=false"}, args...)...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + dir}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func gitRepo(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("f\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gitRun(t, dir, "init", "-q", "-b", "main")
	gitRun(t, dir, "add", "f")
	gitRun(t, dir, "commit", "-qm", "one")
}

// R146: git only reads where nothing that the repository says can run.
func TestPlainGit(t *testing.T) {
	tests := []struct {
		name, dir string
		with      func(t *testing.T, root string)
		want      bool
	}{
		{"as git makes it", ".", nil, true},
		{"below it", "sub/deep", func(t *testing.T, root string) { mkdir(t, root, "sub/deep") }, true},
		{"with a remote and a branch", ".", func(t *testing.T, root string) {
			gitRun(t, root, "remote", "add", "origin", "https://x.test/y")
			gitRun(t, root, "config", "branch.main.remote", "origin")
		}, true},
		{"with a monitor", ".", config("core.fsmonitor", "touch pwn"), false},
		{"with a filter", ".", config("filter.x.clean", "touch pwn"), false},
		{"with a text converter", ".", config("diff.x.textconv", "touch pwn"), false},
		{"with a pager", ".", config("core.pager", "touch pwn"), false},
		{"with more settings", ".", config("include.path", "../evil.cfg"), false},
		{"with an alias", ".", config("alias.st", "!touch pwn"), false},
		{"with signatures", ".", config("gpg.program", "./evil"), false},
		{"with objects elsewhere", ".", config("remote.origin.promisor", "true"), false},
		{"that is elsewhere", ".", config("core.worktree", "/"), false},
		{"with settings in a work tree", ".", func(t *testing.T, root string) {
			put(t, root, ".git/config.worktree", "[core]\n")
		}, false},
		{"with another repository as an entry", ".", func(t *testing.T, root string) {
			gitRepo(t, filepath.Join(root, "inner"))
			gitRun(t, root, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
		}, false},
		{"with another repository beside it", ".", func(t *testing.T, root string) { gitRepo(t, filepath.Join(root, "inner")) }, true},
		{"with an index that is not read", ".", func(t *testing.T, root string) {
			gitRun(t, root, "update-index", "--index-version", "4")
		}, false},
		{"with an entry that has more flags", ".", func(t *testing.T, root string) {
			put(t, root, "new", "x")
			gitRun(t, root, "add", "-N", "new")
		}, true},
		{"in a directory that is a repository itself", "bare", func(t *testing.T, root string) {
			gitRun(t, root, "init", "-q", "--bare", "bare")
		}, false},
		{"through a link", "link", func(t *testing.T, root string) {
			if err := os.Symlink(t.TempDir(), filepath.Join(root, "link")); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"that a file points to", ".", func(t *testing.T, root string) {
			if err := os.Rename(filepath.Join(root, ".git"), filepath.Join(root, "moved")); err != nil {
				t.Fatal(err)
			}
			put(t, root, ".git", "gitdir: moved\n")
		}, false},
		{"outside", "..", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			gitRepo(t, root)
			if tt.with != nil {
				tt.with(t, root)
			}
			if got := plainGit(root, tt.dir); got != tt.want {
				t.Errorf("plain: %t, want %t", got, tt.want)
			}
		})
	}
}

func config(key, value string) func(*testing.T, string) {
	return func(t *testing.T, root string) { gitRun(t, root, "config", key, value) }
}

func mkdir(t *testing.T, root, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
		t.Fatal(err)
	}
}

func FuzzPlainIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00"))
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.Repeat("\x00", 62) + "name\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, index []byte) {
		if plainIndex(index) && !strings.HasPrefix(string(index), "DIRC") {
			t.Error("what is no index is plain")
		}
	})
}

func TestWorldGlobsAsAShellDoes(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a.go", "b.go", ".hidden.go", "-f", "[x]"} {
		put(t, root, name, "")
	}
	mkdir(t, root, "d")
	put(t, root, "d/c.go", "")
	put(t, root, "d/.e.go", "")
	for pattern, want := range map[string]string{
		"*.go": "a.go b.go", ".*.go": ".hidden.go", "?.go": "a.go b.go", "d/*": "d/c.go", "*/*": "d/c.go", "*/.*": "d/.e.go",
		"none*": "", "d/.": "d/.", "a.go/.": "", "-*": "-f", `\[x\]`: "[x]",
	} {
		if got := strings.Join(expand(root, pattern), " "); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

// A program is the system's only where nobody else could have put it first.
func TestWorldLooksWhereAShellDoes(t *testing.T) {
	root := t.TempDir()
	put(t, root, "ls", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(root, "ls"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"/usr/bin:/bin": true, root + ":/usr/bin:/bin": false, ".:/usr/bin": false, "": false, "/nowhere:/usr/bin:/bin": true,
	} {
		if at, ok := lookUp(root, "ls", []string{"PATH=" + path}); ok != want {
			t.Errorf("%q: %s, %t, want %t", path, at, ok, want)
		}
	}
}

// TestR146_ARepositoryInsideIsAskedAboutBeforeGitAddsIt: once it is in the index, git
// here obeys its settings. One that is ignored, or a submodule already, is not added.
func TestR146_ARepositoryInsideIsAskedAboutBeforeGitAddsIt(t *testing.T) {
	root := t.TempDir()
	gitRepo(t, root)
	for _, dir := range []string{"evil", "deep/er", "ignored", "module"} {
		gitRepo(t, filepath.Join(root, dir))
	}
	put(t, root, ".gitignore", "ignored/\n")
	put(t, root, ".gitmodules", "[submodule \"m\"]\n\tpath = module\n\turl = https://x.test/m\n")
	put(t, root, "plain/f", "f\n")
	w := opened(t, root)
	o := BashOptions{Root: root, Env: []string{"PATH=/usr/bin:/bin"}, Shell: []string{"/bin/bash"}}
	world, spec := World(w, o), Bash(nil, o).Spec()
	rule, err := policy.ParseRule("Bash(git add **)", policy.Allow, policy.FromUser)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string][]string{
		"git add .": {"deep/er", "evil"}, "git add -A": {"deep/er", "evil"}, "git add evil": {"evil"}, "git add evil/": {"evil"}, "cd deep && git add er": {"deep/er"}, `git add "$x"`: {"deep/er", "evil"},
		"git add f": nil, "git add plain": nil, "git add module": nil, "git add ignored": nil, "git status": nil,
	} {
		parts, _ := shell.Parts(line, world)
		parts = bounded(parts, func(effect.Set) bool { return true })
		var got []string
		for _, e := range together(parts) {
			if dir, ok := strings.CutSuffix(e.On, "/.git"); ok && e.Kind == effect.Write {
				got = append(got, dir)
			}
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%s adds %q, want %q", line, got, want)
		}
		p := policy.Policy{Mode: policy.ModeAuto, Root: root, Rules: []policy.Rule{rule}}
		if d := p.Decide(spec, parts); len(want) > 0 && d.Verdict != policy.Ask || line == "git add f" && d.Verdict != policy.Allow {
			t.Errorf("%s: %s: %s", line, d.Verdict, d.Reason)
		}
	}
}

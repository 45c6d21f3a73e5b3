package compaction

import (
	"context"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A repository is a published source tree. Nothing of it is kept here: it is
// fetched by the ordinary client of its registry, and refused if its sum is
// another one.
type repository struct {
	name    string
	licence string
	module  string // of Go, with its version; the sum is that of go.sum
	pack    string // of npm, with its version; the sum is SHA-512 of the archive, in hex
	sum     string
}

// repositories are what the sessions work on.
var repositories = []repository{
	{name: "pflag", licence: "BSD-3-Clause", module: "github.com/spf13/pflag@v1.0.9", sum: "h1:9exaQaMOCwffKiiiYk6/BndUBv+iRViNW+4lEMi0PvY="},
	{name: "doublestar", licence: "MIT", module: "github.com/bmatcuk/doublestar/v4@v4.10.4", sum: "h1:oTKkRmRuOsKMqFe1AQazd9gGBFNEpOmgKp/xzB97dnA="},
	{name: "pinyin", licence: "MIT", module: "github.com/mozillazg/go-pinyin@v0.20.0", sum: "h1:BtR3DsxpApHfKReaPO1fCqF4pThRwH9uwvXzm+GnMFQ="},
	{name: "semver", licence: "ISC", pack: "semver@7.6.3", sum: "a157a43f570ab48f824c3bc759815470cb6c2bfd34c260047f2a8a7cd740466f2ed7035585281a5fb03c77852e225508e5ef38884c0e86ced93d8466cd4f54e8"},
}

func repositoryNamed(name string) (repository, error) {
	for _, r := range repositories {
		if r.name == name {
			return r, nil
		}
	}
	return repository{}, fmt.Errorf("no repository is named %q", name)
}

// checkout makes dir a git repository with the tree of r, committed by nobody at
// no time, so that its commit is the same wherever it is made.
func (r repository) checkout(ctx context.Context, dir string) error {
	tree := r.fetchModule
	if r.pack != "" {
		tree = r.fetchPack
	}
	if err := tree(ctx, dir); err != nil {
		return fmt.Errorf("fetch %s: %w", r.name, err)
	}
	if err := dated(dir, func(string) (time.Time, error) { return published, nil }); err != nil {
		return err
	}
	for _, argv := range [][]string{
		{"git", "init", "-q", "-b", "main"},
		{"git", "add", "-A"},
		{"git", "commit", "-q", "-m", "as it came"},
	} {
		if _, err := output(ctx, dir, argv...); err != nil {
			return err
		}
	}
	return nil
}

// published is when every file of a checkout was changed last: a search tells the
// newest first, and is to find the same wherever a session is made.
var published = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// dated gives each file below dir the time that when returns for its path there.
func dated(dir string, when func(name string) (time.Time, error)) error {
	return fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		t, err := when(name)
		if err != nil {
			return err
		}
		return os.Chtimes(filepath.Join(dir, name), t, t)
	})
}

func (r repository) fetchModule(ctx context.Context, dir string) error {
	out, err := output(ctx, "", "go", "mod", "download", "-json", r.module)
	if err != nil {
		return err
	}
	var got struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &got); err != nil {
		return fmt.Errorf("go mod download: %w", err)
	}
	if got.Sum != r.sum {
		return fmt.Errorf("the sum of %s is %s, not %s", r.module, got.Sum, r.sum)
	}
	return os.CopyFS(dir, os.DirFS(got.Dir))
}

func (r repository) fetchPack(ctx context.Context, dir string) (err error) {
	away, err := os.MkdirTemp("", "belay-eval-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(away)) }()
	out, err := output(ctx, away, "npm", "pack", "--silent", "--prefer-offline", r.pack)
	if err != nil {
		return err
	}
	archive := filepath.Join(away, strings.TrimSpace(string(out)))
	text, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	if sum := sha512.Sum512(text); hex.EncodeToString(sum[:]) != r.sum {
		return fmt.Errorf("the sum of %s is %x, not %s", r.pack, sum, r.sum)
	}
	if _, err := output(ctx, away, "tar", "-xzf", archive); err != nil {
		return err
	}
	return os.CopyFS(dir, os.DirFS(filepath.Join(away, "package")))
}

// output runs a program and returns what it printed on standard output.
func output(ctx context.Context, dir string, argv ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = append(os.Environ(),
		"GIT_AUTHOR_NAME=nobody", "GIT_AUTHOR_EMAIL=nobody@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=nobody", "GIT_COMMITTER_EMAIL=nobody@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return out, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, said.String())
	}
	return out, nil
}

package compaction

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

func estimate(text string) int { return tool.EstimateTokens(text) }

// What a line of a handoff can say that the workspace can be asked about.
var (
	digestRE = regexp.MustCompile(`\b(?:digest|sha256|sha-256)[ :=]*([0-9a-f]{8,64})\b`)
	existsRE = regexp.MustCompile(`\b(?:created|changed|written|modified|edited)\b`)
	goneRE   = regexp.MustCompile(`\bremoved\b|\bdeleted\b|does not exist|not there`)
	runRE    = regexp.MustCompile(`^\W*((?:go test|node --test)[^:\n]*): (passed|succeeded|failed)`)
	staleRE  = regexp.MustCompile(`before the newest changes|since changed`)
)

// contradictions lists what a handoff says and the workspace denies: a file that
// it says was made or changed and that is not there, one that it says is gone and
// is there, a digest that is another one, a test that it says passed and fails,
// or the other way round. Words that somebody said are quoted, not claimed: they
// stand below the heading of the person's own words.
func contradictions(ctx context.Context, handoff, root string) (all []string, err error) {
	quoted := false
	for line := range strings.Lines(handoff) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			quoted = strings.Contains(line, "own words")
		}
		if quoted {
			continue
		}
		all = append(all, denied(line, root)...)
		if m := runRE.FindStringSubmatch(line); m != nil && !staleRE.MatchString(line) {
			passes, err := runs(ctx, root, m[1])
			if err != nil {
				return all, err
			}
			if said := m[2] != "failed"; said != passes {
				all = append(all, fmt.Sprintf("%q, and it is not so", line))
			}
		}
	}
	return all, nil
}

// denied compares what a line says of the file that it begins with.
func denied(line, root string) (all []string) {
	path, rest, ok := strings.Cut(strings.TrimLeft(line, "-*• "), ": ")
	if !ok || strings.ContainsAny(path, " \t") {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // no path
	}
	switch gone := goneRE.MatchString(rest); {
	case gone && there:
		all = append(all, path+" is said to be gone, and is there")
	case !gone && !there && existsRE.MatchString(rest):
		all = append(all, path+" is said to be there, and is not")
	}
	if m := digestRE.FindStringSubmatch(rest); m != nil && there {
		if sum := sha256.Sum256(text); !strings.HasPrefix(hex.EncodeToString(sum[:]), m[1]) {
			all = append(all, path+" is said to have another digest than it has")
		}
	}
	return all
}

// runs runs a command of tests and reports whether it succeeded.
func runs(ctx context.Context, root, command string) (bool, error) {
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Dir, c.Env = root, environment()
	err := c.Run()
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		return false, ctx.Err()
	}
	return err == nil, err
}

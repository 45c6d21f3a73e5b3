//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestPromise_P09_LateWritesAreKeptAndTold: a program has a file open, the agent
// replaces the file, the program writes: what it wrote is in no file any more, so
// it is kept, and the person is told where.
func TestPromise_P09_LateWritesAreKeptAndTold(t *testing.T) {
	for name, home := range map[string]string{"with history": t.TempDir(), "without": ""} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "notes.txt", "one\ntwo\n")
			f, err := os.OpenFile(filepath.Join(dir, "notes.txt"), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			open := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) // the file as the program has it, whatever its name leads to
			if _, err := os.Stat(open); err != nil {
				t.Skip("the files that a process has open cannot be named here")
			}
			script := put(t, t.TempDir(), "s.txtar", `-- step --
call: Read {"path": "notes.txt"}
-- step --
call: Edit {"path": "notes.txt", "old": "two", "new": "2"}
-- step --
call: Bash {"command": "echo late >> `+open+`"}
-- step --
say: Done.
`)
			var out, progress bytes.Buffer
			environ := []string{"PATH=" + os.Getenv("PATH")}
			if home != "" {
				environ = append(environ, "HOME="+home)
			}
			code := Main(System{
				Args: []string{"run", "-C", dir, "--mode", "full", "-m", "script:" + script, "go"}, Environ: environ,
				Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &progress,
			})
			if code != exitDone {
				t.Fatalf("exit status %d: %s", code, &progress)
			}
			said := regexp.MustCompile(`what they wrote is in (\S+)`).FindStringSubmatch(progress.String())
			if said == nil {
				t.Fatalf("nothing was said: %s", &progress)
			}
			kept, err := os.ReadFile(said[1])
			if err != nil || !bytes.Contains(kept, []byte("late")) {
				t.Errorf("%s holds %q (%v)", said[1], kept, err)
			}
			if home == "" {
				os.Remove(said[1])
			}
			if now := read(t, filepath.Join(dir, "notes.txt")); now != "one\n2\n" {
				t.Errorf("the file is %q", now)
			}
		})
	}
}

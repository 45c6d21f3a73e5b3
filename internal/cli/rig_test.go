package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// run runs the program in an empty directory, under settings.
func run(t *testing.T, settings string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "belay"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "belay", "config.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	status = Main(System{
		Args: args, Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Environ: []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home, "PATH=" + os.Getenv("PATH")},
	})
	return status, out.String(), errs.String()
}

// TestARuleThatItsToolCannotRead is only seen once the tools are there: of a
// command line anything would do.
func TestARuleThatItsToolCannotRead(t *testing.T) {
	status, _, stderr := run(t, "[rules]\nallow = [\"Read(a [)\"]\n", "tool", "list")
	if status != exitUsage || !strings.Contains(stderr, "rule Read(a [): the pattern is not a glob") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestToolCallChecksAllArgumentsFirst(t *testing.T) {
	status, stdout, stderr := run(t, "", "tool", "call", "LS", "{}", "LS", "{")
	if status != exitUsage || stdout != "" || !strings.Contains(stderr, "the arguments of LS are not JSON: {") {
		t.Errorf("status %d, printed %q: %s", status, stdout, stderr)
	}
}

package trace_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/cli"
)

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// demo writes the trace of a real demonstration.
func demo(t testing.TB) (file string) {
	t.Helper()
	dir := t.TempDir()
	belay := func(dir string, args ...string) {
		t.Helper()
		s := cli.System{Args: args, Dir: dir, Environ: []string{"HOME=" + filepath.Join(dir, "..", "home"), "PATH=" + os.Getenv("PATH")}, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
		if status := cli.Main(s); status != 0 {
			t.Fatalf("belay %v: exit status %d", args, status)
		}
	}
	sample := filepath.Join(dir, "sample")
	if err := os.Mkdir(filepath.Join(dir, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	belay(dir+"/home", "demo", "--into", sample)
	file = filepath.Join(dir, "demo.html")
	belay(sample, "trace", "-o", file)
	return file
}

func TestDemoOpens(t *testing.T) {
	tb := openTab(t, demo(t), wide)
	if got := tb.text("#goal"); !strings.HasPrefix(got, "The tests fail.") {
		t.Errorf("the goal is %q", got)
	}
	tb.press("n")
	if got := tb.text("#detail h2"); got != "✗ Bash sh test.sh" {
		t.Errorf("the first problem is %q", got)
	}
}

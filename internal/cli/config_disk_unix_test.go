//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fullEnv makes this test binary a process for which the disk is full.
const fullEnv = "TEST_CONFIG_FULL"

func TestBug_F02_FullDiskLosesNothing(t *testing.T) {
	if os.Getenv(fullEnv) != "" {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 20, Max: 20}); err != nil {
			t.Fatal(err)
		}
		err := SetConfig(os.Args[len(os.Args)-1], "model", "provider/a-long-name")
		if e, ok := errors.AsType[*ConfigError](err); !ok || !errors.Is(e.Err, syscall.EFBIG) {
			t.Fatalf("got %v", err)
		}
		return
	}
	old := "# what was there\nmode = \"plan\"\n"
	dir := t.TempDir()
	for file, want := range map[string][]string{
		put(t, dir, "a/config.toml", old):      {"config.toml"},
		filepath.Join(dir, "b", "config.toml"): nil,
	} {
		c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", file)
		c.Env = append(os.Environ(), fullEnv+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		var left []string
		files, _ := os.ReadDir(filepath.Dir(file))
		for _, f := range files {
			left = append(left, f.Name())
		}
		if d := cmp.Diff(want, left); d != "" {
			t.Error(d)
		}
		if want != nil && read(t, file) != old {
			t.Errorf("it is now %q", read(t, file))
		}
	}
}

func TestUnreadableIsNotMissing(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	closed := put(t, dir, "closed/config.toml", "")
	for name, file := range map[string]string{
		"directory": dir,
		"pipe":      fifo,
		"loop":      loop,
		"huge":      put(t, dir, "huge.toml", strings.Repeat("#", maxConfig+1)),
		"long name": filepath.Join(dir, strings.Repeat("x", 300)),
		"forbidden": closed,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "forbidden" {
				if os.Geteuid() == 0 {
					t.Skip("nothing is forbidden to root")
				}
				os.Chmod(closed, 0)
			}
			_, err := LoadConfig(Sources{User: file, Getenv: none})
			if e, ok := errors.AsType[*ConfigError](err); !ok || e.File != file {
				t.Errorf("got %v", err)
			}
			if err := SetConfig(file, "mode", "plan"); err == nil {
				t.Error("it was changed")
			}
		})
	}
}

//go:build linux

package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/belay-agent/belay/internal/world/process"
)

// TestMain is also the program that tests kill: see role; and init of sandboxes.
func TestMain(m *testing.M) {
	if code, ours := process.Main(os.Args); ours {
		syscall.Exit(code) // without the second for which the race detector waits: that was each command's
	}
	if role := os.Getenv("PROCESS_TEST_ROLE"); role != "" {
		switch role {
		case "escape":
			escape()
			return
		case "hog":
			hog()
			return
		case "flood":
			flood()
			return
		case "world":
			playWorld()
			return
		case "fetch":
			fetch(os.Args[1])
			return
		}
		if shape, ok := strings.CutPrefix(role, "leak "); ok {
			leak(shape)
			return
		}
		play(role)
		return
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		if left := children(""); len(left) > 0 {
			fmt.Fprintln(os.Stderr, "children left:", left)
			code = 1
		}
	}
	os.Exit(code)
}

// children lists our own children that have not been waited for, but for those
// with that argument.
func children(but string) (left []string) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(b), ") ")
		if f := strings.Fields(after); len(f) > 1 && f[1] == strconv.Itoa(os.Getpid()) {
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			if but == "" || !strings.Contains(string(args), but) {
				left = append(left, string(b))
			}
		}
	}
	return left
}

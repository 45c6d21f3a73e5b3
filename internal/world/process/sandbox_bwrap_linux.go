package process

import (
	"fmt"
	"os"
	"slices"
)

// bubblewrap returns the arguments before those of program that have bwrap make
// v. Run by root it leaves every capability where it is not told otherwise, with
// which all of it can be undone.
func bubblewrap(v view, program string, network bool) ([]string, error) {
	path, err := look("bwrap", []string{"PATH=/usr/local/bin:/usr/bin:/bin"})
	if err != nil {
		return nil, err
	}
	args := []string{
		path, "--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--as-pid-1",
		"--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
	}
	if network {
		args = append(args, "--share-net")
	}
	if _, err := os.Stat("/run"); err == nil {
		args = append(args, "--tmpfs", "/run")
	}
	for _, path := range v.Keep {
		args = append(args, "--ro-bind-try", path, path)
	}
	args = append(args, "--bind", v.Tmp, "/tmp")
	if _, err := os.Stat("/var/tmp"); err == nil {
		args = append(args, "--bind", varTmp(v.Tmp), "/var/tmp")
	}
	for _, path := range append(slices.Clone(v.Show), program) {
		args = append(args, "--ro-bind-try", path, path)
	}
	for _, path := range append(v.Open, v.Pin...) {
		args = append(args, "--bind-try", path, path)
	}
	for _, path := range v.Shut {
		args = append(args, "--ro-bind", path, path)
	}
	for _, path := range v.Hide {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		cover := coverFile(v.Tmp)
		if info.IsDir() {
			cover = coverDir(v.Tmp)
		}
		args = append(args, "--ro-bind", cover, path)
	}
	if len(args) > 8<<10 {
		return nil, fmt.Errorf("too much for bwrap: %d arguments", len(args))
	}
	return append(args, "--", program), nil
}

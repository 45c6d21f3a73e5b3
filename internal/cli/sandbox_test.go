package cli

import (
	"os/user"
	"path/filepath"
	"slices"
	"testing"
)

// Another HOME opens nothing of the user's own.
func TestPromise_P21_KeysAreHiddenInTheUsersOwnHomeToo(t *testing.T) {
	u, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	home := t.TempDir()
	box := System{Environ: []string{"HOME=" + home}}.sandbox(t.TempDir())
	for _, dir := range []string{home, u.HomeDir} {
		for _, name := range []string{".ssh", ".bash_history"} {
			if path := filepath.Join(dir, name); !slices.Contains(box.Secrets, path) {
				t.Errorf("%s can be read", path)
			}
		}
	}
}

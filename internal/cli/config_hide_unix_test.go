//go:build unix

package cli

import (
	"os"
	"testing"
)

func TestSettingAKeyHidesTheFile(t *testing.T) {
	for _, tt := range []struct {
		key, value string
		want       os.FileMode
	}{
		{"providers.corp.key", "a-long-key", 0o600},
		{"providers.corp.key", "${CORP_KEY}", 0o644}, // says only where it is
		{"providers.corp.key_env", "CORP_KEY", 0o644},
		{"mode", "plan", 0o644},
	} {
		file := put(t, t.TempDir(), "config.toml", "effort = \"low\"\n")
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := SetConfig(file, tt.key, tt.value); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != tt.want {
			t.Errorf("%s %s: mode %v, %v; want %v", tt.key, tt.value, info.Mode(), err, tt.want)
		}
	}
}

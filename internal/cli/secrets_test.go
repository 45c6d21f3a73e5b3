package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// TestR136_MarksAreTheSameAfterAResume: the key of marks is made once, also by
// sessions that begin at the same time, and nobody else can read it.
func TestR136_MarksAreTheSameAfterAResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := markKey(dir, bytes.Repeat([]byte{byte(i)}, markKeyLen))
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	all.Wait()
	for i, key := range keys {
		if len(key) != markKeyLen || !bytes.Equal(key, keys[0]) {
			t.Errorf("session %d has key %x, the first %x", i, key, keys[0])
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	name := filepath.Join(dir, entries[0].Name())
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
	if err := os.WriteFile(name, []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := markKey(dir, make([]byte, markKeyLen)); err == nil {
		t.Errorf("a damaged key is used: %x", key)
	}
}

//go:build unix

package snapshot

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestASpecialFileIsNotCovered(t *testing.T) {
	p := newPlace(t, nil)
	p.before("c1")
	p.do(syscall.Mkfifo(filepath.Join(p.root, "pipe"), 0o600))
	p.want("c1", "undo does not cover these changes: pipe (neither a file nor a link)")
}

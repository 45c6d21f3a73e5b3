//go:build !linux

package process

import (
	"os"
	"os/exec"
)

// A cage holds nothing on this system.
type cage struct{}

func (h *Host) confine(*exec.Cmd, Command, string) (*cage, error) {
	if h.sandbox.Required {
		return nil, ErrUnheld
	}
	return nil, nil
}

func (k *cage) begin(_ *exec.Cmd, err error) error { return err }

func (k *cage) end(e *Exit, s *os.ProcessState) { e.Code, e.Signal = status(s) }

func (k *cage) held() string { return string(None) }

func (k *cage) whole() bool { return false }

func (k *cage) close() {}

func (h *Host) probe() (Profile, map[Profile]string) {
	return None, map[Profile]string{Full: "there is no sandbox for this system yet"}
}

func guard(string) {}

func (h *Host) tidy() {}

// Main has no part here.
func Main([]string) (code int, ours bool) { return 0, false }

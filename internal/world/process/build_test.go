package process

import (
	"os"
	"os/exec"
	"testing"
)

// R135: what differs between systems is in files of their own, and every system
// has all of them.
func TestR135_ItBuildsForEverySystem(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library for other systems")
	}
	for _, system := range []string{"windows", "darwin", "linux"} {
		c := exec.Command("go", "build", ".")
		c.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", system, err, out)
		}
	}
}

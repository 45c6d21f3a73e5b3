package process_test

import (
	"os"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/world/process"
)

func TestTry(t *testing.T) {
	for _, p := range []process.Profile{process.Full, process.Bubblewrap, process.Namespaces, process.Landlock} {
		root := t.TempDir()
		exe, _ := os.Executable()
		h, err := process.Sandbox{Program: exe, Root: root, Only: p}.Open("")
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		t.Log(h.Profile(), h.Gaps())
		c := script(t, os.Getenv("TRY"))
		c.Dir = root
		c.Allowed = effect.Set{{Kind: effect.Write, On: "."}}
		e, err := h.Run(t.Context(), c)
		head := string(e.Head)
		e.Head = nil
		t.Logf("%+v %v\n%s", e, err, head)
	}
}

//go:build !linux

package process

import (
	"os"
	"os/exec"
)

// Orphans are what only Linux gives to us.
type orphans struct{}

var kin orphans

func (o *orphans) start(cmd *exec.Cmd, _ bool) error { return cmd.Start() }
func (o *orphans) adopt()                            {}
func (o *orphans) leave()                            {}
func (o *orphans) waited(*os.Process)                {}
func (o *orphans) lead(*tree)                        {}
func (o *orphans) bury()                             {}

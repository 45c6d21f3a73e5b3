package process

import (
	"errors"
	"fmt"
)

// Shell returns the arguments before a script that make a shell of PATH in env
// run it: bash without start-up files where there is one, else sh.
func Shell(env []string) ([]string, error) {
	if path, err := look("bash", env); err == nil {
		return []string{path, "--noprofile", "--norc", "-c"}, nil
	}
	path, err := look("sh", env)
	if err != nil {
		return nil, fmt.Errorf("find a shell: %w", errors.Join(errors.New("neither bash nor sh"), err))
	}
	return []string{path, "-c"}, nil
}

// Look returns where a program is, by the PATH of env. The error is
// fs.ErrNotExist if it is nowhere.
func Look(program string, env []string) (string, error) { return look(program, env) }

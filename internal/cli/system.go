// Package cli is the command line: commands, configuration, and the one place
// where tools, provider, journal and front end are put together.
package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// A System is the program's surroundings. Only this package reads them.
type System struct {
	Args    []string // without the program's name
	Environ []string // NAME=value
	Dir     string   // to work in; "" is the current directory
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Program string // of this process, for a sandbox to start with: it calls process.Main; "" is no sandbox
}

// Process returns the surroundings of this process.
func Process() System {
	return System{Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Program: program()}
}

// in returns s with dir as the directory to work in, unless that is "".
func (s System) in(dir string) System {
	if dir != "" {
		s.Dir = dir
	}
	return s
}

// dir returns the directory to work in.
func (s System) dir() string {
	if s.Dir == "" {
		return "."
	}
	return s.Dir
}

// getenv returns the last value of name, "" if there is none.
func (s System) getenv(name string) string {
	for i := len(s.Environ) - 1; i >= 0; i-- {
		if kv := s.Environ[i]; len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// isTerminal reports whether f, one of the streams above, is a terminal.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// width returns the cells of a line on f, 80 if it is not a terminal.
func width(f any) int {
	w, _ := size(f)
	return w
}

// size returns the cells of a line on f and its rows, 80 and 24 where it does not
// tell.
func size(f any) (width, height int) {
	if file, ok := f.(*os.File); ok {
		if w, h, err := term.GetSize(int(file.Fd())); err == nil && w > 0 && h > 0 {
			return w, h
		}
	}
	return 80, 24
}

// obeys reports whether f is a terminal that knows escape sequences.
func (s System) obeys(f any) bool {
	return isTerminal(f) && s.getenv("TERM") != "dumb" && s.getenv("TERM") != ""
}

// colours reports whether f can show colours and the user wants them.
func (s System) colours(f any) bool { return s.obeys(f) && s.getenv("NO_COLOR") == "" }

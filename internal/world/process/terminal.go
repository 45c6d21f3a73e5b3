package process

import "github.com/creack/pty"

// A Size is that of a terminal, in characters.
type Size struct{ Rows, Columns uint16 }

// newTerminal returns the plumbing of a command on a terminal of its own. What it
// prints comes with the line ends and the echo of a terminal.
func newTerminal(size Size) (p plumbing, err error) {
	ours, theirs, err := pty.Open()
	if err != nil {
		return p, err
	}
	if ours, err = polled(ours); err != nil {
		closeAll(theirs)
		return p, err
	}
	p = plumbing{from: single{ours}, to: ours, in: theirs, out: theirs, err: theirs}
	if err = pty.Setsize(theirs, &pty.Winsize{Rows: size.Rows, Cols: size.Columns}); err != nil {
		p.close()
	}
	return p, err
}

// endOfInput is what a terminal turns into the end of what is read from it.
const endOfInput = "\x04"

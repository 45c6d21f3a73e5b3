package cli

import "fmt"

// A ConfigError is a setting that cannot be used. Line and Column count from 1,
// the column in bytes; they are 0 where the place is the whole file, or no file
// at all.
type ConfigError struct {
	File         string // or the flag
	Line, Column int
	Message      string
	Err          error // that of the operating system, if it is one
}

func (e *ConfigError) Error() string {
	switch {
	case e.File == "":
		return e.Message
	case e.Line == 0:
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

func (e *ConfigError) Unwrap() error { return e.Err }

package main

import (
	"os"
	"syscall"
)

// peak returns the largest resident set of the process, or of a child that it
// waited for, in bytes.
func peak(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}

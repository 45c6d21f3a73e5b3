package journal

import (
	"os"
	"path/filepath"
)

// ballastSize is how much room is kept for the results of running calls.
const ballastSize = 1 << 20

func (l *diskLog) ballastName() string { return filepath.Join(l.dir, "ballast") }

// load takes ballast, unless it is there, and reports whether it is now. A disk
// that has no room for it goes without.
func (l *diskLog) load() bool {
	if l.ballast {
		return true
	}
	f, err := l.disk.open(l.ballastName(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false
	}
	n, err := f.size()
	if err == nil && n < ballastSize {
		err = f.reserve(n, ballastSize-n)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	l.ballast = err == nil
	if !l.ballast {
		l.disk.remove(l.ballastName()) // it may have grown by a part; what stays is swept like the whole
	}
	return l.ballast
}

// drop throws the ballast off and reports whether that made room.
func (l *diskLog) drop() bool {
	if !l.ballast {
		return false
	}
	l.ballast, l.spent = false, true
	return l.disk.remove(l.ballastName()) == nil
}

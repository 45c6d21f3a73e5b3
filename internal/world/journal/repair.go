package journal

import (
	"fmt"
	"os"
)

// Repair does to the session in dir what cannot lose anything, and says what
// that was, a sentence each: it cuts off a torn end, of which it keeps a copy
// and a record in the log, and removes files that were never finished. It does
// nothing that Open would not do. Damage is an error, a *Corrupt, and nothing is
// changed: Read shows what is intact, and Fork goes on from before it. A session
// that is in use is a *Locked.
func Repair(dir string) (done []string, err error) {
	if err := repairable(dir); err != nil {
		return nil, fmt.Errorf("repair session %s: %w", dir, err)
	}
	j, err := Options{}.Open(dir)
	if err != nil {
		return nil, err
	}
	return j.repairs, j.Close()
}

// repairable reports what keeps dir from being repaired, before anything is
// changed.
func repairable(dir string) error {
	if _, err := os.Lstat(dir); err != nil {
		return err
	}
	_, err := survey(system{}, dir)
	return err
}

// mended says what start did to a session that was not closed.
func (j *Journal) mended(format string, args ...any) {
	j.repairs = append(j.repairs, fmt.Sprintf(format, args...))
}

package journal

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/belay-agent/belay/internal/world/failpoint"
)

// A tail is a file that is written at its end. Space is set aside in front of
// that, so that a sync need not also write down a new size.
type tail struct {
	f    file
	end  int64 // of what is written; zeros follow up to size
	size int64
}

// ahead is how many bytes are set aside.
const ahead = 1 << 20

// reserve sets space aside for n more bytes and some. The error is that the disk
// is full; where space cannot be set aside, the file just grows.
func (t *tail) reserve(n int64) error {
	if t.end+n <= t.size {
		return nil
	}
	var err error
	for _, step := range [2]int64{ahead, 4 << 10} {
		want := (t.end + n + step - 1) / step * step
		err = t.f.reserve(t.size, want-t.size)
		if err == nil {
			t.size = want
		}
		if !isFull(err) {
			return nil
		}
	}
	return err
}

// isFull reports whether err is that the disk, or our part of it, is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// write writes b behind the end. After an error nothing of it is left there, on
// stable storage too, as far as that can be done; if it cannot although the disk
// is only full, the error is another.
func (t *tail) write(b []byte) error {
	err := t.reserve(int64(len(b)))
	if err != nil {
		return err
	}
	if failpoint.Enabled {
		t.f.WriteAt(b[:len(b)/2], t.end) // what fails here fails again below
		failpoint.Hit("journal half written")
	}
	if _, err = t.f.WriteAt(b, t.end); err == nil {
		t.end += int64(len(b))
		t.size = max(t.size, t.end)
		return nil
	}
	again := t.f.truncate(t.end)
	if again == nil {
		t.size = t.end
		again = t.f.sync()
	}
	if again != nil && isFull(err) {
		return fmt.Errorf("cut off what a full disk did not take: %w", again)
	}
	return err
}

// finish gives back the space set aside and closes the file.
func (t *tail) finish() error {
	err := t.f.truncate(t.end)
	if err == nil {
		err = t.f.sync()
	}
	return errors.Join(err, t.f.Close())
}

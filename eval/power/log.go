// Package power is a disk whose power can be cut, for tests: it logs each write
// and each flush that a file system sends it, and makes images of what may be left
// of it after any of them.
package power

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
)

// A Log is what was written to a disk, in order. What stood before a flush is
// safe; any of what came after the last one may be lost, whole or sector by sector.
// The zero Log is empty. Its methods may be called concurrently.
type Log struct {
	mu      sync.Mutex
	entries []entry
	flushes int
	bytes   int64
}

// An entry is a write, or a flush if data is nil.
type entry struct {
	data []byte
	at   int64
}

// Write adds a write of data, which it copies, at an offset.
func (l *Log) Write(data []byte, at int64) {
	if len(data) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry{slices.Clone(data), at})
	l.bytes += int64(len(data))
}

// Flush adds a flush.
func (l *Log) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry{})
	l.flushes++
}

// Len counts the entries until now.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

// Flushes counts the flushes among them.
func (l *Log) Flushes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flushes
}

// String says how much there is.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("%d writes of %d KiB in all, %d flushes", len(l.entries)-l.flushes, l.bytes>>10, l.flushes)
}

// A Cut is a power cut after so many entries of a log.
type Cut struct {
	After  int
	Sector int // bytes that the disk writes whole or not at all
	*rand.Rand
}

// Apply writes to image, which is as it was when the log began, what the cut
// leaves: all up to the last flush and, by lot, about half of the rest, of which
// a quarter is torn. One cut in eight leaves all of the rest, one nothing.
// It returns how many writes were lost in whole or in part.
func (l *Log) Apply(image io.WriterAt, c Cut) (lost int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	done := l.entries[:c.After]
	safe := 0
	for i, e := range done {
		if e.data == nil {
			safe = i
		}
	}
	luck := c.IntN(8)
	for i, e := range done {
		lot := c.IntN(8)
		switch {
		case e.data == nil:
			continue
		case i < safe || luck == 0 || luck > 1 && lot < 3:
			_, err = image.WriteAt(e.data, e.at)
		case luck > 1 && lot < 5:
			lost++
			err = c.torn(image, e)
		default:
			lost++
		}
		if err != nil {
			return lost, fmt.Errorf("replay write %d: %w", i, err)
		}
	}
	return lost, nil
}

// torn writes each sector of e, or leaves it as it was, by lot.
func (c Cut) torn(image io.WriterAt, e entry) error {
	at := e.at
	for sector := range slices.Chunk(e.data, c.Sector) {
		if c.IntN(2) == 0 {
			if _, err := image.WriteAt(sector, at); err != nil {
				return err
			}
		}
		at += int64(len(sector))
	}
	return nil
}

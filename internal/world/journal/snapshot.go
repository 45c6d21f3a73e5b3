package journal

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A snapshot file is a line that says which event it was taken after, that
// event's checksum, and how long the state is and what it sums up to; then the
// state.
const (
	snapshotPrefix = "snapshot-"
	snapshotHead   = "S1 %016x %08x %08x %08x\n"
	snapshotLimit  = 256 << 20
	snapshotsKept  = 2
)

// Keep stores state, which is what all events up to seq add up to, as a cache
// beside the log: it is not synced, and may be deleted at any time. Only the two
// newest stay. The journal does not look into state, which is stored as it is:
// it must come from nothing but events that Append or Since gave.
func (j *Journal) Keep(seq int64, state []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	l, ok := j.log.(*diskLog)
	switch {
	case j.failed != nil:
		return j.failed
	case !ok:
		return nil
	case len(state) > snapshotLimit:
		return &TooLarge{Name: "the state of the session", Bytes: int64(len(state)), Limit: snapshotLimit}
	}
	crc, err := j.crcOf(seq)
	if err == nil {
		head := fmt.Appendf(nil, snapshotHead, seq, crc, len(state), crc32.Checksum(state, castagnoli))
		err = replace(l.disk, filepath.Join(l.dir, snapshotName(seq)), append(head, state...))
	}
	if err != nil {
		return fmt.Errorf("keep the state after event %d: %w", seq, err)
	}
	return prune(l.disk, l.dir, seq)
}

func snapshotName(seq int64) string { return fmt.Sprintf("%s%d", snapshotPrefix, seq) }

// crcOf returns the checksum of event seq. It ties a snapshot to what happened
// up to there: after a power cut the same number may be another event's.
func (j *Journal) crcOf(seq int64) (uint32, error) {
	if seq == j.last.seq {
		return j.last.crc, nil
	}
	for f, err := range j.log.frames(seq - 1) {
		if err != nil {
			return 0, err
		}
		if f.Seq == seq {
			return f.crc, nil
		}
		if f.Seq > seq {
			break
		}
	}
	return 0, fmt.Errorf("there is no event %d", seq)
}

// Snapshot returns the newest state that Keep stored and that fits the log, and
// the event after which it was; 0 and nothing if there is none.
func (j *Journal) Snapshot() (seq int64, state []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l, ok := j.log.(*diskLog)
	if !ok || j.failed != nil {
		return 0, nil
	}
	seqs, err := snapshots(l.disk, l.dir)
	if err != nil {
		return 0, nil
	}
	for _, seq := range seqs {
		b, err := readFile(l.disk, filepath.Join(l.dir, snapshotName(seq)), snapshotLimit+100)
		if err != nil || seq > j.last.seq {
			continue
		}
		crc, err := j.crcOf(seq)
		if err != nil {
			continue
		}
		if state, ok := checkSnapshot(b, seq, crc); ok {
			return seq, state
		}
	}
	return 0, nil
}

// checkSnapshot returns the state in b if it is that after event seq.
func checkSnapshot(b []byte, seq int64, crc uint32) ([]byte, bool) {
	head, state, _ := bytes.Cut(b, []byte("\n"))
	want := fmt.Appendf(nil, snapshotHead, seq, crc, len(state), crc32.Checksum(state, castagnoli))
	return state, string(head)+"\n" == string(want)
}

// snapshots returns after which events there are some, newest first.
func snapshots(d disk, dir string) ([]int64, error) {
	names, err := d.list(dir)
	var seqs []int64
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, snapshotPrefix)
		seq, err := strconv.ParseInt(digits, 10, 64)
		if ok && err == nil && seq > 0 && snapshotName(seq) == name {
			seqs = append(seqs, seq)
		}
	}
	slices.Sort(seqs)
	slices.Reverse(seqs)
	return seqs, err
}

// prune removes all snapshots but the one after seq and the newest before it.
func prune(d disk, dir string, seq int64) error {
	seqs, err := snapshots(d, dir)
	if err != nil {
		return err
	}
	kept := 0
	for _, s := range seqs {
		if s <= seq && kept < snapshotsKept {
			kept++
			continue
		}
		if err := d.remove(filepath.Join(dir, snapshotName(s))); err != nil {
			return err
		}
	}
	return nil
}

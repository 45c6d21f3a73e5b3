package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestPromise_P03_PowerCuts tries 150 sessions, and the soak 100,000 more.
func TestPromise_P03_PowerCuts(t *testing.T) {
	t.Parallel()
	powerCuts(t, 1, 150)
}

// powerCuts runs as many sessions, each with several lives, on a disk that
// loses or reorders what was not synced. Whatever happened: the session opens;
// what it holds is what was appended, in that order, up to somewhere behind all
// that was acknowledged; and the artifacts of that are there.
func powerCuts(t *testing.T, first, seeds uint64) {
	var all tally
	for seed := first; seed < first+seeds; seed++ {
		s := powered{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 3)), handles: map[string]string{}, tally: &all}
		s.drive = newDrive(s.r)
		s.drive.bare = s.r.IntN(4) == 0
		for range 2 + s.r.IntN(3) {
			s.life(s.r.IntN(70))
		}
		s.life(-1)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d sessions: %d acknowledged, %d power cuts, %d torn ends cut off, %d times full, %d snapshots used",
		seeds, all.acknowledged, all.cuts, all.torn, all.full, all.snapshots)
	if all.acknowledged == 0 || all.cuts == 0 || all.torn == 0 || all.full == 0 || all.snapshots == 0 {
		t.Error("some of it never happened")
	}
}

type tally struct{ acknowledged, cuts, torn, full, snapshots int }

// A powered session is one on a drive.
type powered struct {
	t     *testing.T
	seed  uint64
	r     *rand.Rand
	drive *drive
	tally *tally

	count   int
	want    []string          // what was appended, in order, and may be there
	acked   int               // how many of them must be
	handles map[string]string // artifacts by what names them durably
}

// life opens the session, looks at it, uses it, and ends somehow.
func (s *powered) life(fuse int) {
	s.drive.fuse = fuse
	j, err := Options{disk: s.drive, Now: clock(), segment: 600 + s.r.Int64N(4000)}.Open("/s")
	if err != nil {
		if !s.drive.dead {
			s.t.Errorf("seed %d: %v", s.seed, err)
		}
		s.cut()
		return
	}
	if !s.look(j) {
		s.cut()
		return
	}
	for range s.r.IntN(12) * min(s.r.IntN(3), 1) { // often nothing at all
		s.use(j)
	}
	switch s.r.IntN(3) {
	case 0:
		if failed := j.failed; j.Close() == nil && failed == nil {
			s.acked = len(s.want)
		}
	case 1: // the process is killed
		if !s.drive.dead {
			s.drive.full = false
			return
		}
	}
	s.cut()
}

func (s *powered) cut() {
	s.tally.cuts++
	s.tally.acknowledged += s.acked
	s.drive.fail()
}

// look compares what is there with what must be. It reports false if the power
// failed meanwhile.
func (s *powered) look(j *Journal) bool {
	var got []string
	events, states := s.read(j)
	for i, e := range events {
		if e.Seq != int64(i+1) {
			s.t.Errorf("seed %d: event %d at place %d", s.seed, e.Seq, i+1)
		}
		if name := nameOf(e.Body); name != "" {
			got = append(got, name)
		} else if e.Kind() == repaired {
			s.tally.torn++
		}
	}
	if n := len(got); n < s.acked || n > len(s.want) || !slices.Equal(got, s.want[:n]) {
		s.t.Errorf("seed %d: %d acknowledged of\n%v, there is\n%v", s.seed, s.acked,
			strings.Fields(fmt.Sprint(s.want)), strings.Fields(fmt.Sprint(got)))
		return false
	}
	s.want, s.acked = got, len(got) // and the rest will never come back
	for _, name := range got {
		if !s.lookInto(j, s.handles[name]) {
			return false
		}
	}
	if seq, state := j.Snapshot(); seq > 0 {
		s.tally.snapshots++
		if !bytes.Equal(state, states[seq-1]) {
			s.t.Errorf("seed %d: the state after event %d is of another history", s.seed, seq)
		}
	}
	return !s.drive.dead
}

// read returns all events, and what they add up to after each.
func (s *powered) read(j *Journal) (events []event.Event, states [][]byte) {
	sum := sha256.New()
	for e, err := range j.Since(0) {
		if err != nil {
			if !s.drive.dead {
				s.t.Errorf("seed %d: %v", s.seed, err)
			}
			break
		}
		fmt.Fprint(sum, e.Seq, e.Body)
		events, states = append(events, e), append(states, sum.Sum(nil))
	}
	return events, states
}

func (s *powered) lookInto(j *Journal, handle string) bool {
	if handle == "" {
		return true
	}
	f, err := j.Artifact(handle)
	if err != nil {
		s.t.Errorf("seed %d: %v", s.seed, err)
		return false
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil || fmt.Sprintf("%s%x", prefix, sha256.Sum256(b)) != handle {
		s.t.Errorf("seed %d: %s has %d other bytes, %v", s.seed, handle, len(b), err)
		return false
	}
	return true
}

// nameOf returns what was given a body to know it by.
func nameOf(b event.Body) string {
	switch b := b.(type) {
	case event.Asked:
		return b.Text
	case event.Ruled:
		return b.Path
	case event.Finished:
		return b.Call
	case event.Sent:
		return fmt.Sprint("sent ", b.Bytes)
	}
	return ""
}

// use appends something, or keeps the state.
func (s *powered) use(j *Journal) {
	if s.r.IntN(6) == 0 {
		if _, states := s.read(j); len(states) > 0 {
			seq := len(states) - s.r.IntN(min(3, len(states)))
			if err := j.Keep(int64(seq), states[seq-1]); err != nil && !s.drive.dead && !s.drive.full && j.failed == nil {
				s.t.Errorf("seed %d: %v", s.seed, err)
			}
		}
	}
	if s.r.IntN(8) == 0 {
		s.drive.full = !s.drive.full
	}
	var bodies []event.Body
	for range 1 + s.r.IntN(3) {
		bodies = append(bodies, s.body(j))
	}
	before := len(s.want)
	durable := false
	for _, b := range bodies {
		s.want = append(s.want, nameOf(b))
		durable = durable || !b.Waits()
	}
	_, err := j.Append(bodies...)
	var full *Full
	switch {
	case err == nil && durable:
		s.acked = len(s.want)
	case errors.As(err, &full): // nothing of it may turn up
		s.tally.full++
		s.want = s.want[:before]
	case err != nil && !s.drive.dead && !s.drive.full:
		if j.failed == nil {
			s.t.Errorf("seed %d: %v", s.seed, err)
		}
	}
}

func (s *powered) body(j *Journal) event.Body {
	s.count++
	name := fmt.Sprintf("%d%s", s.count, strings.Repeat(" ", s.r.IntN(700)))
	switch s.r.IntN(7) {
	case 0:
		return event.Asked{Text: name}
	case 1:
		return event.Finished{Call: name, Result: tool.Result{Status: tool.Success}}
	case 2, 3, 4:
		return event.Ruled{Path: name}
	}
	text := strings.Repeat(fmt.Sprint(s.r.IntN(9)), 1+s.r.IntN(3)*s.r.IntN(40_000)) // also one that is there already
	spill := must(j.Spill("output"))
	io.WriteString(spill, text)
	if err := spill.Close(); err != nil {
		if !s.drive.dead && !s.drive.full {
			s.t.Errorf("seed %d: %v", s.seed, err)
		}
		return event.Ruled{Path: name}
	}
	if s.r.IntN(3) == 0 {
		return event.Sent{Request: spill.Handle(), Bytes: s.count}
	}
	s.handles[name] = spill.Handle()
	return event.Finished{Call: name, Result: tool.Result{Artifacts: []tool.Artifact{{Handle: spill.Handle()}}}}
}

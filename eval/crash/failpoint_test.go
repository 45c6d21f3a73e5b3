package crash

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
)

// A stage is where the story is told many times.
type stage struct {
	top, template, play, binary string
	settings                    []byte            // of the user, nil if they have none
	files                       map[string]string // of the run that was never cut
	commits                     int               // and those that it made
	marks                       []string          // that it passes
	person                      func(*story, *exec.Cmd) (gone func(), err error)
}

// open tells the story of a script once, to its end. Of its calls some are to
// fail, in these ways.
func open(t *testing.T, binary, script string, fail ...string) *stage {
	t.Helper()
	st := &stage{top: t.TempDir(), binary: binary}
	st.open(t, script, fail...)
	return st
}

// open does so on a stage that says where it is, and who is there.
func (st *stage) open(t *testing.T, script string, fail ...string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("P01 P02: not proved on Windows")
	}
	play, err := filepath.Abs(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	st.template, st.play = template(t), play
	st.settings, err = os.ReadFile(strings.TrimSuffix(play, ".play") + ".toml")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s, err := st.story()
	if err != nil {
		t.Fatal(err)
	}
	defer s.remove()
	e, err := s.begin(nil, nil)
	if err != nil || e.code != 0 && e.code != 3 {
		t.Fatalf("the run that is not cut: %v, %v", err, e)
	}
	marks, _ := os.ReadFile(s.log) // without marks there is none
	st.marks = strings.Split(strings.TrimSpace(string(marks)), "\n")
	if st.files, err = s.files(); err != nil {
		t.Fatal(err)
	}
	if st.commits, err = s.commits(); err != nil {
		t.Fatal(err)
	}
	v, err := s.judge(st)
	if err != nil || len(v.wrong()) > 0 || v.interrupted > 0 || !slices.Equal(v.failed, fail) {
		t.Fatalf("the run that is not cut: %v, %+v", err, v)
	}
}

// openSession opens the reference session.
func openSession(t *testing.T, program func() (string, error)) *stage {
	t.Helper()
	return open(t, binary(t, program), "session.play", "needs_approval", "nonzero_exit")
}

func (st *stage) story() (*story, error) {
	p, err := newPlace(st.top, st.template, st.binary)
	if err != nil {
		return nil, err
	}
	if st.settings != nil {
		dir := filepath.Join(p.home, ".config", "belay")
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "config.toml"), st.settings, 0o600)); err != nil {
			return nil, err
		}
	}
	s := &story{place: p, play: st.play}
	if st.person != nil {
		p.person = func(c *exec.Cmd) (func(), error) { return st.person(s, c) }
	}
	return s, nil
}

// crash kills the story at its n-th mark and, if m is not 0, what resumes it at
// its m-th.
func (st *stage) crash(n, m int) (*story, verdict, error) {
	return st.tell(func(s *story) error {
		e, err := s.begin([]string{fmt.Sprintf("FAILPOINT=%d", n)}, nil)
		if err == nil && m > 0 && e.code == -1 {
			_, err = s.resume([]string{fmt.Sprintf("FAILPOINT=%d", m)}, nil)
		}
		return err
	})
}

// tell judges a story that begins as begin does and then goes on to its end.
func (st *stage) tell(begin func(*story) error) (*story, verdict, error) {
	s, err := st.story()
	if err != nil {
		return nil, verdict{}, err
	}
	defer s.remove()
	if err := begin(s); err != nil {
		return s, verdict{}, err
	}
	if err := s.finish(); err != nil {
		return s, verdict{}, err
	}
	v, err := s.judge(st)
	return s, v, err
}

// A tally adds up what many crashes came to.
type tally struct {
	mu                              sync.Mutex
	runs, kills                     int
	lost, doubled, dangling, wrongs int
	rows                            map[string]*row // by the mark of the last kill
}

// A row is what became of the crashes at one mark.
type row struct{ runs, interrupted, unknown int }

func (y *tally) add(s *story, v verdict) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.rows == nil {
		y.rows = make(map[string]*row)
	}
	y.runs++
	y.kills += len(s.kills)
	y.lost += len(v.lost)
	y.doubled += len(v.doubled)
	y.dangling += len(v.dangling)
	y.wrongs += len(v.other)
	if len(s.kills) == 0 {
		return
	}
	at := s.kills[len(s.kills)-1]
	if y.rows[at] == nil {
		y.rows[at] = new(row)
	}
	r := y.rows[at]
	r.runs++
	r.interrupted += v.interrupted
	for _, n := range v.unknown {
		r.unknown += n
	}
}

func (y *tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| killed at | runs | calls interrupted | outcomes unknown |\n|---|---:|---:|---:|\n")
	for _, name := range slices.Sorted(maps.Keys(y.rows)) {
		r := y.rows[name]
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", name, r.runs, r.interrupted, r.unknown)
	}
	fmt.Fprintf(&b, "%d runs, %d kills: %d lost, %d doubled, %d dangling, %d otherwise wrong\n",
		y.runs, y.kills, y.lost, y.doubled, y.dangling, y.wrongs)
	return b.String()
}

// each calls do with every item, a few at a time, until the deadline, and
// returns how many it was called with.
func each[T any](items []T, until time.Time, do func(T)) int {
	next, n := make(chan T), 0
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for item := range next {
				do(item)
			}
		})
	}
	for _, item := range items {
		if time.Now().After(until) {
			break
		}
		next <- item
		n++
	}
	close(next)
	workers.Wait()
	return n
}

// P01: killed at any mark, a session goes on and ends as one that was never
// killed: nothing lost, nothing done twice, every call with its one result.
func TestPromise_P01_OneCrash(t *testing.T) {
	t.Parallel()
	st := openSession(t, marked)
	if len(st.marks) < 50 {
		t.Fatalf("only %d marks", len(st.marks))
	}
	at := make([]int, len(st.marks))
	for i := range at {
		at[i] = i + 1
	}
	if !soak {
		r := rand.New(rand.NewPCG(seed(t), 1))
		at = oneOfEach(st.marks, r.Perm(len(at)), at, 25)
	}
	st.crashAt(t, at)
}

// crashAt judges the story killed at each of these marks.
func (st *stage) crashAt(t *testing.T, at []int) {
	t.Helper()
	var y tally
	each(at, time.Now().Add(time.Hour), func(n int) {
		s, v, err := st.crash(n, 0)
		if err != nil {
			t.Errorf("mark %d (%s): %v", n, st.marks[n-1], err)
			return
		}
		y.add(s, v)
		for _, w := range v.wrong() {
			t.Errorf("mark %d (%s): %s", n, st.marks[n-1], w)
		}
	})
	t.Logf("%d marks\n%s", len(st.marks), &y)
}

// oneOfEach returns n of at, in the order of a permutation, but first one for
// every name of a mark.
func oneOfEach(marks []string, order, at []int, n int) []int {
	var first, rest []int
	seen := make(map[string]bool)
	for _, i := range order {
		if name := marks[at[i]-1]; !seen[name] {
			seen[name] = true
			first = append(first, at[i])
		} else {
			rest = append(rest, at[i])
		}
	}
	return append(first, rest...)[:n]
}

// P01: a change of several files is made whole or not at all, wherever it is
// killed.
func TestPromise_P01_HalfAPatch(t *testing.T) {
	t.Parallel()
	st := open(t, binary(t, marked), "patch.play")
	var at []int
	for i, name := range st.marks {
		if strings.HasPrefix(name, "workspace") {
			at = append(at, i+1)
		}
	}
	if len(at) < 15 {
		t.Fatalf("only %d marks: %q", len(at), st.marks)
	}
	if !soak {
		r := rand.New(rand.NewPCG(seed(t), 4))
		at = oneOfEach(st.marks, r.Perm(len(at)), at, 10)
	}
	st.crashAt(t, at)
}

// P01: the same, killed once more while it recovers or goes on.
func TestPromise_P01_TwoCrashes(t *testing.T) {
	t.Parallel()
	openSession(t, marked).crashInPairs(t, 5)
}

// crashInPairs judges the story killed twice, at pairs of marks drawn by lot: a
// soak takes a third of all there are, else it is a sample.
func (st *stage) crashInPairs(t *testing.T, sample int) {
	t.Helper()
	n := len(st.marks)
	var pairs [][2]int
	for i := range n {
		for j := range n {
			pairs = append(pairs, [2]int{i + 1, j + 1})
		}
	}
	from := seed(t)
	r := rand.New(rand.NewPCG(from, 2))
	r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	count := sample
	if soak {
		count = (len(pairs) + 2) / 3
	}
	pairs = pairs[min(*fromFlag, count):count]
	var y tally
	did := each(pairs, time.Now().Add(*forFlag), func(pair [2]int) {
		s, v, err := st.crash(pair[0], pair[1])
		if err != nil {
			t.Errorf("marks %d: %v", pair, err)
			return
		}
		y.add(s, v)
		for _, w := range v.wrong() {
			t.Errorf("marks %d: %s", pair, w)
		}
	})
	t.Logf("%d marks, %d of %d pairs; go on with -args -seed %d -from %d\n%s", n, did, len(pairs), from, *fromFlag+did, &y)
}

// A session that is killed between its answer and its end shows the answer to
// whoever resumes it, and does not ask the model again.
func TestResumeShowsTheAnswer(t *testing.T) {
	t.Parallel()
	st := openSession(t, marked)
	found := false
	for n := len(st.marks); n > len(st.marks)-20 && !found; n-- {
		s, err := st.story()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.begin([]string{fmt.Sprintf("FAILPOINT=%d", n)}, nil); err != nil {
			t.Fatal(err)
		}
		all, err := s.events()
		if err != nil {
			t.Fatal(err)
		}
		replies := bodies[event.Replied](all)
		if last := replies[len(replies)-1]; last.Stop != model.End || len(bodies[event.Stopped](all)) > 0 {
			s.remove()
			continue
		}
		found = true
		e, err := s.run(nil, nil, "resume")
		if err != nil || e.code != 0 || e.out != "Done.\n" {
			t.Errorf("killed at %s: %v, %v", s.kills, err, e)
		}
		s.remove()
	}
	if !found {
		t.Error("it was never killed between its answer and its end")
	}
}

// Package process runs commands, bounds them, and can always say how they
// ended.
//
// A command is over when the program it named has exited, never when the last
// holder of its output lets go. A Sandbox holds it to its effects where the system
// can, and ends with it. Outside of one, what it left running lives on until the
// Host is closed.
//
// On Linux everything that a command starts is in a cgroup of its own, where one
// can be made, and that ends whole: with the command, with the Host, and when we
// are killed, by a small program that waits for that. On Windows it is a job.
//
// Elsewhere what belongs to a command is known by its session, which it leads,
// and on Linux also by descent and by the variable BELAY_RUN in its environment;
// what has left all of these, before the first look at it, has become a child of
// ours there. It is of the one command that was running when it was started; where
// there were several it ends with the Host. If we are killed, the kernel kills the
// program itself, and the next Host on the same spool the rest, but for what has
// left all of these.
package process

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// runEntry begins the entry of an environment that says who has started it.
const runEntry = "BELAY_RUN="

// DefaultGrace is how long a command that must end has to do so by itself.
const DefaultGrace = 2 * time.Second

// ErrClosed is returned by Run on a Host that was closed.
var ErrClosed = errors.New("process host is closed")

// A Command is a program to run and the bounds on it.
type Command struct {
	Call     string        // names its record in the spool; "" for none
	Argv     []string      // a name without a slash is looked up in PATH of Env
	Dir      string        // absolute
	Env      []string      // all of it but BELAY_RUN; nothing is inherited
	Allowed  effect.Set    // what the system's sandbox lets through
	Output   io.Writer     // stdout and stderr as they come; slow makes the command wait, an error ends the writing only
	Apart    bool          // stderr is kept apart too, where the system can; then the order of the two is nearly that of the writes
	Stages   bool          // Argv is a script for bash, as Shell has it run: report the statuses of its last pipeline
	Keep     int           // bytes of its head and of its tail to return, also of stderr
	Input    bool          // a Process can be written to; else what it reads has ended
	Terminal *Size         // it has a terminal of its own, which a Process can write to; nil is none
	Linger   bool          // where Timeout passes in Run, go on as a Process
	Timeout  time.Duration // 0 is none
	Silence  time.Duration // longest wait for output; 0 is none
	Grace    time.Duration // between being asked to end and being killed; 0 means DefaultGrace
}

// An Exit is how a command ended.
type Exit struct {
	Code      int           `json:"code"`             // -1 where a signal ended it
	Signal    string        `json:"signal,omitempty"` // such as "SIGKILL"
	Head      []byte        `json:"-"`                // of its output
	Tail      []byte        `json:"-"`                // the rest of it, or its end; never overlaps Head
	Dropped   int64         `json:"bytes"`            // of output, between Head and Tail
	Err       Apart         `json:"-"`                // what of that was stderr
	Stages    []int         `json:"stages,omitempty"` // exit statuses of its last pipeline; nil where bash did not say, as after exec or with a trap on EXIT of its own
	Took      time.Duration `json:"took_ns"`
	TimedOut  bool          `json:"timed_out,omitempty"` // Timeout, or the deadline of its context, passed first
	Idle      bool          `json:"idle,omitempty"`      // Silence passed first
	Cancelled bool          `json:"cancelled,omitempty"` // its context, or the Host, ended first
	Held      bool          `json:"held,omitempty"`      // something it started still held its output, which was cut off
	Holders   []string      `json:"holders,omitempty"`   // some of that, such as "sleep (4711)", where the system tells
	Lingers   bool          `json:"-"`                   // it has not ended: see Command.Linger. Output is not written to any more
	Left      bool          `json:"left,omitempty"`      // what it left running was ended with it
	Memory    bool          `json:"memory,omitempty"`    // something was killed because its limit of memory, or of processes, was reached
	Made      []string      `json:"made,omitempty"`      // protected paths that were not there before
	Refused   []string      `json:"refused,omitempty"`   // hosts that it asked for and was not let reach, with the reason if it is not that they were not granted
	Profile   string        `json:"profile"`             // what held it: a Profile, with what was opened
}

// An Apart is one of the streams of a command by itself.
type Apart struct {
	Head, Tail []byte
	Dropped    int64 // bytes between them
}

// A Host owns every process of a session. It is safe for use by several
// goroutines.
type Host struct {
	sandbox Sandbox
	probed  sync.Once
	profile Profile            // that held when it was tried
	gaps    map[Profile]string // why the better ones did not
	groups  atomic.Int64       // made so far, for limits
	spool   string
	fresh   bool // the spool is no older than this Host
	id      string
	closing chan struct{} // closed by Close
	hurry   chan struct{} // closed by Kill
	hurried sync.Once

	mu        sync.Mutex
	closed    bool
	signed    bool
	count     int        // of runs so far
	first     uint64     // when the earliest of them started
	left      []int      // leaders of sessions that outlived their leader
	tmp       string     // what is /tmp to commands, once one needed it
	taken     []bool     // which of the layers for caches are in use
	cgroups   *groups    // nil before the first run, and where there are none
	ungrouped bool       // there are to be none
	adopts    bool       // orphans
	beside    []*Process // in the order of their start
	running   sync.WaitGroup
}

// Open fences: it kills what an earlier life of the session left running, as
// recorded in spool, before anyone settles a call: Left says how. It makes the
// directory. With spool "" nothing is recorded and nothing fenced.
//
// Files that we were started with, beyond the first three, are not passed on
// to anything started from then on.
func Open(spool string) (*Host, error) { return Sandbox{}.Open(spool) }

// Open is [Open] for commands that s holds.
func (s Sandbox) Open(spool string) (*Host, error) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	h := &Host{sandbox: s, spool: spool, id: hex.EncodeToString(id[:]), closing: make(chan struct{}), hurry: make(chan struct{})}
	if spool != "" {
		var err error
		if h.fresh, err = makeSpool(spool); err != nil {
			return nil, fmt.Errorf("open spool: %w", err)
		}
		if err := fence(spool); err != nil {
			return nil, fmt.Errorf("fence what %s records: %w", spool, err)
		}
	}
	seal()
	if s.Program != "" {
		guard(spool)
	}
	return h, nil
}

// makeSpool makes the directory, on stable storage, unless it is there.
func makeSpool(spool string) (made bool, err error) {
	if _, err := os.Stat(spool); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return false, err
	}
	return true, syncDir(filepath.Dir(spool))
}

// Close cancels what runs, ends what earlier commands left running, and waits
// for both. Nothing can be run afterwards. It may be called again.
func (h *Host) Close() error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
	h.mu.Unlock()
	h.running.Wait()

	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.tidy()
	if h.count == 0 {
		return nil // and that costs nothing
	}
	t := tree{marks: []string{h.mark()}, leaders: unused(h.left), since: h.first}
	h.left = nil
	kin.lead(&t)
	gone := t.end(DefaultGrace, h.hurry)
	kin.bury()
	if h.adopts {
		h.adopts = false
		kin.leave()
	}
	if gone = h.cgroups.end() && gone; !gone {
		return errors.New("close process host: something that a command started cannot be killed")
	}
	h.cgroups = nil
	if h.signed {
		h.signed = false
		if err := unsign(h.spool); err != nil {
			return fmt.Errorf("close process host: %w", err)
		}
	}
	return nil
}

// Kill is Close without patience: nothing is given time to end by itself. It may
// be called while Close waits, and hurries it.
func (h *Host) Kill() error {
	h.hurried.Do(func() { close(h.hurry) })
	return h.Close()
}

// Run starts c and returns when it has ended and its output is drained. Where
// it did not end by itself, all that it started has ended too. An error means
// that it was not run, or was ended at once because its process could not be
// recorded. A call that is recorded can be run once.
func (h *Host) Run(ctx context.Context, c Command) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, fmt.Errorf("run %s: %w", c.name(), err)
	}
	if c.Linger {
		return h.linger(ctx, c)
	}
	r, err := h.start(c)
	if err != nil {
		return Exit{}, err
	}
	defer h.running.Done()
	return r.finish(ctx)
}

// start starts c. Whoever gets a run must finish it, and call h.running.Done.
func (h *Host) start(c Command) (*run, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	r := &run{host: h, command: c}
	err := h.enter(r)
	if err == nil {
		if err = r.begin(); err != nil {
			h.running.Done()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	return r, nil
}

// enter counts one more run, which must call h.running.Done, and names it.
func (h *Host) enter(r *run) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	if h.count == 0 && !h.ungrouped {
		h.cgroups, _ = newGroups(h.id)
	}
	h.running.Add(1)
	h.count++
	r.number = h.count
	r.mark = h.mark() + strconv.Itoa(h.count) + "."
	r.group = h.cgroups.add(strconv.Itoa(h.count))
	return nil
}

// adopt has orphans be found, until Close.
func (h *Host) adopt() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.adopts {
		h.adopts = true
		kin.adopt()
	}
}

// began tells the host when its first run started.
func (h *Host) began(t *tree) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first == 0 || t.since < h.first {
		h.first = t.since
	}
}

// keep remembers a session that lives on without its leader.
func (h *Host) keep(leader int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left = append(h.left, leader)
}

// mark begins the environment entry of everything that h starts.
func (h *Host) mark() string { return runEntry + h.id + "." }

// name is what errors call c.
func (c Command) name() string {
	if len(c.Argv) == 0 {
		return "a command"
	}
	return c.Argv[0]
}

func (c Command) check() error {
	switch {
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return errors.New("run a command: it names no program")
	case !filepath.IsAbs(c.Dir):
		return fmt.Errorf("run %s: directory %q is not absolute", c.Argv[0], c.Dir)
	case c.Call != "":
		if err := checkCall(c.Call); err != nil {
			return fmt.Errorf("run %s: %w", c.Argv[0], err)
		}
	}
	return nil
}

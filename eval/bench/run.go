package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A usage is what one run of a program took.
type usage struct {
	first time.Duration // to the first byte of its first request
	wall  time.Duration
	cpu   time.Duration // user and system, with every child it waited for
	peak  int64         // bytes of the largest process
}

// A subject is a program that is measured, run after run.
type subject struct {
	name    string
	argv    []string
	dialect dialect // of the server that answers it; "" for none
	replies []reply
	fresh   bool // a new home for each run
	runs    []usage
}

// A place is where subjects run.
type place struct {
	dir  string
	home string
	src  string // of Go
}

// run measures the subject once more.
func (s *subject) run(ctx context.Context, p place) error {
	work := filepath.Join(p.dir, "work")
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	if _, err := makeWorkspace(p.src, work); err != nil {
		return err
	}
	// What is still to be written of this would be charged to the first sync.
	for _, argv := range [][]string{{"git", "init", "-q", work}, {"sync"}} {
		if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", argv[0], err, out)
		}
	}
	home := p.home
	if s.fresh {
		var err error
		if home, err = os.MkdirTemp(p.dir, "home-"); err != nil {
			return err
		}
	}
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	var srv *server
	argv := slices.Clone(s.argv)
	if s.dialect != "" {
		var err error
		if srv, err = serve(s.dialect, s.replies, false); err != nil {
			return err
		}
		defer srv.close()
		env = append(env, srv.environ()...)
	}
	u, err := measure(ctx, argv, work, env)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if srv != nil {
		if srv.asked != len(s.replies) {
			return fmt.Errorf("%s: %d requests, not %d", s.name, srv.asked, len(s.replies))
		}
		u.usage.first = srv.first.Sub(u.began)
	}
	s.runs = append(s.runs, u.usage)
	return nil
}

type measured struct {
	usage
	began time.Time
}

func measure(ctx context.Context, argv []string, dir string, env []string) (measured, error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env = dir, env
	// Files, so that nothing here runs beside what is measured.
	var out [2]*os.File
	for i := range out {
		f, err := os.CreateTemp("", "belay-bench-")
		if err != nil {
			return measured{}, err
		}
		defer f.Close()
		if err := os.Remove(f.Name()); err != nil {
			return measured{}, err
		}
		out[i] = f
	}
	c.Stdout, c.Stderr = out[0], out[1]
	m := measured{began: time.Now()}
	err := c.Run()
	m.wall = time.Since(m.began)
	if err != nil {
		var said bytes.Buffer
		for _, f := range out {
			if _, seekErr := f.Seek(0, 0); seekErr == nil {
				_, _ = said.ReadFrom(f) // it is only shown
			}
		}
		return m, fmt.Errorf("%w: %s", err, said.Bytes())
	}
	m.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	m.peak = peak(c.ProcessState)
	return m, nil
}

// A spread is a median and what it lies between.
type spread struct{ median, low, high float64 }

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	v := slices.Sorted(slices.Values(values))
	return spread{(v[(len(v)-1)/2] + v[len(v)/2]) / 2, v[0], v[len(v)-1]}
}

func (s *subject) spread(of func(usage) float64) spread {
	var values []float64
	for _, u := range s.runs {
		values = append(values, of(u))
	}
	return spreadOf(values)
}

func first(u usage) float64 { return milliseconds(u.first) }
func wall(u usage) float64  { return milliseconds(u.wall) }
func cpu(u usage) float64   { return milliseconds(u.cpu) }
func mib(u usage) float64   { return float64(u.peak) / (1 << 20) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

package main

import (
	"context"
	"errors"
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

// A place is where subjects run: a workspace that is a git repository, and a
// home that an earlier run has warmed.
type place struct {
	dir   string
	work  string
	home  string
	src   string // of Go
	files []file
}

func newPlace(ctx context.Context, dir string) (p place, err error) {
	p = place{dir: dir, work: filepath.Join(dir, "work"), home: filepath.Join(dir, "home")}
	if p.src, err = goSource(ctx); err != nil {
		return p, err
	}
	if err := os.Mkdir(p.home, 0o700); err != nil {
		return p, err
	}
	if p.files, err = makeWorkspace(p.src, p.work); err != nil {
		return p, err
	}
	return p, command(ctx, "git", "init", "-q", p.work)
}

// restore takes back what a session has changed. It removes nothing: for a
// minute after it has, ext4 finds no inode for a new file without a long search.
// What is still to be written would be charged to the first sync of the next
// run.
func (p place) restore(ctx context.Context) error {
	for _, f := range p.files {
		text, err := os.ReadFile(filepath.Join(p.src, f.name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(p.work, f.name), text, 0o644); err != nil {
			return err
		}
	}
	return command(ctx, "sync")
}

func command(ctx context.Context, argv ...string) error {
	if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", argv[0], err, out)
	}
	return nil
}

// run measures the subject once more.
func (s *subject) run(ctx context.Context, p place) error {
	if err := p.restore(ctx); err != nil {
		return err
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
	u, err := measure(ctx, argv, p.work, env)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if srv != nil {
		first, asked, _ := srv.heard()
		if asked != len(s.replies) {
			return fmt.Errorf("%s: %d requests, not %d", s.name, asked, len(s.replies))
		}
		u.usage.first = first.Sub(u.began)
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
	// A file, so that nothing here runs beside what is measured.
	said, err := os.OpenFile(filepath.Join(filepath.Dir(dir), "said"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return measured{}, err
	}
	defer said.Close()
	c.Stdout, c.Stderr = said, said
	m := measured{began: time.Now()}
	err = c.Run()
	m.wall = time.Since(m.began)
	if err != nil {
		text, readErr := os.ReadFile(said.Name())
		return m, fmt.Errorf("%w: %s", errors.Join(err, readErr), text)
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

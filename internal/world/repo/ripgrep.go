package repo

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A Ripgrep rules out files by the program rg, for patterns that make our own
// search slow: those without a text that each match contains. For the others rg
// takes longer than we do, as all files that it cannot rule out are read again. All that it decides is that a file
// of plain ASCII holds no match: there its pattern language and ours mean the
// same. Every other file, and every file that it names, is searched by us, so
// the answer is the same as without it. Which files those are is never up to it.
type Ripgrep struct {
	Host *process.Host
	Env  []string // of rg; its PATH is where rg is looked for
}

const (
	// sieveBatch is how many files rg is given at once, and sieveLeast for how
	// many it is worth to be started.
	sieveBatch = 1024
	sieveLeast = 256

	// sieveArgs bounds their names, in bytes: Linux allows 2 MiB of arguments and
	// environment, others less.
	sieveArgs = 128 << 10
)

// A sieve is rg at work for one search.
type sieve struct {
	*Ripgrep
	program string
	dir     string
	pattern string
	broken  atomic.Bool // it has failed once, and is not asked again
}

// sieve returns nil where rg is not there, or not to be used for m.
func (r *Ripgrep) sieve(w *workspace.Workspace, m *matcher) *sieve {
	if r == nil || !m.needles.weak() {
		return nil
	}
	return r.sieveFor(w, m)
}

func (r *Ripgrep) sieveFor(w *workspace.Workspace, m *matcher) *sieve {
	program, err := process.Look("rg", r.Env)
	if err != nil {
		return nil
	}
	return &sieve{
		Ripgrep: r, program: program, dir: w.Root(),
		pattern: `(?-u:[\x00\r\x80-\xff])|(?:` + m.re.String() + `)`,
	}
}

// pick returns those of files that are to be searched.
func (s *sieve) pick(ctx context.Context, files []workspace.File) []workspace.File {
	if s == nil || len(files) < sieveLeast {
		return files
	}
	var picked []workspace.File
	for len(files) > 0 {
		n, size := 0, 0
		for n < len(files) && size < sieveArgs {
			size += len(files[n].System()) + len("./\x00")
			n++
		}
		picked = append(picked, s.run(ctx, files[:n])...)
		files = files[n:]
	}
	return picked
}

// run asks rg about files, and returns all of them if it does not answer as
// expected.
func (s *sieve) run(ctx context.Context, files []workspace.File) []workspace.File {
	if s.broken.Load() || ctx.Err() != nil {
		return files
	}
	argv := []string{
		s.program, "--no-config", "--files-with-matches", "--null", "--no-messages", "--color=never",
		"--text", "--encoding=none", "--threads=1", "--regexp=" + s.pattern, "--",
	}
	for _, f := range files {
		argv = append(argv, "./"+f.System())
	}
	var out bytes.Buffer
	exit, err := s.Host.Run(ctx, process.Command{
		Argv: argv, Dir: s.dir, Env: s.Env, Output: &out, Grace: time.Millisecond,
	})
	picked, ok := named(out.String(), files)
	if err != nil || exit.Code != 0 && exit.Code != 1 || !ok {
		s.broken.Store(true)
		return files
	}
	return picked
}

// named returns the files that out names, in order and each followed by a NUL.
func named(out string, files []workspace.File) (picked []workspace.File, ok bool) {
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if out == "" {
			break
		}
		i := slices.IndexFunc(files, func(f workspace.File) bool { return "./"+f.System() == name })
		if i < 0 {
			return nil, false
		}
		picked = append(picked, files[i])
		files = files[i+1:]
	}
	return picked, out == "" || strings.HasSuffix(out, "\x00")
}

package compaction

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/toolbox"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/snapshot"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A place is where one session lives: a checkout, and a directory for its log.
type place struct {
	root string // of the checkout
	log  string
}

func placeIn(dir string) place {
	return place{root: filepath.Join(dir, "checkout"), log: filepath.Join(dir, "session")}
}

// A running is a session that is open, with the loop and all that it works with.
// It must be closed.
type running struct {
	agent   *agent.Agent
	state   *session.State
	journal *journal.Journal
	events  []event.Event // since it was opened
	failed  error         // of what stands beside the loop
	closers []func() error
}

// options are what differs from one opening to the next.
type options struct {
	provider model.Provider
	info     model.Info
}

// open puts a session together as the command line does, without a terminal: all
// tools, mode full, rule files of the project, what commands change, and a person
// who allows whatever they are asked. Its commands get no network.
func (p place) open(ctx context.Context, o options) (r *running, err error) {
	r = &running{state: new(session.State)}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	w, err := workspace.OpenWith(p.root, workspace.Options{Undo: filepath.Join(p.log, "undo")})
	if err != nil {
		return r, err
	}
	r.closers = append(r.closers, w.Close)
	if r.journal, err = journal.Open(p.log, nil); err != nil {
		return r, err
	}
	r.closers = append(r.closers, r.journal.Close)
	for e, err := range r.journal.Since(0) {
		if err != nil {
			return r, err
		}
		if err := r.state.Apply(e); err != nil {
			return r, err
		}
	}
	host, err := process.Open(filepath.Join(p.log, "spool"))
	if err != nil {
		return r, err
	}
	r.closers = append(r.closers, host.Close)
	snapshots, err := snapshot.Open(snapshot.Options{Workspace: w, Dir: filepath.Join(p.log, "undo")})
	if err != nil {
		return r, err
	}
	r.closers = append(r.closers, snapshots.Close)
	env := environment()
	shell, err := process.Shell(env)
	if err != nil {
		return r, err
	}
	r.agent, err = agent.Open(ctx, r.state, agent.Options{
		Journal: r.journal, Provider: o.provider, Model: o.info,
		Tools: toolbox.All(toolbox.Options{
			Workspace: w, Host: host, Bash: toolbox.BashOptions{Root: w.Root(), Env: env, Shell: shell},
		}),
		Session: event.Opened{Session: "eval", Root: w.Root(), Commit: w.Head(), Version: "eval", Model: o.info.Name, Mode: string(policy.ModeFull)},
		Policy:  policy.Policy{Mode: policy.ModeFull, Root: w.Root()},
		Rules:   func(_ context.Context, paths []string) ([]event.Ruled, error) { return ruled(w, paths) },
		Approve: func(context.Context, agent.Question) (agent.Answer, error) { return agent.Answer{Allow: true}, nil },
		Before: func(ctx context.Context, call string, e effect.Set) error {
			if scope, ok := e.Commanded(); ok {
				_ = snapshots.Before(ctx, call, scope) // After says so in the result
			}
			return nil
		},
		After: func(call string, e effect.Set) agent.Aftermath {
			if _, ok := e.Commanded(); !ok {
				return agent.Aftermath{}
			}
			return agent.Aftermath(snapshots.After(call))
		},
		News: func() (string, []string) { return toolbox.News(host) },
		Observe: func(s agent.Signal) {
			recorded, ok := s.(agent.Recorded)
			if !ok {
				return
			}
			r.events = append(r.events, recorded.Event)
			if b, ok := recorded.Event.Body.(event.Finished); ok {
				r.failed = errors.Join(r.failed, snapshots.Done(b.Call), host.Forget(b.Call))
			}
		},
	})
	return r, err
}

func ruled(w *workspace.Workspace, paths []string) ([]event.Ruled, error) {
	files, err := w.RuleFiles(paths...)
	if err != nil {
		return nil, err
	}
	var all []event.Ruled
	for _, f := range files {
		all = append(all, event.Ruled{Path: f.Path, Digest: f.Digest, Text: f.Content, Left: f.Left})
	}
	return all, nil
}

// environment is what commands get: what they need to find programs and caches,
// and nothing that leads out.
func environment() []string {
	env := []string{
		"GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local",
		"npm_config_offline=true", "npm_config_update_notifier=false", "LC_ALL=C.UTF-8",
		"GIT_AUTHOR_NAME=nobody", "GIT_AUTHOR_EMAIL=nobody@example.com", "GIT_COMMITTER_NAME=nobody", "GIT_COMMITTER_EMAIL=nobody@example.com",
	}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{"PATH", "HOME", "TMPDIR", "GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT", "XDG_CACHE_HOME"}, name) {
			env = append(env, kv)
		}
	}
	return env
}

func (r *running) close() error {
	errs := []error{r.failed}
	for _, c := range slices.Backward(r.closers) {
		errs = append(errs, c())
	}
	r.closers = nil
	return errors.Join(errs...)
}

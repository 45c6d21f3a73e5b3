package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"

	"github.com/belay-agent/belay/internal/world/failpoint"
)

// A run is one command from its start to its end.
type run struct {
	host    *Host
	command Command
	mark    string

	report *report
	cmd    *exec.Cmd
	cage   *cage
	tree   *tree
	began  time.Time
	ended  time.Time
	exited chan struct{} // closed when the program has been waited for
}

// do records the command, runs it, and records how it ended.
func (r *run) do(ctx context.Context) (Exit, error) {
	path, err := look(r.command.Argv[0], r.command.Env)
	if err != nil {
		return Exit{}, err
	}
	pipes, err := plumb(r.command)
	if err != nil {
		return Exit{}, err
	}
	defer pipes.from.Close()
	r.report = newReport(r.command)
	defer r.report.close()
	failpoint.Hit("process before start record")
	entry, err := r.host.begin(r.command.Call)
	if err != nil {
		closeAll(pipes.out, pipes.err)
		return Exit{}, err
	}
	failpoint.Hit("process start recorded")
	if err := r.start(path, pipes); err != nil {
		if r.cmd.Process == nil {
			entry.drop()
		}
		return Exit{}, err
	}
	failpoint.Hit("process started")
	defer r.tree.release()
	r.host.began(r.tree)
	// The command runs already. Where its process cannot be recorded the mark
	// is, but that does not lead to it on every system.
	unrecorded := entry.running(r.tree, r.cmd.Process.Pid)
	exit := r.follow(ctx, pipes.from, unrecorded != nil)
	failpoint.Hit("process exited")
	entry.ended(exit)
	failpoint.Hit("process exit recorded")
	if unrecorded != nil {
		return Exit{}, fmt.Errorf("ended at once: record its process: %w", unrecorded)
	}
	return exit, nil
}

// follow hands on the output of what runs, and returns how it ended. Where it
// may not run, it is ended at once.
func (r *run) follow(ctx context.Context, out source, forbidden bool) Exit {
	p := newPump(out, r.command)
	drained := make(chan bool, 1)
	go func() { drained <- p.run() }()
	defer p.rest()

	exit := Exit{Profile: r.cage.held(), Cancelled: forbidden}
	if !forbidden {
		r.watch(ctx, p.idle.C, &exit)
	}
	if exit.TimedOut || exit.Idle || exit.Cancelled {
		r.tree.end(cmp.Or(r.command.Grace, DefaultGrace), r.host.hurry)
	}
	<-r.exited // nothing refuses to be killed
	exit.Held = p.stop(drained, r.tree)
	if r.tree.grouped() {
		r.host.keep(r.cmd.Process.Pid)
	}
	r.cage.end(&exit, r.cmd.ProcessState)
	exit.Stages = r.report.stages()
	exit.Head, exit.Tail, exit.Dropped = p.kept.parts()
	exit.Err.Head, exit.Err.Tail, exit.Err.Dropped = p.errs.parts()
	exit.Took = r.ended.Sub(r.began)
	return exit
}

// start starts the program at path with its ends of pipes as its output, and
// closes them.
func (r *run) start(path string, pipes plumbing) error {
	c := r.command
	r.cmd = &exec.Cmd{
		Path: path, Args: c.Argv, Dir: c.Dir,
		Env:    append(append([]string{}, c.Env...), r.mark),
		Stdout: pipes.out, Stderr: pipes.err,
		SysProcAttr: attributes(),
	}
	r.cmd.Env, r.cmd.ExtraFiles = r.report.add(r.cmd.Env, r.cmd.ExtraFiles)
	var err error
	if r.cage, err = r.host.confine(r.cmd, c, r.mark); err != nil {
		closeAll(pipes.out, pipes.err)
		return err
	}
	started := make(chan error)
	r.exited = make(chan struct{})
	go func() {
		// The kernel kills the command when the thread that started it ends,
		// so that it ends with us: the thread has to live as long as it does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(r.exited)
		r.began = time.Now()
		err := r.cage.begin(r.cmd, r.cmd.Start())
		closeAll(pipes.out, pipes.err)
		if err == nil {
			r.tree, err = newTree(r.mark, r.cmd.Process)
			if err != nil {
				_ = r.cmd.Process.Kill()
				_ = r.cmd.Wait()
				r.cage.close()
			}
		}
		started <- err
		if err != nil {
			return
		}
		_ = r.cmd.Wait() // ProcessState says more
		r.ended = time.Now()
	}()
	err = <-started
	if err != nil {
		<-r.exited
	}
	return err
}

// watch returns when the command has exited, or says in e why it has to.
func (r *run) watch(ctx context.Context, idle <-chan time.Time, e *Exit) {
	var late <-chan time.Time
	if r.command.Timeout > 0 {
		timer := time.NewTimer(r.command.Timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-r.exited:
	case <-late:
		e.TimedOut = true
	case <-idle:
		e.Idle = true
	case <-ctx.Done():
		e.TimedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
		e.Cancelled = !e.TimedOut
	case <-r.host.closing:
		e.Cancelled = true
	}
	select {
	case <-r.exited: // at the same moment: then it ended by itself
		*e = Exit{Profile: e.Profile}
	default:
	}
}

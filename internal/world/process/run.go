package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// A run is one command from its start to its end.
type run struct {
	host    *Host
	command Command
	mark    string

	cmd    *exec.Cmd
	tree   *tree
	began  time.Time
	ended  time.Time
	exited chan struct{} // closed when the program has been waited for
}

func (r *run) do(ctx context.Context) (Exit, error) {
	c := r.command
	out, in, err := os.Pipe()
	if err != nil {
		return Exit{}, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	defer out.Close()
	if err := r.start(in); err != nil {
		return Exit{}, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	defer r.tree.release()
	r.host.began(r.tree)
	// The command runs already: a record that cannot be completed still has
	// the mark, and that is what finds the rest.
	noteErr := r.host.note(c.Call, record{Mark: r.host.mark(), PID: r.cmd.Process.Pid, Start: r.tree.since})

	p := newPump(out, c)
	drained := make(chan bool, 1)
	go func() { drained <- p.run() }()
	defer p.rest()

	exit := Exit{Profile: "none"}
	if noteErr != nil {
		exit.Cancelled = true
	} else {
		r.watch(ctx, p.idle.C, &exit)
	}
	if exit.TimedOut || exit.Idle || exit.Cancelled {
		grace := c.Grace
		if grace == 0 {
			grace = DefaultGrace
		}
		r.tree.end(grace, r.host.hurry)
	}
	<-r.exited // nothing refuses to be killed
	exit.Held = p.stop(drained, r.tree)
	if r.tree.grouped() {
		r.host.keep(r.cmd.Process.Pid)
	}
	if noteErr != nil {
		return Exit{}, fmt.Errorf("run %s: %w", c.Argv[0], noteErr)
	}
	exit.Code, exit.Signal = status(r.cmd.ProcessState)
	exit.Head, exit.Tail, exit.Dropped = p.kept.parts()
	exit.Took = r.ended.Sub(r.began)
	return exit, nil
}

// start starts the command with out as its output, which it closes.
func (r *run) start(out *os.File) error {
	c := r.command
	path, err := look(c.Argv[0], c.Env)
	if err != nil {
		out.Close()
		return err
	}
	r.cmd = &exec.Cmd{
		Path: path, Args: c.Argv, Dir: c.Dir,
		Env:    append(append([]string{}, c.Env...), r.mark),
		Stdout: out, Stderr: out,
		SysProcAttr: attributes(),
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
		err := r.cmd.Start()
		out.Close()
		if err == nil {
			r.tree, err = newTree(r.mark, r.cmd.Process)
			if err != nil {
				_ = r.cmd.Process.Kill()
				_ = r.cmd.Wait()
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

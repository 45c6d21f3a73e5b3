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
	number  int // of the runs of host
	mark    string
	group   *group

	pipes  plumbing
	report *report
	pump   *pump
	entry  *entry
	cmd    *exec.Cmd
	cage   *cage
	tree   *tree
	loose  bool // nothing ends it whole
	began  time.Time
	ended  time.Time
	exited chan struct{} // closed when the program has been waited for
}

// burials are how far apart orphans that have ended are looked for while a command
// runs that may have many.
const burials = 2 * time.Second

// begin records the command and starts it.
func (r *run) begin() (err error) {
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	path, err := look(r.command.Argv[0], r.command.Env)
	if err != nil {
		return err
	}
	if r.pipes, err = plumb(r.command); err != nil {
		return err
	}
	r.report = newReport(r.command)
	failpoint.Hit("process before start record")
	if r.entry, err = r.host.begin(r.command.Call); err != nil {
		return err
	}
	failpoint.Hit("process start recorded")
	r.host.cgroups.guarded()
	if err := r.start(path); err != nil {
		if r.cmd.Process == nil {
			r.entry.drop()
		}
		return err
	}
	failpoint.Hit("process started")
	r.host.began(r.tree)
	r.pump = newPump(r.pipes.from, r.command)
	return nil
}

// finish follows what was begun to its end, and records how it ended.
func (r *run) finish(ctx context.Context) (Exit, error) {
	defer r.close()
	// The command runs already. Where its process cannot be recorded the mark
	// is, but that does not lead to it on every system.
	unrecorded := r.entry.running(r.tree, r.cmd.Process.Pid)
	exit := r.follow(ctx, unrecorded != nil)
	failpoint.Hit("process exited")
	r.entry.ended(exit)
	failpoint.Hit("process exit recorded")
	if unrecorded != nil {
		return Exit{}, fmt.Errorf("run %s: ended at once: record its process: %w", r.command.Argv[0], unrecorded)
	}
	return exit, nil
}

// close gives back what r has of the system. What still lives is the Host's.
func (r *run) close() {
	r.pipes.close()
	r.report.close()
	if r.tree != nil {
		r.tree.release()
	}
	r.group.release()
}

// follow hands on the output of what runs, and returns how it ended. Where it
// may not run, it is ended at once.
func (r *run) follow(ctx context.Context, forbidden bool) Exit {
	drained := make(chan bool, 1)
	go func() { drained <- r.pump.run() }()
	defer r.pump.rest()

	exit := Exit{Profile: r.cage.held(), Cancelled: forbidden}
	if !forbidden {
		r.watch(ctx, r.pump.idle.C, &exit)
	}
	if exit.TimedOut || exit.Idle || exit.Cancelled {
		r.tree.end(cmp.Or(r.command.Grace, DefaultGrace), r.host.hurry)
		kin.bury()
	}
	<-r.exited // nothing refuses to be killed
	if exit.Held = r.pump.stop(drained, r.tree); exit.Held {
		exit.Holders = r.tree.holders(r.pipes.from)
	}
	if r.tree.grouped() {
		r.host.keep(r.cmd.Process.Pid)
	}
	r.cage.end(&exit, r.cmd.ProcessState)
	exit.Stages = r.report.stages()
	r.pump.kept.into(&exit)
	exit.Took = r.ended.Sub(r.began)
	return exit
}

// start starts the program at path, and closes its ends of the pipes.
func (r *run) start(path string) error {
	started := make(chan error)
	r.exited = make(chan struct{})
	go func() {
		// The kernel kills the command when the thread that started it ends,
		// so that it ends with us: the thread has to live as long as it does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(r.exited)
		err := r.spawn(path)
		r.pipes.given()
		if err == nil {
			r.tree, err = newTree(r.mark, r.cmd.Process, r.group)
			if err != nil {
				_ = r.cmd.Process.Kill()
				_ = r.cmd.Wait()
				kin.waited(r.cmd.Process)
				r.cage.close()
			}
		}
		if err == nil && r.loose {
			kin.lead(r.tree)
		}
		started <- err
		if err != nil {
			return
		}
		_ = r.cmd.Wait() // ProcessState says more
		r.ended = time.Now()
		kin.waited(r.cmd.Process)
	}()
	err := <-started
	if err != nil {
		<-r.exited
	}
	return err
}

// spawn starts the program at path in its cgroup, or without one where it cannot
// be in one.
func (r *run) spawn(path string) error {
	err, refused := r.try(path)
	if refused && r.group != nil {
		r.group.release()
		r.group = nil
		err, _ = r.try(path)
	}
	return err
}

// try starts the program at path. It may be refused for its cgroup.
func (r *run) try(path string) (err error, refused bool) {
	c := r.command
	r.cmd = &exec.Cmd{
		Path: path, Args: c.Argv, Dir: c.Dir,
		Env:    append(append([]string{}, c.Env...), r.mark),
		Stdout: r.pipes.out, Stderr: r.pipes.err,
		SysProcAttr: attributes(),
	}
	if r.pipes.in != nil {
		r.cmd.Stdin = r.pipes.in
	}
	if c.Terminal != nil {
		controls(r.cmd.SysProcAttr)
	}
	r.cmd.Env, r.cmd.ExtraFiles = r.report.add(r.cmd.Env, r.cmd.ExtraFiles)
	if r.cage, err = r.host.confine(r.cmd, c, r.mark); err != nil {
		return err, false
	}
	r.group.join(r.cmd.SysProcAttr)
	r.loose = r.group == nil && !r.cage.whole()
	if r.loose {
		r.host.adopt()
	}
	r.began = time.Now()
	err = kin.start(r.cmd, r.loose)
	child := r.cmd.Process
	failed := r.cage.begin(r.cmd, err)
	if err == nil && failed != nil {
		kin.waited(child)
	}
	return failed, refusal(err)
}

// watch returns when the command has exited, or says in e why it has to.
func (r *run) watch(ctx context.Context, idle <-chan time.Time, e *Exit) {
	var late <-chan time.Time
	if r.command.Timeout > 0 {
		timer := time.NewTimer(r.command.Timeout)
		defer timer.Stop()
		late = timer.C
	}
	var dead <-chan time.Time
	if r.loose {
		ticker := time.NewTicker(burials)
		defer ticker.Stop()
		dead = ticker.C
	}
	for on := true; on; {
		on = false
		select {
		case <-r.exited:
		case <-late:
			e.TimedOut = true
		case <-idle:
			e.Idle = true
		case <-ctx.Done():
			e.TimedOut = errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(context.Cause(ctx), errLate)
			e.Cancelled = !e.TimedOut
		case <-r.host.closing:
			e.Cancelled = true
		case <-dead:
			kin.bury()
			on = true
		}
	}
	select {
	case <-r.exited: // at the same moment: then it ended by itself
		*e = Exit{Profile: e.Profile}
	default:
	}
}

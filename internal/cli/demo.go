package cli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/tools/txtar"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/provider"
)

var (
	//go:embed demo/sample.txtar
	demoSample []byte
	//go:embed demo/rehearsal.txtar
	demoScript []byte
)

const demoGoal = "The tests fail. Find out why, fix the cause, and prove it."

func (s System) demoCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "demo", Short: "Show the whole loop at work on a small repository, without a key", Args: noArgs,
		Example: "  belay demo\n  belay demo --into sample",
		Long: `Show the whole loop at work: find, fix and prove a bug in a small repository that
is made for it. Tools, files, commands, journal and policy are real; only the
model is rehearsed: it plays a script. It needs sh and git.`,
		RunE: func(c *cobra.Command, _ []string) error { return s.demo(c.Context(), dir) },
	}
	c.Flags().StringVar(&dir, "into", "", "make the repository in `DIR`, which must not exist yet")
	return c
}

func (s System) demo(ctx context.Context, dir string) (err error) {
	in := listen()
	defer in.close()
	ctx, done := in.within(ctx)
	defer done()

	rehearsed, err := provider.NewRehearsed("demo", demoScript)
	if err != nil {
		return err
	}
	for _, program := range []string{"sh", "git"} {
		if _, err := process.Look(program, s.childEnv(new(Config))); err != nil {
			return usage("the demonstration needs %s: %v", program, err)
		}
	}
	if dir, err = s.makeSample(ctx, dir); err != nil {
		return err
	}
	r, err := s.in(dir).open(ctx, openOptions{
		runOptions: runOptions{mode: "full"}, interrupts: in,
		provider: rehearsed, info: model.Info{Name: "rehearsed/demo"},
	})
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	fmt.Fprintf(s.Stderr, `This is a demonstration. The model is REHEARSED: it plays a script and checks that
every result is the one it expects. All else is real: the tools, the files, the
commands, what is decided and what is recorded.

repository  %s
goal        %s

`, dir, demoGoal)
	err = r.verified(r.agent.Turn(ctx, agent.Input{Text: demoGoal}))
	if err = errors.Join(err, r.close()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.Stderr, s.demoEnd(r, dir))
	return err
}

// demoEnd says what can be looked at now.
func (s System) demoEnd(r *rig, dir string) string {
	text := "\nThe model was rehearsed; the change is real. Look at it:\n  cd " + dir + " && git diff && sh test.sh\n"
	if r.kept {
		text += "What happened, event by event:\n  belay log " + r.id + "\n"
	}
	return text + "With a model of your own:\n  belay run \"GOAL\""
}

// makeSample makes the sample repository, whole or not at all.
func (s System) makeSample(ctx context.Context, dir string) (_ string, err error) {
	if dir == "" {
		dir, err = os.MkdirTemp("", "belay-demo-")
	} else {
		err = os.Mkdir(dir, 0o755)
	}
	if err != nil {
		return "", usage("make the repository of the demonstration: %v", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	for _, f := range txtar.Parse(demoSample).Files {
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			return "", err
		}
	}
	return dir, s.commitSample(ctx, dir)
}

func (s System) commitSample(ctx context.Context, dir string) (err error) {
	host, err := process.Open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	env := append(s.childEnv(new(Config)),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Belay", "GIT_AUTHOR_EMAIL=demo@belay.invalid",
		"GIT_COMMITTER_NAME=Belay", "GIT_COMMITTER_EMAIL=demo@belay.invalid")
	for _, args := range []string{"init -q -b main", "add .", "commit -q -m sample"} {
		exit, err := host.Run(ctx, process.Command{
			Argv: append([]string{"git"}, strings.Fields(args)...), Dir: dir, Env: env,
			Output: io.Discard, Keep: 4 << 10, Timeout: time.Minute,
		})
		if err != nil {
			return usage("the demonstration needs git: %v", err)
		}
		if exit.Code != 0 {
			return usage("git %s in %s: exit status %d\n%s", args, dir, exit.Code, exit.Head)
		}
	}
	return nil
}

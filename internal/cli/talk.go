package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/belay-agent/belay/internal/ui/terminal"
)

// talk is the interactive session.
func (s System) talk(ctx context.Context, o runOptions) (err error) {
	in := listen()
	defer in.close()
	opening, opened := in.within(ctx)
	r, err := s.open(opening, openOptions{runOptions: o, interrupts: in, talk: true})
	opened()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	r.ui.Say("Belay " + fullVersion() + " in " + r.workspace.Root() + ", model " + r.model.Name + ", mode " + string(r.settings.Mode) +
		".\nWhat you type while it works reaches the model before its next step.\nCtrl-C stops a turn; Ctrl-D or /exit ends; /help says more.")
	t := talking{rig: r, in: in}
	for {
		goal, err := t.listen(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.turn(ctx, goal); fatal(err) {
			return err
		} else if err != nil && !errors.Is(err, errInterrupted) { // the turn's last line says that
			r.ui.Say("stopped: " + terminal.Safe(err.Error()))
		}
	}
}

// talking is a conversation between turns.
type talking struct {
	*rig
	in   *interrupts
	late string // typed for a turn that was over by then
	idle int    // interrupts in a row while nothing was running
}

// listen waits for the next goal. The first interrupt without one says how to
// end, the second ends.
func (t *talking) listen(ctx context.Context) (string, error) {
	for {
		goal := t.late
		t.late = ""
		if goal == "" {
			waiting, done := t.in.waiting(ctx)
			line, err := t.ui.ReadLine(waiting)
			done()
			if errors.Is(err, errInterrupted) {
				if t.idle++; t.idle > 1 {
					return "", err
				}
				t.ui.Say("Ctrl-C again or Ctrl-D ends the session")
				continue
			}
			if err != nil {
				return "", err
			}
			goal = line
		}
		t.idle = 0
		word, text := slashed(goal)
		switch {
		case word == "/compact":
			if err := t.compactNow(ctx, text); err != nil {
				return "", err
			}
		case word != "":
			if t.obey(word, text) {
				return "", io.EOF
			}
		case strings.TrimSpace(text) != "":
			return text, nil
		}
	}
}

// turn works on goal. What is typed meanwhile steers it.
func (t *talking) turn(ctx context.Context, goal string) error {
	ctx, done := t.in.within(ctx)
	typing, stop := context.WithCancel(ctx)
	late := make(chan string, 1)
	t.tellLifting(goal)
	go func() { late <- t.steer(typing) }()
	err := errors.Join(t.agent.Turn(ctx, t.said(goal)), t.lateWrites())
	err = errors.Join(err, t.reportTurn())
	stop()
	t.late = <-late
	done()
	return err
}

// steer passes on what is typed until ctx ends, and returns a line that came too
// late, or that ends the session once the turn is over.
func (t *talking) steer(ctx context.Context) string {
	for {
		line, err := t.ui.NextLine(ctx)
		word, text := slashed(line)
		switch {
		case err != nil:
			return ""
		case word == "/compact":
			if !t.agent.CompactSoon(text) {
				return line
			}
			t.ui.Say("that happens before its next step")
		case word != "":
			if t.obey(word, text) {
				t.ui.Say("the session ends with this turn; Ctrl-C stops it")
				return word
			}
		case strings.TrimSpace(text) == "":
		case !t.agent.Steer(t.said(text)):
			return line
		default:
			t.ui.Say("the model hears that before its next step")
			t.tellLifting(text)
		}
	}
}

// fatal reports whether err leaves nothing to go on with.
func fatal(err error) bool {
	return errors.Is(err, errDeaf) || err != nil && status(err) == exitFault
}

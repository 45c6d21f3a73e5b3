package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/ui/terminal"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/process"
)

func (s System) doctorCommand() *cobra.Command {
	var asJSON, repair bool
	var dir string
	c := &cobra.Command{
		Use:   "doctor [SESSION]",
		Short: "Check sessions, settings and this machine, and say which promises hold here",
		Long: `Check every session, or one: each record, the chain over all of them, every artifact,
and that the events fit together. Then check the settings and what the machine has,
ask each provider that is set up one cheap question, for 5 seconds at most,
and say which promises hold here: what each of them means is in docs/promises.md.
Nothing is changed without --repair, which does only what cannot lose anything, and
says what it did. The exit status is 6 if something is not as it was written.`,
		Example: `  belay doctor
  belay doctor 01J8Z3KQ --repair
  belay doctor --json | jq '.promises[] | select(.holds != "full")'`,
		Args: counted(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return s.in(dir).doctor(c.Context(), args, repair, asJSON)
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "mend what can be mended without losing anything")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().StringVarP(&dir, "dir", "C", "", "check the settings of `DIR` instead of here")
	return c
}

// A checkup is what doctor found.
type checkup struct {
	Sessions []sessionCheck `json:"sessions"`
	Machine  []machineCheck `json:"machine"`
	Promises []promise      `json:"promises"`
}

// A sessionCheck is the state of one session.
type sessionCheck struct {
	ID     string   `json:"session"`
	Events int64    `json:"events"`
	Sound  bool     `json:"sound"`
	Notes  []string `json:"notes,omitempty"`
	Done   []string `json:"repaired,omitempty"`
}

// A machineCheck is one thing that Belay needs or likes to have.
type machineCheck struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Note string `json:"note,omitempty"`
}

func (s System) doctor(ctx context.Context, args []string, repair, asJSON bool) error {
	st := s.store()
	ids, unread := st.ids() // the place for sessions is told below; the rest can be checked
	var err error
	if len(args) > 0 {
		id, err := st.find(args[0])
		if err != nil {
			return err
		}
		ids = []string{id}
	}
	found := checkup{Sessions: []sessionCheck{}}
	bad := false
	for _, id := range ids {
		check := st.examine(id, repair)
		bad = bad || !check.Sound
		found.Sessions = append(found.Sessions, check)
	}
	kept := s.canKeep()
	if unread != nil {
		kept.OK, kept.Note = false, unread.Error()
	}
	sandbox, held := s.checkSandbox()
	found.Machine = append(s.checkMachine(ctx), sandbox, kept)
	found.Promises = promises(runtime.GOOS, kept.OK, held)
	if asJSON {
		err = json.NewEncoder(tame{s.Stdout}).Encode(found)
	} else {
		err = s.printCheckup(found)
	}
	if err == nil && bad {
		return &statusError{status: exitUnverified}
	}
	return errors.Join(err, unread)
}

// examine checks session id, after mending it if that is wanted.
func (st store) examine(id string, repair bool) sessionCheck {
	check := sessionCheck{ID: id}
	note := func(format string, a ...any) { check.Notes = append(check.Notes, fmt.Sprintf(format, a...)) }
	if repair {
		done, err := journal.Repair(st.path(id))
		check.Done = done
		if err != nil {
			note("not repaired: %v", err)
		}
	}
	report, err := journal.Verify(st.path(id))
	if err != nil {
		note("%v", err)
		return check
	}
	check.Events = report.Events
	misfit := st.misfit(id)
	check.Sound = report.Sound() && misfit == nil
	for _, d := range report.Damage {
		note("%v", d)
		if gap, ok := errors.AsType[*journal.Corrupt](d); ok && gap.LastSeq > 0 {
			note("what is before it goes on with: belay fork %s --at %d", id, gap.LastSeq)
		}
	}
	if misfit != nil && len(report.Damage) == 0 {
		note("%v", misfit)
	}
	if report.Torn > 0 {
		note("a record of %s at its end was never finished; the next resume cuts it off", count(report.Torn, "byte"))
	}
	for _, l := range report.Lost {
		note("lost in a power cut, and not needed: %v", l)
	}
	for _, f := range report.Left {
		note("left over: %s", f)
	}
	return check
}

// misfit returns why the events of session id do not fit together, nil if they
// do.
func (st store) misfit(id string) error {
	state := new(session.State)
	for e, err := range journal.Read(st.path(id)) {
		if err != nil {
			return err
		}
		if err := state.Apply(e); err != nil {
			return err
		}
	}
	return nil
}

func (s System) checkMachine(ctx context.Context) []machineCheck {
	check := func(what string, err error, ok string) machineCheck {
		if err != nil {
			return machineCheck{What: what, Note: err.Error()}
		}
		return machineCheck{What: what, OK: true, Note: ok}
	}
	root, err := s.root()
	checks := []machineCheck{check("workspace", err, root)}
	c, err := LoadConfig(Sources{User: s.userConfig(), Dir: root, State: s.stateDir(), Getenv: s.getenv})
	checks = append(checks, check("settings", err, cmp.Or(s.userConfig(), "the defaults: no home directory is known")))
	if c == nil {
		c = &Config{Settings: defaultSettings()}
	}
	shell, err := process.Shell(s.childEnv(c))
	checks = append(checks, check("shell", err, fmt.Sprint(shell)))
	git, err := process.Look("git", s.childEnv(c))
	checks = append(checks, check("git", err, git))
	return append(checks, s.checkProviders(ctx, c)...)
}

// checkSandbox tries out how commands can be held here.
func (s System) checkSandbox() (machineCheck, process.Profile) {
	const what = "sandbox"
	root, err := s.root()
	if err != nil {
		return machineCheck{What: what, Note: err.Error()}, process.None
	}
	host, err := s.sandbox(root).Open("")
	if err != nil {
		return machineCheck{What: what, Note: err.Error()}, process.None
	}
	defer func() { _ = host.Close() }() // it ran nothing of anybody's
	held := host.Profile()
	note := string(held)
	for _, p := range []process.Profile{process.Full, process.Bubblewrap, process.Namespaces, process.Landlock} {
		if why, ok := host.Gaps()[p]; ok {
			note += "; not " + string(p) + ": " + why
		}
	}
	if held == process.None {
		note = "commands run as you; outside full each that does more than read is asked about, unless a rule settles it" + note[len(held):]
	}
	return machineCheck{What: what, OK: held != process.None, Note: note}, held
}

// canKeep reports whether a session can be kept, by keeping one.
func (s System) canKeep() machineCheck {
	const what = "place for sessions"
	st := s.store()
	if st.dir == "" {
		return machineCheck{What: what, Note: "no home directory is known"}
	}
	dir := st.path(ulid.Make().String())
	defer os.RemoveAll(dir)
	j, err := journal.Open(dir, nil)
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		return machineCheck{What: what, Note: err.Error()}
	}
	return machineCheck{What: what, OK: true, Note: filepath.Dir(dir)}
}

func (s System) printCheckup(found checkup) error {
	w := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
	sound := 0
	for _, x := range found.Sessions {
		if x.Sound {
			sound++
		}
		if x.Sound && len(x.Notes)+len(x.Done) == 0 {
			continue
		}
		state := "sound"
		if !x.Sound {
			state = "NOT SOUND"
		}
		fmt.Fprintf(w, "session\t%s\t%s\t%s\n", x.ID, state, count(x.Events, "event"))
		for _, done := range x.Done {
			fmt.Fprintf(w, "\trepaired\t%s\n", oneLine(done, 0))
		}
		for _, n := range x.Notes {
			fmt.Fprintf(w, "\tnote\t%s\n", oneLine(n, 0))
		}
	}
	fmt.Fprintf(w, "sessions\t%d of %d sound\n", sound, len(found.Sessions))
	for _, m := range found.Machine {
		mark := "ok"
		if !m.OK {
			mark = "missing"
			if strings.HasPrefix(m.What, "provider ") {
				mark = "FAILS"
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", terminal.Line(m.What, 1<<16), mark, terminal.Line(m.Note, 1<<16))
	}
	for _, p := range found.Promises {
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.ID, p.Holds, p.What)
		if p.Why != "" {
			fmt.Fprintf(w, "\t\t  %s\n", p.Why)
		}
	}
	return w.Flush()
}

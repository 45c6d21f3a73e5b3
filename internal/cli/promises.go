package cli

import (
	"fmt"

	"github.com/belay-agent/belay/internal/world/process"
)

// A promise is one of those by which Belay wants to be measured, and what is
// left of it on this machine.
type promise struct {
	ID    string `json:"promise"`
	What  string `json:"what"`
	Holds string `json:"holds"` // full, reduced or absent
	Why   string `json:"why,omitempty"`
}

// promises returns all of them, as they hold on a system with or without a place
// for sessions, on which that is the best way to hold commands.
func promises(goos string, kept bool, held process.Profile) []promise {
	unix := goos == "linux" || goos == "darwin"
	all := []promise{
		{"P01", "a crash loses nothing that was recorded, repeats no effect, and leaves no call without its result", "full", ""},
		{"P02", "the same at every system call", "full", ""},
		{"P03", "what was recorded survives a power cut", "full", ""},
		{"P04", "a full or broken disk ends in a clear error, and nothing is half written", "full", ""},
		{"P05", "a sync that failed is never taken back", "full", ""},
		{"P06", "two processes never write one session", "full", ""},
		{"P07", "old sessions stay readable; damage is told apart from a cut", "full", ""},
		{"P08", "undo takes back what the agent changed", "reduced", "of what a command changed, files that git ignores, empty directories, what is too large or too much to be copied, and what is outside the workspace do not come back"},
		{"P09", "a concurrent save is never lost silently", "reduced", "what a program that had the file open writes late is found, kept and told at the end of a turn; not if Belay is killed before"},
		{"P10", "a changed file keeps mode, owner, attributes and form", "full", ""},
		{"P11", "file tools never leave the workspace", "full", ""},
		{"P12", "a command writes only where it may", "full", ""},
		{"P13", "no command leaves a process behind", "reduced", "a command that was let do anything runs outside of the sandbox: there, and without a control group, what leaves session, parent and environment at once escapes a crash of Belay"},
		{"P14", "output of any size takes bounded memory", "full", ""},
		{"P15", "a command cannot eat the machine", "reduced", "a command that was let do anything has its time and output bounded, and its memory where Belay may make control groups"},
		{"P16", "no output reaches the terminal as a command to it", "full", ""},
		{"P17", "nothing that acts passes as a read", "full", ""},
		{"P18", "deny beats ask beats allow; a project only tightens", "full", ""},
		{"P19", "an approval is for exactly what was shown", "full", ""},
		{"P20", "the network is closed but for named hosts", "full", ""},
		{"P21", "Belay's keys are out of reach of tools and never on disk", "reduced", "a command that was let do anything can read the settings, and as root also the memory of Belay"},
		{"P22", "text from tools never raises authority", "absent", "not measured yet"},
		{"P23", "a tool server cannot change after it was approved", "absent", "tool servers are not built yet"},
		{"P24", "every action can be traced to who allowed it", "full", ""},
	}
	for i := range all {
		p := &all[i]
		p.unheld(held)
		switch {
		case p.Holds == "absent":
		case !kept && p.ID <= "P08" || !kept && p.ID == "P24":
			p.Holds, p.Why = "absent", "there is no place for sessions: nothing is kept"
		case !unix && (p.ID == "P13" || p.ID <= "P07"):
			p.Holds, p.Why = "reduced", fmt.Sprintf("not tested on %s", goos)
		case goos != "linux" && p.Holds == "full":
			p.Holds, p.Why = "reduced", fmt.Sprintf("tested on Linux only, not on %s", goos)
		}
	}
	return all
}

// unheld takes from p what is missing where commands are held in a weaker way
// than they can be.
func (p *promise) unheld(held process.Profile) {
	type loss struct{ holds, why string }
	losses := map[process.Profile]map[string]loss{
		process.Landlock: {
			"P12": {"reduced", "held by Landlock alone: a command that may write in the workspace can write to .git and other protected files there, change modes, owners, times and attributes of files elsewhere, and list the names in hidden directories"},
			"P13": {"reduced", "no PID namespace here: without a control group, what leaves session, parent and environment at once escapes a crash of Belay"},
			"P15": {"reduced", "held by Landlock alone: without control groups only the size of files, time and output are bounded"},
			"P20": {"reduced", "held by Landlock alone: the network is closed, or open as a whole: hosts are not told apart"},
		},
		process.None: {
			"P12": {"absent", "nothing here holds a command: each that does more than read is asked about in every mode but full"},
			"P13": {"reduced", "no PID namespace here: without a control group, what leaves session, parent and environment at once escapes a crash of Belay"},
			"P15": {"absent", "only time and output are bounded here"},
			"P20": {"absent", "nothing here holds a command"},
			"P21": {"reduced", "nothing here holds a command: it can read the settings, and as root also the memory of Belay"},
		},
	}
	if l, ok := losses[held][p.ID]; ok {
		p.Holds, p.Why = l.holds, l.why
	}
}

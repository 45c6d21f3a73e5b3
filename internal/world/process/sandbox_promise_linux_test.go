package process_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/world/process"
)

// TestPromise_P12_R150_NothingGetsOut makes every attempt in every profile, as
// root and not. A profile that holds everything but what it is said not to hold
// is held to that list, both ways.
func TestPromise_P12_R150_NothingGetsOut(t *testing.T) {
	for _, p := range profiles {
		t.Run(string(p), func(t *testing.T) {
			s := newStage(t, p)
			got := s.try(t)
			want := []string(nil)
			if p == process.Landlock {
				want = slices.Clone(landlockGaps)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("of %d attempts (-expected to get out +got out):\n%s", len(attempts), diff)
			}
		})
	}
	asUser(t)
}

// landlockGaps are what Landlock alone does not hold: see docs/sandbox.md.
var landlockGaps = []string{
	"add a hook",
	"add to a protected directory",
	"change a hook",
	"change a protected file",
	"change the settings of git",
	"change times",
	"change times of what is open",
	"chattr",
	"chmod",
	"chmod what hides",
	"chown",
	"fchmod of what is open for reading",
	"fchmodat2",
	"fchown",
	"fsetxattr",
	"list a hidden directory",
	"move .git away",
	"move .git/hooks away",
	"move what a protected directory is in",
	"removexattr",
	"replace a protected file",
	"replace the settings of git",
	"seen in .git",
	"seen outside",
	"setxattr",
}

// Without a sandbox most of the attempts of a user succeed on what is the user's:
// else they would prove nothing. (Root's would take this system apart.)
func TestAttemptsGetOutOfNothing(t *testing.T) {
	if os.Getuid() == 0 {
		asUser(t)
		return
	}
	s := newStage(t, process.None)
	got := s.try(t)
	for _, name := range []string{"add a hook", "chmod", "connect by multipath TCP", "io_uring", "link in and write", "read a secret", "trace a process of the same user"} {
		if !slices.Contains(got, name) {
			t.Errorf("%s: held by nothing", name)
		}
	}
	if len(got) < len(attempts)/2 {
		t.Errorf("%d of %d attempts got out: %q", len(got), len(attempts), got)
	}
}

// A key that the agent holds in its environment, its memory and its files is in
// none of the places where a command can look, in any profile.
func TestPromise_P21_KeysAreOutOfReach(t *testing.T) {
	const search = `
env | grep -a CANARY
cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -a CANARY
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -a "^CANARY"
grep -ra CANARY "$STATE" "$SECRET" "$STATE/.." 2>/dev/null
echo done`
	for _, p := range profiles {
		t.Run(string(p), func(t *testing.T) {
			s := newStage(t, p)
			if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
				t.Errorf("who may look into the agent: %d, %v", dumpable, err)
			}
			c := script(t, strings.ReplaceAll(search, "CANARY", canary[:6]+"'"+canary[6:]+"'"))
			c.Dir, c.Allowed, c.Keep = s.Root, writes, 1<<20
			c.Env = append(c.Env, "STATE="+s.Hidden, "SECRET="+s.Secret)
			e := run(t, s.host, c)
			if got := string(e.Head); strings.Contains(got, canary) || got != "done\n" || e.Profile != string(p) {
				t.Errorf("held by %s: %d bytes\n%.500s", e.Profile, len(got), got)
			}
		})
	}
	asUser(t)
}

// What nothing holds, because a person let it do anything, cannot look into the
// agent either, unless it is root.
func TestPromise_P21_TheAgentIsClosedToItsOwnUser(t *testing.T) {
	if os.Getuid() == 0 {
		asUser(t)
		return
	}
	s := newStage(t, process.Full)
	c := script(t, fmt.Sprintf("cat /proc/%d/environ; head -c1 /proc/%[1]d/mem; true", os.Getpid()))
	c.Allowed = effect.Set{{Kind: effect.Anything}}
	e := run(t, s.host, c)
	if got := string(e.Head); strings.Count(got, "Permission denied") != 2 || e.Profile != "none, as approved" {
		t.Errorf("held by %s:\n%s", e.Profile, got)
	}
}

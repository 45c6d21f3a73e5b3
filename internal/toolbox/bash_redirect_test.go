package toolbox

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// R146: a command that may change the repository, and after which git would run
// what another repository or new settings name, is told of: the next to use git
// is the user, without a sandbox.
func TestR146_ACommandThatRedirectsGitIsTold(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	const commit = "git -c user.name=n -c user.email=e@example.com commit -q --allow-empty -m x"
	for command, told := range map[string]bool{
		"touch a && git add a && " + commit: false,
		"mkdir in && (cd in && git init -q . && " + commit + " && git config core.fsmonitor evil) && git add in 2>/dev/null": true,
		"git config alias.st '!evil'":  true,
		"git config user.name someone": false,
		"git status":                   false,
	} {
		dir := t.TempDir()
		if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		r, _ := bashWith(t, bashIn(t, dir, BashOptions{}), tool.Env{}, bashArgs{Command: command})
		if r.Failure != nil || strings.HasPrefix(r.Text, redirected) != told {
			t.Errorf("%s: %+v: %s", command, r.Failure, r.Text)
		}
	}
}

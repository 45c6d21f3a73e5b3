package process_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/world/process"
)

// How a command ends, and what it prints, is the same in every profile.
func TestR133_ASandboxPassesOnHowItEnded(t *testing.T) {
	for _, p := range profiles {
		t.Run(string(p), func(t *testing.T) {
			root := outside(t)
			h := held(t, p, process.Sandbox{Root: root})
			for text, want := range map[string]process.Exit{
				"true":                     {Stages: []int{0}},
				"echo out; echo err >&2":   {Head: []byte("out\nerr\n"), Err: process.Apart{Head: []byte("err\n")}, Stages: []int{0}},
				"exit 7":                   {Code: 7, Stages: []int{0}},
				"false | true | (exit 3)":  {Code: 3, Stages: []int{1, 0, 3}},
				"kill -TERM $$":            {Code: -1, Signal: "SIGTERM"},
				"kill -9 $$":               {Code: -1, Signal: "SIGKILL"},
				"sleep 60 &":               {Stages: []int{0}, Left: p != process.Landlock, Held: p == process.Landlock},
				"echo late > >(cat); wait": {Head: []byte("late\n"), Stages: []int{0}},
			} {
				c := script(t, text)
				c.Dir, c.Allowed, c.Stages, c.Apart = root, writes, true, true
				want.Profile = string(p)
				e := run(t, h, c)
				if strings.Contains(text, "SIGKILL") || strings.Contains(text, "sleep") || strings.Contains(text, "kill") {
					e.Stages, want.Stages = nil, nil
				}
				if diff := cmp.Diff(want, e, untimed, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(process.Exit{}, "Holders")); diff != "" {
					t.Errorf("%s: (-want +got)\n%s", text, diff)
				}
			}
		})
	}
}

// What does not start is told as without a sandbox.
func TestASandboxSaysWhyNothingStarted(t *testing.T) {
	for _, p := range profiles {
		t.Run(string(p), func(t *testing.T) {
			root := outside(t)
			h := held(t, p, process.Sandbox{Root: root})
			for name, c := range map[string]process.Command{
				"no directory": {Argv: []string{"true"}, Dir: filepath.Join(root, "nowhere"), Env: []string{path}},
				"no program":   {Argv: []string{"/nowhere"}, Dir: root, Env: []string{path}},
			} {
				c.Allowed = writes
				if e, err := h.Run(t.Context(), c); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %+v, %v", name, e, err)
				}
			}
		})
	}
}

// What a command may do is what it was allowed, and no more.
func TestASandboxIsWhatWasAllowed(t *testing.T) {
	root, other := outside(t), outside(t)
	put(t, filepath.Join(other, "secret"), "hush")
	put(t, filepath.Join(root, ".git/HEAD"), "")
	put(t, filepath.Join(root, ".envrc"), "old\n")
	h := held(t, process.Full, process.Sandbox{
		Root: root, Secrets: []string{filepath.Join(other, "secret")}, Protected: []string{filepath.Join(root, ".envrc"), filepath.Join(root, ".npmrc")},
	})
	write := func(on string) effect.Effect { return effect.Effect{Kind: effect.Write, On: on} }
	for _, tc := range []struct {
		script  string
		allowed effect.Set
		ok      bool
	}{
		{"echo x > a", nil, false},
		{"echo x > /tmp/a && cat /tmp/a", nil, true},
		{"cat /tmp/a", nil, true}, // for the whole session
		{"echo x > a", effect.Set{write("a")}, true},
		{"echo x > b", effect.Set{write("a")}, true}, // the whole workspace: a file is replaced from beside it
		{"echo x > .git/x", writes, false},
		{"echo x > .git/x", append(effect.Set{{Kind: effect.Git}}, writes...), true},
		{"echo x > .git/hooks/x", append(effect.Set{{Kind: effect.Git}}, writes...), false},
		{"echo x > .envrc", writes, false},
		{"echo x > .envrc", effect.Set{write(".envrc")}, true},
		{"echo x > " + other + "/new", writes, false},
		{"echo x > " + other + "/new", effect.Set{write(other + "/new")}, true},
		{"cat " + other + "/secret", writes, false},
		{"cat " + other + "/secret", effect.Set{{Kind: effect.Read, On: other + "/secret"}}, true},
		{"grep -q eth0 /proc/net/dev || grep -qv -e lo: -e '|' /proc/net/dev", writes, false},
		{"grep -qv -e lo: -e '|' /proc/net/dev", effect.Set{{Kind: effect.Network}}, true},
	} {
		c := script(t, tc.script)
		c.Dir, c.Allowed = root, tc.allowed
		e := run(t, h, c)
		if ok := e.Code == 0; ok != tc.ok {
			t.Errorf("%s, allowed %v: %d %s", tc.script, tc.allowed, e.Code, e.Head)
		}
	}
	c := script(t, "echo x > .npmrc")
	c.Dir, c.Allowed = root, writes
	if e := run(t, h, c); !cmp.Equal(e.Made, []string{filepath.Join(root, ".npmrc")}) {
		t.Errorf("a protected file that was missing was made: %+v", e)
	}
}

// What would have git take its settings from elsewhere cannot be written where it
// is, and is taken away where it is new.
func TestPromise_P12_GitIsNotRedirected(t *testing.T) {
	root := outside(t)
	for _, name := range []string{"HEAD", "modules/a/config", "modules/libs/b/config", "modules/a/modules/c/config", "worktrees/w/commondir"} {
		put(t, filepath.Join(root, ".git", name), "old\n")
	}
	h := held(t, process.Full, process.Sandbox{Root: root})
	c := script(t, "cd .git; for f in $(find . -type f); do echo new > $f; done; echo ../evil > commondir; echo x > index; cat commondir")
	c.Dir, c.Allowed = root, append(effect.Set{{Kind: effect.Git}}, writes...)
	e := run(t, h, c)
	if made := filepath.Join(root, ".git/commondir"); !cmp.Equal(e.Made, []string{made}) || !strings.Contains(string(e.Head), "../evil") {
		t.Errorf("%+v %s", e, e.Head)
	} else if _, err := os.Lstat(made); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	for name, want := range map[string]string{
		"HEAD": "new\n", "index": "x\n", "modules/a/config": "old\n", "modules/libs/b/config": "old\n",
		"modules/a/modules/c/config": "old\n", "worktrees/w/commondir": "old\n",
	} {
		if b, err := os.ReadFile(filepath.Join(root, ".git", name)); err != nil || string(b) != want {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
}

// A cache can be written, for the commands of the session alone.
func TestASandboxKeepsCachesAsTheyAre(t *testing.T) {
	root, cache := outside(t), outside(t)
	put(t, filepath.Join(cache, "old"), "old\n")
	h := held(t, process.Full, process.Sandbox{Root: root, Caches: []string{cache}})
	for i, text := range []string{"cat old; echo new > new; rm old", "cat new; ls"} {
		c := script(t, text)
		c.Dir, c.Allowed = cache, writes
		if e, want := run(t, h, c), []string{"old\n", "new\nnew\n"}[i]; string(e.Head) != want {
			t.Errorf("%s: %s", text, e.Head)
		}
	}
	if found, _ := os.ReadDir(cache); len(found) != 1 || found[0].Name() != "old" {
		t.Errorf("the cache has %v", found)
	}
}

// A cache that is not there can be made, for the commands of the session alone.
func TestASandboxHasCachesThatAreNotThere(t *testing.T) {
	root, home := outside(t), outside(t)
	put(t, filepath.Join(home, "there/a"), "old\n")
	caches := []string{filepath.Join(home, ".cache"), filepath.Join(home, "go"), filepath.Join(home, "own"), filepath.Join(home, "there")}
	h := held(t, process.Full, process.Sandbox{Root: root, Caches: caches})
	c := script(t, `for d in $XDG_CACHE_HOME $GOMODCACHE $GOCACHE; do mkdir -p $d; echo x > $d/x; echo $d; done; cat $CARGO_HOME/a`)
	c.Dir = root
	c.Env = append(c.Env, "GOCACHE="+filepath.Join(home, "own"), "CARGO_HOME="+filepath.Join(home, "there"))
	want := "/tmp/.cache\n/tmp/.gomod\n/tmp/.cache-GOCACHE\nold\n"
	if e := run(t, h, c); string(e.Head) != want {
		t.Errorf("%s", e.Head)
	}
	if found, _ := os.ReadDir(home); len(found) != 1 {
		t.Errorf("the home has %v", found)
	}
}

// The whole sandbox ends when its command is cancelled, whatever runs in it.
func TestPromise_P13_ASandboxEndsWhole(t *testing.T) {
	for _, p := range profiles {
		t.Run(string(p), func(t *testing.T) {
			root := outside(t)
			h := held(t, p, process.Sandbox{Root: root})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := script(t, `trap '' TERM; for i in 1 2 3; do setsid sh -c 'trap "" TERM; sleep 300; :' & done; (env -i sleep 300 &); echo up; sleep 300; sleep 300`)
			c.Dir, c.Allowed, c.Grace = root, writes, 10*time.Millisecond
			c.Output = writer(cancel)
			e, err := h.Run(ctx, c)
			if err != nil || !e.Cancelled {
				t.Errorf("%+v, %v", e, err)
			}
			found, _ := filepath.Glob("/proc/[0-9]*/cwd")
			for _, link := range found {
				if dir, err := os.Readlink(link); err == nil && dir == root {
					t.Errorf("%s is left", filepath.Dir(link))
				}
			}
		})
	}
}

// Where a sandbox is required, nothing runs without one.
func TestASandboxThatIsRequired(t *testing.T) {
	root := outside(t)
	h, err := process.Sandbox{Program: "/nowhere", Root: root, Required: true}.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	c := script(t, "touch ran")
	c.Dir, c.Allowed = root, writes
	if _, err := h.Run(t.Context(), c); !errors.Is(err, process.ErrUnheld) {
		t.Error(err)
	}
	if h.Confines(writes) || h.Profile() != process.None || len(h.Gaps()) != 4 {
		t.Errorf("held by %s; %v", h.Profile(), h.Gaps())
	}
	c.Allowed = effect.Set{{Kind: effect.Anything}}
	if _, err := h.Run(t.Context(), c); !errors.Is(err, process.ErrUnheld) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
		t.Error("it ran")
	}
}

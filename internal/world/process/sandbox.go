package process

import (
	"cmp"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/world/process/proxy"
)

// ErrUnheld is returned by Run for what nothing would hold, where a sandbox is
// required.
var ErrUnheld = errors.New("no sandbox would hold it, and one is required")

// A Sandbox says what holds commands. The zero Sandbox holds nothing. All paths
// are absolute and resolved.
type Sandbox struct {
	// Program is our own: started with the arguments it is given it has to call
	// Main before anything else. "" is no sandbox.
	Program string

	Root      string   // the workspace: what a command that writes in it may write
	Writable  []string // directories that such a command may write too
	Caches    []string // directories that any command may seem to write: what it writes is for the commands of the same Host only
	Hidden    []string // what no command may see: our state, our settings, keys
	Secrets   []string // what only a command that is allowed to read it may see
	Protected []string // below Root: read-only, unless a command is allowed to write just that
	Limits    Limits
	Upstream  *url.URL // the proxy that this machine reaches hosts through; nil is none
	Direct    []string // domains that it reaches without
	Required  bool     // run nothing that nothing holds
	Only      Profile  // the one profile to use, instead of the best that works; "" is any
}

// Limits bound what a command and all that it starts may use. 0 is no limit.
type Limits struct {
	Processes int   // threads count
	Memory    int64 // bytes
	File      int64 // bytes of the largest file it may write
}

// A Profile is a way to hold commands. See docs/sandbox.md for what each of them
// does not hold.
type Profile string

const (
	Full       Profile = "full"       // namespaces, also of users, Landlock and a filter of system calls
	Bubblewrap Profile = "bwrap"      // the same, the namespaces made by bwrap
	Namespaces Profile = "namespaces" // the same for root, without one of users
	Landlock   Profile = "landlock"   // Landlock and a filter of system calls
	None       Profile = "none"
)

// A grant is what a set of effects comes to, for a sandbox.
type grant struct {
	anything bool
	inside   bool     // writes somewhere in the workspace
	outside  []string // paths that are written elsewhere
	exactly  []string // all paths that are written, but for trees that hold more
	reads    []string
	git      bool
	network  bool     // all of it
	hosts    []string // of the network
}

// grant returns what allowed lets through. A command is not held to paths inside
// the workspace: whatever replaces a file does so from beside it.
func (s Sandbox) grant(allowed effect.Set) grant {
	var g grant
	for _, e := range allowed {
		path := cmp.Or(e.On, ".")
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Root, filepath.FromSlash(path))
		}
		switch e.Kind {
		case effect.Process, effect.Resource, effect.Permanent:
		case effect.Read:
			if e.On != "" {
				g.reads = append(g.reads, path)
			}
		case effect.Write:
			g.exactly = append(g.exactly, path)
			switch {
			case e.On == "":
				g.anything = true
			case within(s.Root, path):
				g.inside = true
			case within(path, s.Root):
				g.inside, g.outside = true, append(g.outside, path)
			default:
				g.outside = append(g.outside, path)
			}
		case effect.Git:
			g.git, g.inside = true, true
		case effect.Network:
			g.network = g.network || e.On == ""
			if name, ok := proxy.Name(e.On); ok && !slices.Contains(g.hosts, name) {
				g.hosts = append(g.hosts, name)
			}
		default:
			g.anything = true
		}
	}
	return g
}

// names reports whether it was granted to write path, or something below it, by
// that name.
func (g grant) names(path string) bool {
	return slices.ContainsFunc(g.exactly, func(p string) bool { return within(path, p) })
}

// names reports whether a path of list is path, or below it.
func names(list []string, path string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return within(path, p) })
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// Confines reports whether a command can be held to effects here. The first time
// it tries that out, which takes some milliseconds.
func (h *Host) Confines(effects effect.Set) bool {
	g := h.sandbox.grant(effects)
	if g.anything {
		return false
	}
	switch h.Profile() {
	case Full, Bubblewrap, Namespaces:
		return true
	case Landlock: // what may write somewhere could change modes and owners everywhere
		return !g.inside && len(g.outside) == 0 && !g.network && len(g.hosts) == 0
	}
	return false
}

// Profile returns the best way to hold commands that works here, or the one that
// was asked for if it does. The first time it tries that out.
func (h *Host) Profile() Profile {
	p, _ := h.probe()
	return p
}

// Gaps returns why each profile that is better than the one in use is not: how
// setting it up ended.
func (h *Host) Gaps() map[Profile]string {
	_, gaps := h.probe()
	return gaps
}

package toolbox

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/process/proxy"
)

const (
	hostsMax = 16
	toAsk    = "; to ask for it, name it in hosts of Bash"
)

// hostNames returns the hosts that a call asks for as effects have them.
func hostNames(hosts []string) (names []string, err error) {
	if len(hosts) > hostsMax {
		return nil, invalid("name those that it really needs", "%d hosts, more than %d", len(hosts), hostsMax)
	}
	for _, host := range hosts {
		name, ok := proxy.Name(host)
		if !ok {
			return nil, invalid(`write plain names such as "proxy.golang.org": without scheme, port, path or *`, "%q is no host name", host)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// reaching returns parts, and one for each host, named "network HOST". Whether
// something holds a part hangs on all that is opened to the whole command.
func reaching(parts []tool.Part, hosts []string, confines func(effect.Set) bool) []tool.Part {
	var opened effect.Set
	for _, p := range parts {
		for _, e := range p.Effects {
			if e.Kind == effect.Network {
				opened = append(opened, e)
			}
		}
	}
	var asked []tool.Part
	for _, host := range hosts {
		e := effect.Effect{Kind: effect.Network, On: host}
		opened = append(opened, e)
		asked = append(asked, tool.Part{Name: e.String(), Effects: effect.Set{e}})
	}
	held := bounded(parts, func(s effect.Set) bool { return confines(slices.Concat(s, opened)) })
	for i := range asked {
		asked[i].Held = confines(opened)
	}
	return append(held, asked...)
}

// asks says, to whoever approves a call, what it asks for beside its script.
func asks(hosts []string) string {
	if len(hosts) == 0 {
		return ""
	}
	return " (and to reach " + strings.Join(hosts, ", ") + ")"
}

// apart returns allowed without what a command finds in a network of its own: what
// it calls localhost is not this machine, unless it has asked for that.
func apart(allowed effect.Set, hosts []string) effect.Set {
	return slices.DeleteFunc(slices.Clone(allowed), func(e effect.Effect) bool {
		a, err := netip.ParseAddr(e.On)
		own := e.On == "localhost" || err == nil && (a.IsLoopback() || a.IsUnspecified())
		return e.Kind == effect.Network && own && !slices.Contains(hosts, e.On)
	})
}

// stopped says what of a failure is the sandbox's work, and what to do about it.
func stopped(e process.Exit) string {
	hint := e.Hint(slices.Concat(e.Err.Head, e.Err.Tail))
	if strings.Contains(hint, " reach ") {
		hint += toAsk
	}
	return hint
}

// greedy is a line about what was killed for its memory, where the script went on
// without it as if all was well.
func greedy(e process.Exit) string {
	if !e.Memory || e.Code != 0 || e.Signal != "" {
		return ""
	}
	return "[something of it was killed because the limit of memory or of processes was reached]\n"
}

// refused is a line about the hosts that a command was not let reach.
func refused(e process.Exit) string {
	if len(e.Refused) == 0 {
		return ""
	}
	return "[the sandbox let it reach no " + strings.Join(e.Refused, ", ") + toAsk + "]\n"
}

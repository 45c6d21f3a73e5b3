package toolbox

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/world/process"
)

func TestHostNames(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "",
		"Proxy.Golang.org. 10.0.0.1 [::1]": "proxy.golang.org 10.0.0.1 ::1",
		"a.b A.B a.b.":                     "a.b",
		"localhost":                        "localhost",
		"https://a.b":                      `"https://a.b" is no host name`,
		"a.b:443":                          `"a.b:443" is no host name`,
		"a.b/c":                            `"a.b/c" is no host name`,
		"*.a.b":                            `"*.a.b" is no host name`,
		"me@a.b":                           `"me@a.b" is no host name`,
		"0x7f.1":                           `"0x7f.1" is no host name`,
		strings.Repeat("a.b ", 17):         "17 hosts, more than 16",
	} {
		names, err := hostNames(strings.Fields(in))
		got := strings.Join(names, " ")
		if err != nil {
			got = err.(*tool.Failure).Message
		}
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A host that a call asks for is a part of its own, which a person, or a rule
// about just that host, decides about.
func TestHostsAreDecidedAbout(t *testing.T) {
	b := bashIn(t, t.TempDir(), BashOptions{})
	a, err := b.Prepare(t.Context(), bashCall(t, bashArgs{Command: "ls", Hosts: []string{"Proxy.golang.org", "sum.golang.org"}}))
	if err != nil {
		t.Fatal(err)
	}
	host := func(name string) tool.Part {
		return tool.Part{Name: "network " + name, Effects: effect.Set{{Kind: effect.Network, On: name}}}
	}
	if diff := cmp.Diff([]tool.Part{host("proxy.golang.org"), host("sum.golang.org")}, a.Parts[1:]); diff != "" {
		t.Error(diff)
	}
	if want := "ls (and to reach proxy.golang.org, sum.golang.org)"; a.Summary != want {
		t.Errorf("%q", a.Summary)
	}
	rule := func(s string) policy.Rule {
		r, err := policy.ParseRule(s, policy.Allow, policy.FromUser)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first, second := rule("Bash(network proxy.golang.org)"), rule("Bash(network sum.golang.org)")
	for _, c := range []struct {
		mode  policy.Mode
		rules []policy.Rule
		want  policy.Verdict
	}{
		{policy.ModePlan, nil, policy.Deny},
		{policy.ModeAsk, nil, policy.Ask},
		{policy.ModeAuto, nil, policy.Ask},
		{policy.ModeAuto, []policy.Rule{first}, policy.Ask},
		{policy.ModeAsk, []policy.Rule{first, second}, policy.Allow},
		{policy.ModeFull, nil, policy.Allow},
	} {
		p := policy.Policy{Mode: c.mode, Rules: c.rules}
		if got := p.Decide(b.Spec(), a.Parts); got.Verdict != c.want {
			t.Errorf("%s, %v: %+v", c.mode, c.rules, got)
		}
		if err := p.Check([]tool.Spec{b.Spec()}); err != nil {
			t.Error(err)
		}
	}
	remembered := policy.Policy{}.Remember(b.Spec(), a.Parts)
	if len(remembered) != 2 || remembered[0].String() != first.String() {
		t.Errorf("what is remembered is %v", remembered)
	}
}

// What a sandbox that cannot tell hosts apart opens for one part is open to all of
// them: then none is said to be held.
func TestWhatIsOpenToOnePartIsOpenToAll(t *testing.T) {
	parts := []tool.Part{
		{Name: "make", Effects: effect.Set{{Kind: effect.Anything}}},
		{Name: "curl a.b", Effects: effect.Set{{Kind: effect.Network, On: "a.b"}, {Kind: effect.Process}}},
	}
	closed := func(s effect.Set) bool {
		for _, e := range s {
			if e.Kind == effect.Network {
				return false
			}
		}
		return true
	}
	for i, p := range reaching(parts, nil, closed) {
		if p.Held || i == 0 && p.Effects[0].Kind != effect.Anything {
			t.Errorf("%+v", p)
		}
	}
	if got := reaching(parts[:1], nil, closed); !got[0].Held {
		t.Errorf("%+v", got)
	}
	if got := reaching(parts[:1], []string{"a.b"}, closed); got[0].Held || got[1].Held {
		t.Errorf("%+v", got)
	}
}

// What a command calls localhost is its own, unless it asks for that of the
// machine.
func TestLocalhostIsItsOwn(t *testing.T) {
	on := func(hosts ...string) (s effect.Set) {
		for _, h := range hosts {
			s = append(s, effect.Effect{Kind: effect.Network, On: h})
		}
		return s
	}
	all := append(on("localhost", "127.0.0.1", "::1", "0.0.0.0", "127.1.2.3", "a.b", "10.0.0.1", ""), effect.Effect{Kind: effect.Read, On: "localhost"})
	want := append(on("a.b", "10.0.0.1", ""), effect.Effect{Kind: effect.Read, On: "localhost"})
	if diff := cmp.Diff(want, apart(all, []string{"a.b"})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(on("localhost"), want...), apart(all, []string{"localhost"})); diff != "" {
		t.Error(diff)
	}
}

// A host that was refused is named in the text, in the facts and with what to do.
func TestARefusedHostIsNamed(t *testing.T) {
	e := process.Exit{Code: 56, Profile: "full, network open to a.b", Refused: []string{"x.y", "c.d (is at 10.0.0.1)"}}
	r := exited(e, process.Command{}, "out\n", bashFacts{})
	if want := "out\n[the sandbox let it reach no x.y, c.d (is at 10.0.0.1); to ask for it, name it in hosts of Bash]\nexit status 56"; r.Text != want {
		t.Errorf("%q", r.Text)
	}
	if want := "the sandbox let it reach no x.y, c.d (is at 10.0.0.1); to ask for it, name it in hosts of Bash"; r.Failure.Hint != want {
		t.Errorf("%q", r.Failure.Hint)
	}
	if !strings.Contains(string(r.Data), `"refused_hosts":["x.y","c.d (is at 10.0.0.1)"]`) {
		t.Errorf("%s", r.Data)
	}
	e = process.Exit{Code: 6, Profile: "full", Err: process.Apart{Head: []byte("curl: (6) Could not resolve host: x.y\n")}}
	if r := exited(e, process.Command{}, "", bashFacts{}); !strings.HasSuffix(r.Failure.Hint, "was not let reach x.y; to ask for it, name it in hosts of Bash") {
		t.Errorf("%q", r.Failure.Hint)
	}
	e = process.Exit{Code: 1, Profile: "full", Err: process.Apart{Head: []byte("touch: /etc/x: Read-only file system\n")}}
	if r := exited(e, process.Command{}, "", bashFacts{}); r.Failure.Hint == "" || strings.Contains(r.Failure.Hint, "hosts") {
		t.Errorf("%q", r.Failure.Hint)
	}
	e.Profile = string(process.None)
	if r := exited(e, process.Command{}, "", bashFacts{}); r.Failure.Hint != "" {
		t.Errorf("%q", r.Failure.Hint)
	}
}

package effect

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const rounds = 20_000

// R085: effects are sets of paths, hosts and names with a meaning that can be
// enumerated; on every pair of single effects the algebra agrees with it.
func TestEveryPairAgreesWithTheOracle(t *testing.T) {
	o, all := newOracle(), every()
	for _, e := range all {
		for _, f := range all {
			s, u := Set{e}, Set{f}
			if got, want := s.Conflicts(u), o.conflicts(s, u); got != want {
				t.Errorf("%v conflicts with %v: %t, want %t", s, u, got, want)
			}
			if got, want := s.Covers(u), o.covers(s, u); got != want {
				t.Errorf("%v covers %v: %t, want %t", s, u, got, want)
			}
		}
	}
}

func TestRandomSetsAgreeWithTheOracle(t *testing.T) {
	o, next := newOracle(), sets(t)
	for range rounds / 10 { // the oracle is slow
		s, u := next(), next()
		if got, want := s.Conflicts(u), o.conflicts(s, u); got != want {
			t.Fatalf("%v conflicts with %v: %t, want %t", s, u, got, want)
		}
		if got, want := s.Covers(u), o.covers(s, u); got != want {
			t.Fatalf("%v covers %v: %t, want %t", s, u, got, want)
		}
	}
}

func TestConflictsIsSymmetricAndSparesReads(t *testing.T) {
	next := sets(t)
	for range rounds {
		s, u := next(), next()
		if s.Conflicts(u) != u.Conflicts(s) {
			t.Fatalf("%v and %v conflict one way only", s, u)
		}
		if r, q := reads(s), reads(u); r.Conflicts(q) {
			t.Fatalf("%v and %v only read", r, q)
		}
	}
}

func reads(s Set) (only Set) {
	for _, e := range s {
		if e.Kind == Read {
			only = append(only, e)
		}
	}
	return only
}

func TestConflictNamesThePair(t *testing.T) {
	next := sets(t)
	for range rounds {
		s, u := next(), next()
		e, f, ok := s.Conflict(u)
		if ok != s.Conflicts(u) {
			t.Fatalf("%v and %v: Conflict says %t", s, u, ok)
		}
		if ok && !(Set{e}.Conflicts(Set{f}) && s.Covers(Set{e}) && u.Covers(Set{f})) {
			t.Fatalf("%v and %v: blames %v and %v", s, u, e, f)
		}
	}
}

func TestCoversIsAnOrderThatConflictsFollow(t *testing.T) {
	next := sets(t)
	seen := map[string]int{}
	for range rounds * 5 {
		s, u, v := next(), next(), next()
		if !s.Covers(s) {
			t.Fatalf("%v does not cover itself", s)
		}
		if !s.Covers(u) {
			continue
		}
		seen["covers"]++
		if u.Covers(v) {
			seen["chain"]++
			if !s.Covers(v) {
				t.Fatalf("%v covers %v, which covers %v, but the first does not cover the last", s, u, v)
			}
		}
		if u.Conflicts(v) {
			seen["conflict"]++
			if !s.Conflicts(v) {
				t.Fatalf("%v covers %v, which alone conflicts with %v", s, u, v)
			}
		}
	}
	for _, what := range []string{"covers", "chain", "conflict"} {
		if seen[what] < 100 {
			t.Errorf("only %d random cases of %q", seen[what], what)
		}
	}
}

// R049: what an action touches is the key that says what must be serial.
func TestConflicts(t *testing.T) {
	read := func(p string) Set { return Set{{Kind: Read, On: p}} }
	readAll := func(p string) Set { return Set{{Kind: Read, On: p, Tree: true}} }
	write := func(p string) Set { return Set{{Kind: Write, On: p}} }
	on := func(k Kind, o string) Set { return Set{{Kind: k, On: o}} }
	tests := []struct {
		name string
		s, t Set
		want bool
	}{
		{"nothing beside anything", nil, on(Anything, ""), false},
		{"two reads of one file", read("a"), read("a"), false},
		{"two searches of everything", readAll("."), readAll("."), false},
		{"read and write of one file", read("a"), write("a"), true},
		{"writes of two files", write("a"), write("b"), false},
		{"a prefix is not an ancestor", readAll("a/b"), write("a/bc"), false},
		{"a search and a write below", readAll("a"), write("a/b/c"), true},
		{"a listing and a file created in it", read("a"), write("a/b"), true},
		{"a file where the other makes a directory", write("a"), write("a/b"), true},
		{"the workspace and a file outside", readAll("."), write("/etc/hosts"), false},
		{"the machine and a file in the workspace", readAll("/"), write("a"), true},
		{"a path that is not clean", read("./a//b"), write("a/b"), true},
		{"two git commands", on(Git, ""), on(Git, ""), true},
		{"a git command and a file", on(Git, ""), write("a"), false},
		{"a git command and the index", on(Git, ""), read("sub/.git/index"), true},
		{"a git command and a name like it", on(Git, ""), write(".gitignore"), false},
		{"one port", on(Resource, "port:80"), on(Resource, "port:80"), true},
		{"two ports", on(Resource, "port:80"), on(Resource, "port:81"), false},
		{"any port", on(Resource, "port:80"), on(Resource, ""), true},
		{"two hosts", on(Network, "a.test"), on(Network, "b.test"), false},
		{"one host", on(Network, "a.test"), on(Network, "a.test"), true},
		{"two programs", on(Process, "go"), on(Process, "go"), false},
		{"a program and a command that is not understood", on(Process, "go"), on(Anything, ""), true},
		{"a read and a command that is not understood", read("/x"), on(Anything, ""), true},
		{"a kind of a later version", on("later", ""), read("a"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.s.Conflicts(tt.t); got != tt.want {
				t.Errorf("%v conflicts with %v: %t, want %t", tt.s, tt.t, got, tt.want)
			}
		})
	}
}

func TestInside(t *testing.T) {
	for p, want := range map[string]bool{
		".": true, "a": true, "a/b": true, "..a": true, "a..": true, "c:": true,
		"": false, "/": false, "/a": false, "..": false, "../a": false, "a/../b": false,
		"a/../../b": false, "a//b": false, "a/": false, "./a": false, "C:/a": false,
	} {
		for _, k := range []Kind{Read, Write} {
			if got := (Effect{Kind: k, On: p}).Inside(); got != want {
				t.Errorf("%s of %q inside: %t, want %t", k, p, got, want)
			}
		}
		if (Effect{Kind: Network, On: p}).Inside() {
			t.Errorf("host %q is in the workspace", p)
		}
	}
}

func TestString(t *testing.T) {
	for want, e := range map[string]Effect{
		"write src/a.go": {Kind: Write, On: "src/a.go"},
		"read ./**":      {Kind: Read, On: ".", Tree: true},
		"read /**":       {Kind: Read, On: "/", Tree: true},
		"git":            {Kind: Git},
		"read":           {Kind: Read, Tree: true},
	} {
		if got := e.String(); got != want {
			t.Errorf("%#v is shown as %q, want %q", e, got, want)
		}
	}
}

// The journal holds effects: their JSON must not change.
func TestJSON(t *testing.T) {
	s := Set{{Kind: Write, On: "a", Tree: true}, {Kind: Git}}
	const want = `[{"kind":"write","on":"a","tree":true},{"kind":"git"}]`
	got, err := json.Marshal(s)
	if err != nil || string(got) != want {
		t.Fatalf("got %s, %v; want %s", got, err, want)
	}
	var back Set
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s, back); d != "" {
		t.Error(d)
	}
}

func TestOnlyReads(t *testing.T) {
	for _, tc := range []struct {
		set  Set
		want bool
	}{
		{nil, true},
		{Set{{Kind: Read, On: "a"}, {Kind: Read, On: "b", Tree: true}}, true},
		{Set{{Kind: Read, On: "a"}, {Kind: Write, On: "a"}}, false},
		{Set{{Kind: Anything}}, false},
	} {
		if got := tc.set.OnlyReads(); got != tc.want {
			t.Errorf("%v: OnlyReads = %t", tc.set, got)
		}
	}
}

func TestCommanded(t *testing.T) {
	program := Effect{Kind: Process}
	a, b := Effect{Kind: Write, On: "a"}, Effect{Kind: Write, On: "b"}
	for _, tt := range []struct {
		name  string
		s     Set
		scope []string
		ok    bool
	}{
		{"nothing", nil, nil, false},
		{"a tool that writes", Set{a, b}, []string{"a", "b"}, false},
		{"a program that reads", Set{program, {Kind: Read, On: "a"}}, nil, false},
		{"a program that writes", Set{a, program, b}, []string{"a", "b"}, true},
		{"anything", Set{a, {Kind: Anything}, program}, nil, true},
	} {
		scope, ok := tt.s.Commanded()
		if d := cmp.Diff(tt.scope, scope); ok != tt.ok || d != "" {
			t.Errorf("%s: %t (-want +got):\n%s", tt.name, ok, d)
		}
	}
}

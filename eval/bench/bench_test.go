package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/cli"
)

// maxFirst bounds the bytes of the first request: all built-in tools, no rules
// of a project.
const maxFirst = 12 << 10

// A stage is a workspace in which Belay runs within this process.
type stage struct {
	work, home string
	files      []file
}

func newStage(t testing.TB) stage {
	t.Helper()
	src, err := goSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := stage{work: t.TempDir(), home: t.TempDir()}
	if s.files, err = makeWorkspace(src, s.work); err != nil {
		t.Fatal(err)
	}
	return s
}

// run lets the model that environ or the arguments name say its replies.
func (s stage) run(t testing.TB, environ []string, args ...string) {
	t.Helper()
	var said bytes.Buffer
	status := cli.Main(cli.System{
		Args:    append([]string{"run", "--mode", "full", "--max-steps", "1000"}, args...),
		Environ: append([]string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH")}, environ...),
		Dir:     s.work, Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said,
	})
	if status != 0 {
		t.Fatalf("exit status %d\n%s", status, said.Bytes())
	}
}

// bodies returns the requests of a session in which the model says replies.
func (s stage) bodies(t *testing.T, d dialect, replies []reply) [][]byte {
	t.Helper()
	srv, err := serve(d, replies, true)
	if err != nil {
		t.Fatal(err)
	}
	s.run(t, srv.environ(), "--model", string(d)+"/m", "Do what the script says.")
	if err := srv.close(); err != nil {
		t.Fatal(err)
	}
	_, asked, bodies := srv.heard()
	if asked != len(replies) {
		t.Fatalf("%d requests, not %d", asked, len(replies))
	}
	return bodies
}

func TestFirstRequest(t *testing.T) {
	for _, d := range []dialect{openAI, anthropic} {
		t.Run(string(d), func(t *testing.T) {
			s := newStage(t)
			got, err := parse(s.bodies(t, d, []reply{{Text: "Done."}})[0])
			if err != nil {
				t.Fatal(err)
			}
			if got.offered != 12 {
				t.Errorf("%d tools are offered, not all 12", got.offered)
			}
			if got.whole > maxFirst {
				t.Errorf("%d bytes (tools %d, system %d, messages %d), more than %d", got.whole, got.tools, got.system, got.messages, maxFirst)
			}
		})
	}
}

func TestEachRequestRepeatsTheOneBefore(t *testing.T) {
	for _, d := range []dialect{openAI, anthropic} {
		t.Run(string(d), func(t *testing.T) {
			s := newStage(t)
			bodies := s.bodies(t, d, longSession(s.files))
			before := ""
			for i, body := range bodies {
				r, err := parse(body)
				if err != nil {
					t.Fatal(err)
				}
				if lost := len(before) - common(before, r.prefix); lost > ending(before) {
					t.Errorf("request %d does not repeat the last %d bytes of the one before", i, lost)
				}
				before = r.prefix
			}
			if got, err := shares(bodies, whole); err != nil || len(got) != steps || slices.Min(got) < 0.9 {
				t.Errorf("shares of %d requests: at least %v, %v", len(got), slices.Min(got), err)
			}
		})
	}
}

// The recap stands at the end of a request and is no part of what the next one
// repeats: all before it is.
func TestOnlyTheRecapIsNotRepeated(t *testing.T) {
	const goal = "Prove it"
	todo := call("Todo", nil)
	todo.Args = `{"items":[{"text":"` + goal + `","state":"active"}]}`
	for _, d := range []dialect{openAI, anthropic} {
		t.Run(string(d), func(t *testing.T) {
			s := newStage(t)
			replies := append([]reply{todo}, longSession(s.files)[:9]...)
			bodies := s.bodies(t, d, append(replies, reply{Text: "Done."}))
			before := ""
			for i, body := range bodies {
				r, err := parse(body)
				if err != nil {
					t.Fatal(err)
				}
				recap := strings.LastIndex(before, goal)
				if i > 1 && recap < 0 {
					t.Fatal("request", i, "has no recap")
				}
				lost := len(before) - common(before, r.prefix)
				if lost > ending(before) {
					t.Errorf("request %d does not repeat the last %d bytes of the one before:\n%s", i, lost, before[len(before)-lost:])
				}
				before = r.prefix
			}
		})
	}
}

func TestShares(t *testing.T) {
	request := func(tools, messages string) []byte {
		return []byte(`{"tools":[` + tools + `],"system":"s","messages":[` + messages + `]}`)
	}
	for _, test := range []struct {
		name          string
		before, after []byte
		want          float64
	}{
		{"more follows", request(`1`, `{"a":1}`), request(`1`, `{"a":1},{"b":2}`), 1},
		{"a cache mark moves", request(`1`, `{"a":1,"cache_control":{"type":"ephemeral"}}`), request(`1`, `{"a":1},{"b":2,"cache_control":{"type":"ephemeral"}}`), 1},
		{"a tool changes", request(`1`, `{}`), request(`2`, `{}`), 1. / 9},
		{"a message changes", request(`1`, `{"a":1}`), request(`1`, `{"a":2},{"b":2}`), 12. / 14},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := shares([][]byte{test.before, test.after}, whole)
			if err != nil || len(got) != 1 || got[0] != test.want {
				t.Errorf("shares: %v, %v; not %v", got, err, test.want)
			}
		})
	}
}

// BenchmarkSession is the long session within one process, for profiles.
func BenchmarkSession(b *testing.B) {
	for _, d := range []dialect{"rehearsed", openAI, anthropic} {
		b.Run(string(d), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := newStage(b)
				replies := longSession(s.files)
				var environ []string
				model := string(d) + "/m"
				if d == "rehearsed" {
					name := filepath.Join(s.home, "long.txtar")
					if err := os.WriteFile(name, script(replies), 0o644); err != nil {
						b.Fatal(err)
					}
					model = "script:" + name
				} else {
					srv, err := serve(d, replies, false)
					if err != nil {
						b.Fatal(err)
					}
					defer srv.close()
					environ = srv.environ()
				}
				b.StartTimer()
				s.run(b, environ, "--model", model, "Do what the script says.")
			}
		})
	}
}

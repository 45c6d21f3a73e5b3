package trace_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/ui/trace"
	"github.com/belay-agent/belay/internal/world/journal"
)

// serve serves the session in dir, as another process than the one that writes it
// would, until the test ends.
func serve(t *testing.T, dir string) *trace.Server {
	t.Helper()
	s, err := trace.Listen(func() trace.Live {
		v := journal.Watch(dir)
		return trace.Live{Source: trace.Source{Session: "s", Artifact: v.Artifact}, Next: v.Next}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return s
}

func TestOnlyItsOwnPageIsServed(t *testing.T) {
	s := serve(t, t.TempDir())
	own, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if own.Hostname() != "127.0.0.1" || len(strings.Trim(own.Path, "/")) < 26 {
		t.Fatalf("it is at %s", own)
	}
	tests := []struct {
		name, method, path string
		change             func(*http.Request)
		want               int
	}{
		{"the page", "GET", own.Path, nil, 200},
		{"from the address line", "GET", own.Path, header("Sec-Fetch-Site", "none"), 200},
		{"from itself", "GET", own.Path, header("Origin", "http://"+own.Host, "Sec-Fetch-Site", "same-origin"), 200},
		{"a link that knows it", "GET", own.Path, header("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"), 200},
		{"no token", "GET", "/", nil, 404},
		{"part of the token", "GET", own.Path[:len(own.Path)-2] + "/", nil, 404},
		{"a wrong token", "GET", "/" + strings.Repeat("A", 26) + "/", nil, 404},
		{"what is not there", "GET", own.Path + "../../etc/passwd", nil, 404},
		{"its name bound to this machine", "GET", own.Path, host("evil.example:" + own.Port()), 403},
		{"another name of this machine", "GET", own.Path, host("localhost:" + own.Port()), 403},
		{"another origin", "GET", own.Path + "events", header("Origin", "http://evil.example"), 403},
		{"no origin at all", "GET", own.Path + "events", header("Origin", "null"), 403},
		{"a picture elsewhere", "GET", own.Path, header("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"), 403},
		{"a frame elsewhere", "GET", own.Path, header("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"), 403},
		{"another site of this machine", "GET", own.Path + "events", header("Sec-Fetch-Site", "same-site"), 403},
		{"another method", "POST", own.Path, nil, 405},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := http.NewRequest(tt.method, "http://"+own.Host, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.URL.Path = tt.path
			if tt.change != nil {
				tt.change(r)
			}
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != tt.want {
				t.Errorf("status %d, want %d", answer.StatusCode, tt.want)
			}
			for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin"} {
				if got := answer.Header.Get(name); got != want {
					t.Errorf("%s: %q", name, got)
				}
			}
			if csp := answer.Header.Get("Content-Security-Policy"); tt.want == 200 && !strings.Contains(csp, "default-src 'none'") {
				t.Errorf("the policy is %q", csp)
			}
		})
	}
}

func header(pairs ...string) func(*http.Request) {
	return func(r *http.Request) {
		for i := 0; i < len(pairs); i += 2 {
			r.Header.Set(pairs[i], pairs[i+1])
		}
	}
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// events reads what a page is sent, until it has n rows. Each time rows came it
// calls heard with how many there are, if it is not nil.
func events(t *testing.T, address, after string, n int, heard func(rows int)) (seqs []int64, kinds []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", address+"events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 8<<20)
	for len(seqs) < n && lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var m struct {
			Rows []struct {
				Q int64
				K string
			}
			Bodies []json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatal(err)
		}
		if len(m.Rows) != len(m.Bodies) {
			t.Fatalf("%d rows, %d bodies", len(m.Rows), len(m.Bodies))
		}
		for _, row := range m.Rows {
			seqs, kinds = append(seqs, row.Q), append(kinds, row.K)
		}
		if heard != nil && len(m.Rows) > 0 {
			heard(len(seqs))
		}
	}
	if lines.Err() != nil && len(seqs) < n {
		t.Fatalf("after %v: %v", seqs, lines.Err())
	}
	return seqs, kinds
}

func TestR323_EventsAreStreamedAsTheyAreWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "session")
	j, err := journal.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s := serve(t, dir)
	add := func(bodies ...event.Body) {
		t.Helper()
		if _, err := j.Append(bodies...); err != nil {
			t.Fatal(err)
		}
	}
	add(event.Opened{Session: "s", Root: "/", Model: "m"}, event.Asked{Text: "one"})
	seqs, kinds := events(t, s.URL(), "", 4, func(rows int) {
		if rows == 2 { // it has what was there, and waits for more
			add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "answer"}}}, Stop: model.End}, event.Stopped{Reason: "end"})
		}
	})
	if strings.Join(kinds, " ") != "opened asked replied stopped" || seqs[0] != 1 || seqs[3] != 4 {
		t.Fatalf("events %v: %v", seqs, kinds)
	}
	add(event.Asked{Text: "two"})
	// Who was cut off gets what is missing, and nothing twice.
	if seqs, kinds = events(t, s.URL(), "3", 2, nil); strings.Join(kinds, " ") != "stopped asked" {
		t.Fatalf("events after 3: %v: %v", seqs, kinds)
	}
}

func TestNotMorePagesThanItCanServe(t *testing.T) {
	s := serve(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	open := func() int {
		r, err := http.NewRequestWithContext(ctx, "GET", s.URL()+"events", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer.StatusCode
	}
	for i := range 8 {
		if got := open(); got != 200 {
			t.Fatalf("page %d: status %d", i+1, got)
		}
	}
	if got := open(); got != 503 {
		t.Errorf("one more: status %d", got)
	}
}

func TestAPageFollowsASessionThatRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "session")
	j, err := journal.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	tb := openTab(t, serve(t, dir).URL(), wide)
	tb.need("#goal", "No events yet")
	l := log{t, j}
	l.add(event.Opened{Session: "s", Root: "/w", Model: "m", Mode: "ask"}, event.Asked{Text: "make it faster"})
	tb.wait("document.querySelectorAll('#list .entry').length === 2")
	tb.need("#goal", "make it faster")
	tb.need("#about", "not ended")
	tb.need("#live", "live")
	tb.need("#detail h2", "You") // the newest
	tb.press("k")                // now the reader looks elsewhere, and stays there
	request := l.keep(`{"system":"be brief","messages":[{"role":"user","parts":[{"type":"text","text":"make it faster"}]}]}`)
	l.add(event.Sent{Request: request.Handle, Bytes: int(request.Bytes)},
		event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "It is <b>fast</b>."}}}, Stop: model.End, Usage: model.Usage{Input: 10, Output: 5}},
		event.Stopped{Reason: "end"})
	tb.wait("document.querySelectorAll('#list .entry').length === 4")
	tb.need("#detail h2", "Opened")
	tb.need("#about", "done", "1 step")
	tb.press("jj")
	tb.open()
	tb.need("#detail", "be brief", "As it was sent", "It is <b>fast</b>.")
	if bad := eval[[]string](tb, foreign); len(bad) > 0 {
		t.Errorf("the page has %q", bad)
	}
}

// The policy holds for what gets into the page by other ways too.
func TestThePolicyOfThePageHolds(t *testing.T) {
	file, _ := write(t, bigLog(t, 20).source())
	tb := openTab(t, file, wide)
	got := eval[[]string](tb, `new Promise(r => {
		const stopped = [];
		document.addEventListener('securitypolicyviolation', e => { stopped.push(e.effectiveDirective); if (stopped.length === 5) r(stopped.sort()); });
		const s = document.createElement('script'); s.textContent = 'window.hit = 1'; document.body.append(s);
		const i = new Image(); i.src = 'http://127.0.0.1:9/x.png'; document.body.append(i);
		const b = document.createElement('b'); b.setAttribute('onclick', 'window.hit = 1'); document.body.append(b); b.click();
		const c = document.createElement('style'); c.textContent = 'body { display: none }'; document.body.append(c);
		fetch('http://127.0.0.1:9/').catch(() => {});
	})`)
	if want := "connect-src img-src script-src-attr script-src-elem style-src-elem"; strings.Join(got, " ") != want {
		t.Errorf("stopped: %v, want %s", got, want)
	}
	if eval[bool](tb, "!!window.hit || getComputedStyle(document.body).display === 'none'") {
		t.Error("what is not ours took effect")
	}
	tb.forget()
}

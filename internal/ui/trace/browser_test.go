package trace_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	browserlog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserWait bounds everything that a test does with the browser.
const browserWait = 2 * time.Minute

// browser is one for all tests of the package; each test has a tab of its own.
var browser struct {
	once  sync.Once
	ctx   context.Context
	close func()
	path  string
}

func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// A tab is a page in a real browser. Whatever goes wrong in it fails the test: an
// exception, a violation of the page's policy, a dialog, a request to anything but
// the page itself.
type tab struct {
	testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
	wanted   []string // addresses that were asked for
}

type look struct {
	width, height int64
	dark          bool
	address       string // what follows the file, such as #e12
}

var wide = look{width: 1280, height: 800}

// openTab opens file, or an address.
func openTab(t testing.TB, file string, l look) *tab {
	t.Helper()
	browser.once.Do(func() {
		if browser.path = findBrowser(); browser.path == "" {
			return
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser.path), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("hide-scrollbars", false), chromedp.Flag("lang", "en-US"), chromedp.Env("TZ=UTC"))
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		var cancel context.CancelFunc
		browser.ctx, cancel = chromedp.NewContext(allocator)
		browser.close = func() { cancel(); stop() }
		if _, err := chromedp.Run(browser.ctx, chromedp.Title()); err != nil {
			panic("start " + browser.path + ": " + err.Error())
		}
	})
	if browser.path == "" {
		t.Skip("no browser is here: these tests need Chromium (Debian: apt-get install chromium)")
	}
	ctx, cancel := chromedp.NewContext(browser.ctx)
	t.Cleanup(cancel)
	ctx, done := context.WithTimeout(ctx, browserWait)
	t.Cleanup(done)
	tb := &tab{TB: t, ctx: ctx}
	t.Cleanup(tb.check)
	if err := chromedp.Listen(ctx, tb.hear); err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	address := file
	if !strings.Contains(file, "://") {
		address = "file://" + filepath.ToSlash(file)
	}
	tb.do(chromedp.EmulateViewport(l.width, l.height))
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	tb.do(chromedp.Navigate(address + l.address))
	tb.wait("document.body.classList.contains('ready')")
	return tb
}

func (tb *tab) hear(e any) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	switch e := e.(type) {
	case *runtime.EventExceptionThrown:
		tb.problems = append(tb.problems, "exception: "+e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case *browserlog.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Source == "security" {
			tb.problems = append(tb.problems, "browser: "+e.Entry.Text)
		}
	case *page.EventJavascriptDialogOpening:
		tb.problems = append(tb.problems, "dialog: "+e.Message)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:image/") {
			tb.wanted = append(tb.wanted, e.Request.URL)
		}
	}
}

func (tb *tab) check() {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	for _, p := range tb.problems {
		tb.Error(p)
	}
	for _, w := range tb.wanted {
		if !strings.HasPrefix(w, "file://") && !strings.HasPrefix(w, "http://127.0.0.1:") {
			tb.Errorf("the page asked for %s", w)
		}
	}
}

func (tb *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	tb.Helper()
	if err := chromedp.Do(tb.ctx, steps...); err != nil {
		tb.Fatal(err)
	}
}

// eval returns the value of an expression.
func eval[T any](tb *tab, expression string) T {
	tb.Helper()
	v, err := chromedp.Run(tb.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		tb.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression is true.
func (tb *tab) wait(expression string) {
	tb.Helper()
	for deadline := time.Now().Add(browserWait / 2); !eval[bool](tb, "!!("+expression+")"); {
		if time.Now().After(deadline) {
			tb.Fatalf("never true: %s", expression)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// press presses keys, one after the other.
func (tb *tab) press(keys string) {
	tb.Helper()
	tb.do(chromedp.KeyEvent(keys))
}

// click clicks on the first element that a selector finds, where a person would.
func (tb *tab) click(selector string) {
	tb.Helper()
	tb.do(chromedp.Click(chromedp.CSS(selector)))
}

// text returns what an element shows.
func (tb *tab) text(selector string) string {
	tb.Helper()
	return eval[string](tb, "document.querySelector("+quote(selector)+").innerText")
}

func (tb *tab) picture(name string) {
	tb.Helper()
	b, err := chromedp.Run(tb.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		tb.Fatal(err)
	}
}

// clickAt clicks into an element, at shares of its width and height.
func clickAt(tb *tab, selector string, x, y float64) chromedp.Action[chromedp.Void] {
	tb.Helper()
	box := eval[[]float64](tb, "(b => [b.x, b.y, b.width, b.height])(document.querySelector("+quote(selector)+").getBoundingClientRect())")
	return chromedp.MouseClickXY(box[0]+x*box[2], box[1]+y*box[3])
}

// choose chooses the option of a select that begins so.
func (tb *tab) choose(selector, option string) {
	tb.Helper()
	if !eval[bool](tb, `(() => {
		const s = document.querySelector(`+quote(selector)+`);
		const o = [...s.options].find(o => o.text.startsWith(`+quote(option)+`));
		if (!o) return false;
		s.value = o.value;
		s.dispatchEvent(new Event('change'));
		return true;
	})()`) {
		tb.Fatalf("%s has no option %q", selector, option)
	}
}

// forget drops what went wrong: it was meant to.
func (tb *tab) forget() {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.problems, tb.wanted = nil, nil
}

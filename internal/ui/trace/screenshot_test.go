package trace_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var screenshots = flag.String("screenshots", "", "write the pictures of the documentation to `DIR`")

// TestScreenshots makes the pictures of the documentation, of real sessions:
// make screenshots.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("asked for with -screenshots DIR")
	}
	if err := os.MkdirAll(*screenshots, 0o755); err != nil {
		t.Fatal(err)
	}
	base := func() string {
		dir, err := os.MkdirTemp("", "belay-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	demonstration, crash := demoIn(t, base()), crashedIn(t, base()).trace()
	large := func(dark bool) look { return look{width: 1200, height: 760, dark: dark} }
	for _, s := range []struct {
		name, file, keys string
		look
	}{
		{"trace-light", demonstration, "nn", large(false)},
		{"trace-dark", demonstration, "n", large(true)},
		{"trace-step", crash, "jjjjj", large(false)},
		{"trace-timeline", crash, "2jjjjjjjjj", large(true)},
		{"trace-files", demonstration, "3", large(false)},
		{"trace-narrow", crash, "nn\r", look{width: 400, height: 760, dark: true}},
	} {
		tb := openTab(t, s.file, s.look)
		tb.press(s.keys)
		eval[bool](tb, "new Promise(r => setTimeout(() => r(true), 200))") // what fades has faded
		tb.picture(filepath.Join(*screenshots, s.name+".png"))
	}
}

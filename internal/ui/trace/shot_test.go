package trace_test

import (
	"flag"
	"path/filepath"
	"testing"
)

var shot = flag.String("shot", "", "DEV file")

func TestShot(t *testing.T) {
	if *shot == "" {
		t.Skip()
	}
	dir := filepath.Dir(*shot)
	for _, s := range []struct {
		name string
		l    look
		keys string
	}{
		{"light", wide, "jjjnjjj"},
		{"dark", look{1280, 800, true, ""}, "nn"},
		{"step", look{1280, 800, false, ""}, "jjjjj"},
		{"time", look{1280, 800, true, ""}, "2jjjjjjjjj"},
		{"files", look{1280, 800, true, ""}, "3"},
		{"small", look{390, 780, false, ""}, "2"},
		{"small-dark", look{390, 780, true, ""}, "jjjj"},
		{"help", look{1280, 800, true, ""}, "?"},
	} {
		tb := openTab(t, *shot, s.l)
		tb.press(s.keys)
		eval[bool](tb, "new Promise(r => setTimeout(() => r(true), 200))")
		tb.picture(filepath.Join(dir, "shot-"+s.name+".png"))
	}
}

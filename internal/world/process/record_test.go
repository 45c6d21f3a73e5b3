package process

import (
	"encoding/json"
	"testing"
	"time"
)

// FuzzRecord cuts a record anywhere and puts anything behind it: its first line,
// once whole, is never taken back, and nothing of half a line counts.
func FuzzRecord(f *testing.F) {
	f.Add("b", "BELAY_RUN=0.", 7, uint64(8), 10, "")
	f.Add("", "", 0, uint64(0), 0, "\x00\x00")
	f.Add("b", "m", 7, uint64(8), 1<<10, `{"boot":"other","pid":"no"}`)
	f.Fuzz(func(t *testing.T, boot, mark string, pid int, start uint64, cut int, junk string) {
		first := record{Boot: boot, Mark: mark, At: time.Unix(1, 0).UTC()}
		one, _ := json.Marshal(first)
		two, _ := json.Marshal(record{PID: pid, Start: start})
		_ = json.Unmarshal(one, &first) // what is not UTF-8 is replaced
		whole := first
		whole.PID, whole.Start = pid, start

		all := append(append(append(one, '\n'), two...), '\n')
		n := min(max(cut, 0), len(all))
		want := record{}
		switch {
		case n >= len(all)-1:
			want = whole
		case n >= len(one):
			want = first
		}
		if got := parse(all[:n]); got != want {
			t.Fatalf("%q: got %+v, want %+v", all[:n], got, want)
		}
		parse([]byte(junk))
		broken := append(all, `{"pid":1,"start":"x`+"\n"...)
		if got := parse(broken); got != whole {
			t.Fatalf("%q: got %+v, want %+v", broken, got, whole)
		}
	})
}

package process

import "time"

const (
	firstLook = 5 * time.Millisecond // how soon it is looked again whether all have ended; doubles up to lastLook
	lastLook  = 80 * time.Millisecond
	killing   = 2 * time.Second // how long what is killed may take to be gone
)

// end asks all of t to end, gives it grace until hurry is closed, kills what is
// left, and reports whether all of it is gone.
//
// A process can be born while the others are counted, so nobody left is
// believed at the second look, unless the system counts for us.
func (t *tree) end(grace time.Duration, hurry <-chan struct{}) (gone bool) {
	if grace > 0 {
		t.ask()
		over := time.NewTimer(grace)
		defer over.Stop()
		waiting := true
		for look := firstLook / 8; waiting && t.count() > 0; look = min(2*look, lastLook) {
			select {
			case <-time.After(look):
				t.remind()
			case <-over.C:
				waiting = false
			case <-hurry:
				waiting = false
			}
		}
	}
	deadline := time.Now().Add(killing)
	for clean, look := 0, firstLook/8; ; look = min(2*look, firstLook) {
		if t.kill() > 0 {
			clean = 0
		} else if clean++; clean == 2 || t.exact() {
			return true
		}
		if time.Now().After(deadline) {
			return clean > 0
		}
		time.Sleep(look)
	}
}

package terminal

// A Claim is a line of what Belay says of a turn. One that is Bad needs a second
// look.
type Claim struct {
	Text string
	Bad  bool
}

// Report shows claims, unless the answer is all that is wanted.
func (u *UI) Report(claims []Claim) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.enqueue(func() { u.view.report(claims) })
}

// Fill says how many tokens of the context window are used, of how many, for the
// line at the end of the turn.
func (u *UI) Fill(used, room int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.enqueue(func() { u.view.turn.used, u.view.turn.room = used, room })
}

func (v *view) report(claims []Claim) {
	if v.o.Quiet {
		return
	}
	for _, c := range claims {
		if c.Bad {
			v.lines("!", yellow, c.Text)
		} else {
			v.lines("·", dim, c.Text)
		}
	}
}

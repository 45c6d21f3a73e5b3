//go:build !failpoint

// Package failpoint marks the places at which a crash must do no harm. In a
// normal build the marks are nothing at all. Built with the tag failpoint, a
// program that is started with FAILPOINT=n in its environment kills itself, as
// SIGKILL does, when it comes past its n-th mark; FAILPOINT_LOG names a file to
// which each mark that it passes is added. The tests of eval/crash use this to
// crash Belay everywhere.
package failpoint

// Enabled says whether the marks are there. It is a constant, so that what only
// they need costs nothing.
const Enabled = false

// Hit marks a place, by a name such as "journal written".
func Hit(string) {}

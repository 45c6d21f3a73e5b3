package process

// OpenUngrouped is Open on a system without cgroups.
func OpenUngrouped(spool string) (*Host, error) {
	h, err := Open(spool)
	if err == nil {
		h.ungrouped = true
	}
	return h, err
}

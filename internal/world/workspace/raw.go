package workspace

// Bytes returns the file's own bytes, of which Content is what is shown. They
// are not to be changed.
func (t Text) Bytes() []byte { return t.raw }

package workspace

import (
	"path/filepath"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// A Diff is what a Write changed, or would change.
type Diff struct {
	Unified        string            // a unified diff of what is shown of the files, in order of the edits
	Digests        map[string]string // of each file since, by canonical path; "" for one that is gone
	Added, Removed int               // lines
	Detached       []string          // files that had other hard links, which keep the old bytes
}

// slash returns a name of the system, relative to the root, as canonical path.
func slash(at string) string { return text(filepath.ToSlash(at)) }

var _ edit.Intent

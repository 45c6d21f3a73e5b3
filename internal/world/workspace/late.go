package workspace

import (
	"io"
	"os"
	"sync"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// A Lost is what someone has written to a file after it was replaced here: they
// had it open, and it has no name any more. It is nowhere else, but for the image
// of its digest where images are kept.
type Lost struct {
	Path   string // of the file that has its place
	Base   string // the digest that it had when it was replaced
	Digest string // of Bytes
	Bytes  []byte
}

// maxWatched is how many replaced files are held open, if the system lets us have
// many more. Each needs a descriptor.
const maxWatched = 24

// A watch holds open what Write replaced, the newest last.
type watch struct {
	room int // how many files there may be

	mu    sync.Mutex
	files []watched
	lost  []Lost // found when a file had to make room for a newer one
}

type watched struct {
	path, base string
	digest     string // when last looked at
	file       *os.File
}

// add begins to watch a file that is about to lose its name, and owns it.
func (a *watch) add(path, digest string, file *os.File) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.room == 0 {
		_ = file.Close()
		return
	}
	if len(a.files) >= a.room {
		if l, found := a.files[0].look(); found {
			a.lost = append(a.lost, l)
		}
		_ = a.files[0].file.Close()
		a.files = a.files[1:]
	}
	a.files = append(a.files, watched{path, digest, digest, file})
}

// look returns what was written to the file since it was last looked at.
func (f *watched) look() (Lost, bool) {
	raw, err := slurp(io.NewSectionReader(f.file, 0, MaxFile), 0)
	if err != nil {
		return Lost{}, false
	}
	digest := edit.Digest(raw)
	if digest == f.digest {
		return Lost{}, false
	}
	f.digest = digest
	return Lost{f.path, f.base, digest, raw}, true
}

func (a *watch) look() []Lost {
	a.mu.Lock()
	defer a.mu.Unlock()
	lost := a.lost
	a.lost = nil
	for n := range a.files {
		if l, found := a.files[n].look(); found {
			lost = append(lost, l)
		}
	}
	return lost
}

func (a *watch) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.files {
		_ = f.file.Close()
	}
	a.files = nil
}

// Recheck looks again at the last files that Write replaced or removed, and
// returns what was written to them since by whoever had them open: no other look
// finds that. It is for some time after a change and for the end of a turn. Each
// version is returned once. Where images are kept these are too.
func (w *Workspace) Recheck() []Lost {
	lost := w.replaced.look()
	if w.images != nil {
		for _, l := range lost {
			_ = w.images.put(l.Digest, l.Bytes) // the caller has them anyway
		}
	}
	return lost
}

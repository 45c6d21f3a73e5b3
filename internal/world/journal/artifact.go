package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

const (
	prefix        = "artifact:" // and the digest make a handle
	digestLen     = 2 * sha256.Size
	artifactLimit = 64 << 20
)

// A shelf keeps artifacts by their digest.
type shelf interface {
	sink() sink
	open(digest string) (io.ReadSeekCloser, error)

	// settle puts on stable storage what the frames name and is not there yet.
	settle(frames []byte) error

	close() error
}

// A sink takes the bytes of one artifact, and is either kept or dropped.
type sink interface {
	io.Writer
	keep(digest string, as care) error
	drop()
}

// A care says how carefully an artifact is kept.
type care int

const (
	loose  care = iota // safe once something durable names it; memory may forget it
	pinned             // safe now: it is part of an event
)

// Spill opens a new artifact; name says in errors what it is. Its Write takes
// everything and never fails, so that what feeds it need not stop; what went
// wrong, above all a *TooLarge beyond 64 MiB, is the error of its Close. An
// artifact is safe from a power cut once a durable event names it. One that is
// never closed is gone with the session's next Open.
func (j *Journal) Spill(name string) (tool.Spill, error) {
	s := &spill{name: name, bounded: bounded{sink: j.shelf.sink(), sum: sha256.New()}}
	s.in = j.redact.Writer(&s.bounded)
	return s, nil
}

type spill struct {
	name    string
	in      io.WriteCloser // through the redactor into bounded
	bounded bounded
	handle  string
	closed  bool
}

func (s *spill) Write(p []byte) (int, error) {
	if s.closed {
		return 0, fs.ErrClosed
	}
	return s.in.Write(p)
}

func (s *spill) Close() error {
	if s.closed {
		return fs.ErrClosed
	}
	s.closed = true
	err := s.in.Close()
	b := &s.bounded
	switch {
	case err != nil:
	case b.err != nil:
		err = b.err
	case b.n > artifactLimit:
		return &TooLarge{Name: s.name, Bytes: b.n, Limit: artifactLimit} // dropped before
	default:
		digest := hex.EncodeToString(b.sum.Sum(nil))
		if err = b.sink.keep(digest, loose); err == nil {
			s.handle = prefix + digest
			return nil
		}
	}
	b.sink.drop()
	return fmt.Errorf("keep %s: %w", s.name, err)
}

// Handle names the artifact; "" before Close.
func (s *spill) Handle() string { return s.handle }

// bounded passes on what fits the limit, and counts the rest.
type bounded struct {
	sink sink
	sum  hash.Hash
	n    int64
	err  error
}

func (b *bounded) Write(p []byte) (int, error) {
	before := b.n
	b.n += int64(len(p))
	switch {
	case b.n > artifactLimit:
		if before <= artifactLimit {
			b.sink.drop()
		}
	case b.err == nil:
		b.sum.Write(p)
		_, b.err = b.sink.Write(p)
	}
	return len(p), nil
}

// Artifact opens one for reading. The error is fs.ErrNotExist if there is none.
func (j *Journal) Artifact(handle string) (io.ReadSeekCloser, error) {
	digest, ok := digestOf(handle)
	if !ok {
		return nil, fmt.Errorf("open artifact %q: %w", handle, fs.ErrNotExist)
	}
	f, err := j.shelf.open(digest)
	if err != nil {
		return nil, fmt.Errorf("open artifact %s: %w", digest, err)
	}
	return f, nil
}

// digestOf checks that handle is one, as it comes from a model.
func digestOf(handle string) (string, bool) {
	digest, ok := strings.CutPrefix(handle, prefix)
	return digest, ok && isDigest(digest)
}

func isDigest[S string | []byte](s S) bool {
	if len(s) != digestLen {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// put keeps b, which is within the limit, as part of an event and returns its
// handle.
func put(s shelf, b []byte) (string, error) {
	sum := sha256.Sum256(b)
	digest := hex.EncodeToString(sum[:])
	to := s.sink()
	_, err := to.Write(b)
	if err == nil {
		err = to.keep(digest, pinned)
	}
	if err != nil {
		to.drop()
		return "", err
	}
	return prefix + digest, nil
}

// get returns what put kept, and checks that it is the same.
func get(s shelf, handle string) ([]byte, error) {
	digest, ok := digestOf(handle)
	if !ok {
		return nil, fmt.Errorf("%q is not an artifact", handle)
	}
	f, err := s.open(digest)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, artifactLimit+1))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("artifact %s is damaged", digest)
	}
	return b, nil
}

package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/belay-agent/belay/internal/decide/secret"
)

// markKeyLen is the length of the key from which marks of secrets are made.
const markKeyLen = 32

// redactor returns what takes secrets out of all that r records and shows.
func (s System) redactor(r *rig) *secret.Redactor {
	key := make([]byte, markKeyLen)
	rand.Read(key)
	if dir := s.stateDir(); r.kept && dir != "" {
		if kept, err := markKey(dir, key); err == nil {
			key = kept
		} // else marks are other ones when the session is resumed
	}
	return secret.New(secret.Options{
		Held: s.secrets(r.settings), Key: key, Once: sync.OnceValue[*regexp.Regexp],
	})
}

// markKey returns the key in dir, which it makes from fresh if there is none. It
// lies beside the sessions and not in them, so that who gets a session cannot try
// out what its marks stand for.
func markKey(dir string, fresh []byte) ([]byte, error) {
	name := filepath.Join(dir, "mark.key")
	if key, err := os.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
		if err == nil && len(key) != markKeyLen {
			err = fmt.Errorf("%s has %d bytes", name, len(key))
		}
		return key, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "mark.key.*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(fresh)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(name)
}

// shown returns text without secrets: what is said of an error may be in the words
// of a provider, which may repeat a key. Settings that cannot be read hold none.
func (s System) shown(text string) string {
	c, err := LoadConfig(Sources{User: s.userConfig(), Getenv: s.getenv})
	if err != nil {
		c = new(Config)
	}
	return secret.New(secret.Options{Held: s.secrets(c), Once: sync.OnceValue[*regexp.Regexp]}).Text(text)
}

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/world/journal"
)

// A store is the directory in which sessions are kept.
type store struct{ dir string }

// stateDir returns where Belay keeps its state, "" where no home is known.
func (s System) stateDir() string { return s.xdg("XDG_STATE_HOME", ".local/state") }

// configDir returns where the user's settings are, "" where no home is known.
func (s System) configDir() string { return s.xdg("XDG_CONFIG_HOME", ".config") }

func (s System) xdg(name, below string) string {
	if dir := s.getenv(name); filepath.IsAbs(dir) {
		return filepath.Join(dir, "belay")
	}
	home := s.getenv("HOME")
	if home == "" {
		home = s.getenv("USERPROFILE")
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(below), "belay")
}

func (s System) store() store {
	dir := s.stateDir()
	if dir == "" {
		return store{}
	}
	return store{filepath.Join(dir, "sessions")}
}

// path returns where session id is kept.
func (st store) path(id string) string { return filepath.Join(st.dir, id) }

// ids returns the sessions, newest first.
func (st store) ids() ([]string, error) {
	if st.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(st.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if _, err := ulid.ParseStrict(e.Name()); err == nil && e.IsDir() {
			ids = append(ids, e.Name())
		}
	}
	slices.Reverse(ids) // names are in the order of their times
	return ids, nil
}

// find returns the one session whose id begins with prefix, whatever its case.
func (st store) find(prefix string) (string, error) {
	found, err := st.beginning(prefix)
	if err != nil {
		return "", err
	}
	switch len(found) {
	case 0:
		return "", st.unknown(prefix)
	case 1:
		return found[0], nil
	}
	return "", usage("%d sessions begin with %q: write more of the id", len(found), prefix)
}

// unknown says that no session begins with prefix, and which was meant.
func (st store) unknown(prefix string) error {
	const otherwise = "; `belay sessions` lists them"
	hint := otherwise
	if ids, err := st.ids(); err == nil && len(prefix) >= shortestID {
		if near, ok := closestBeginning(prefix, ids); ok {
			hint = "; did you mean " + near + "?"
		}
	}
	return usage("no session begins with %q%s", prefix, hint)
}

// beginning returns the sessions whose ids begin with prefix, whatever its case.
func (st store) beginning(prefix string) ([]string, error) {
	ids, err := st.ids()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, strings.ToUpper(prefix)) }), nil
}

// newest returns the newest session of the workspace root, or of any if root is
// "", in which anything was said.
func (st store) newest(root string) (string, error) {
	ids, err := st.ids()
	if err != nil {
		return "", err
	}
	for _, id := range ids {
		if (root == "" || st.rootOf(id) == root) && st.spoken(id) {
			return id, nil
		}
	}
	return "", usage("%s", noSession(root))
}

// noSession says that there is no session in root, or none at all if that is "", and
// what starts one. For a command that is about one session it is an error, for one
// that is about all there are it is not.
func noSession(root string) string {
	if root == "" {
		return "there is no session yet; `belay run \"GOAL\"` starts one"
	}
	return "there is no session in " + root + " yet; `belay run \"GOAL\"` starts one, `belay sessions --all` lists those of other directories"
}

// rootOf returns the workspace of session id, "" if nothing that is intact says
// it.
func (st store) rootOf(id string) string {
	for e := range journal.Read(st.path(id)) { // damage is for who shows the session
		if opened, ok := e.Body.(event.Opened); ok {
			return opened.Root
		}
	}
	return ""
}

// spoken reports whether the user said anything in session id.
func (st store) spoken(id string) bool {
	for e := range journal.Read(st.path(id)) {
		if _, ok := e.Body.(event.Asked); ok {
			return true
		}
	}
	return false
}

// modelOf returns the model that session id had last, "" if that cannot be read.
func (st store) modelOf(id string) string {
	name := ""
	for e, err := range journal.Read(st.path(id)) {
		if opened, ok := e.Body.(event.Opened); ok && err == nil {
			name = opened.Model
		}
	}
	return name
}

// shortestID is how much of an id tells it from a word of a goal.
const shortestID = 5

// meansID reports whether word is meant as the id of a session, or the beginning
// of one, rather than as a goal. In small letters only what begins one is.
func (st store) meansID(word string) bool {
	upper := strings.ToUpper(word)
	switch {
	case len(word) < shortestID, len(word) > ulid.EncodedSize, strings.Trim(upper, ulid.Encoding) != "", word[0] > '7':
		return false
	case word == upper:
		return true
	}
	found, err := st.beginning(word)
	return err == nil && len(found) > 0
}

// A summary is a session in a line.
type summary struct {
	ID     string      `json:"session"`
	Began  time.Time   `json:"began"`
	Ended  time.Time   `json:"ended"` // its newest event
	Root   string      `json:"root"`
	Model  string      `json:"model"`
	Goal   string      `json:"goal"` // the first words of the user
	Turns  int         `json:"turns"`
	Calls  int         `json:"calls"`
	Usage  model.Usage `json:"usage"`
	Cost   int64       `json:"cost_micro_cents"`
	Stop   string      `json:"stop"` // why the last turn ended; "" if it was cut
	Damage string      `json:"damage,omitempty"`
}

// summarize reads session id. What is damaged is said in the summary.
func (st store) summarize(id string) summary {
	s := summary{ID: id}
	for e, err := range journal.Read(st.path(id)) {
		if err != nil {
			s.Damage = err.Error()
			continue
		}
		if s.Began.IsZero() {
			s.Began = e.Time
		}
		s.Ended = e.Time
		s.add(e.Body)
	}
	return s
}

func (s *summary) add(b event.Body) {
	switch b := b.(type) {
	case event.Opened:
		s.Root, s.Model = b.Root, b.Model
	case event.Asked:
		if s.Goal == "" {
			s.Goal = b.Text
		}
		if s.Turns == 0 || s.Stop != "" {
			s.Turns++
		}
		s.Stop = ""
	case event.Replied:
		s.Usage = s.Usage.Plus(b.Usage)
		s.Cost += b.Cost
	case event.Finished:
		s.Calls++
	case event.Stopped:
		s.Stop = b.Reason
	}
}

// newID returns the id of a new session: its name sorts by its time.
func newID() string { return ulid.Make().String() }

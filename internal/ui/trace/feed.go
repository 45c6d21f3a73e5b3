package trace

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/pattern"
)

// maxAll is how many bytes of artifacts a page holds in all.
const maxAll = 64 << 20

// maxPicture is how many bytes a picture may have to be shown.
const maxPicture = 1 << 20

const handlePrefix = "artifact:"

var handleRE = pattern.Later(handlePrefix + `([0-9a-f]{64})`)

// A Left is something of the session that the page does not hold.
type Left struct {
	What  string `json:"what"`
	Event int64  `json:"event,omitempty"`
	Bytes int64  `json:"bytes"`
	Why   string `json:"why"`
}

// A feed turns events into what the page reads.
type feed struct {
	source Source
	fold   fold
	held   map[string]bool // artifacts that the page has, by digest
	models map[string]bool
	room   int64
	events int
	at     time.Time // of the newest event
	damage []string
	left   []Left
}

func newFeed(s Source) *feed {
	return &feed{source: s, fold: newFold(), held: map[string]bool{}, models: map[string]bool{}, room: maxAll}
}

// add adds to c the next event, or the place where something is missing.
func (f *feed) add(c *chunk, e event.Event, err error) {
	if err != nil && !slices.Contains(f.damage, err.Error()) {
		f.damage = append(f.damage, err.Error())
		if e.Body == nil {
			f.put(c, damaged(f.clean(err.Error()), f.at), []byte("null"))
		}
	}
	if e.Body == nil {
		return
	}
	f.at = e.Time
	f.events++
	r := f.fold.row(e)
	if err != nil {
		r.Error = f.clean(err.Error())
	}
	if r.Model != "" {
		f.models[r.Model] = true
	}
	sealed, sealErr := event.Seal(e.Body)
	if sealErr != nil { // it cannot be shown, which is told
		r.Error = f.clean(sealErr.Error())
		f.put(c, r, []byte("null"))
		return
	}
	body := []byte(sealed.JSON)
	if f.source.Redact != nil {
		r = f.source.Redact.row(r)
		body = f.source.Redact.body(sealed.Type, body)
	}
	text, left := cut(body)
	if left > 0 {
		f.left = append(f.left, Left{What: "text within the event", Event: e.Seq, Bytes: left, Why: fmt.Sprintf("a text is longer than %d bytes", maxString)})
	}
	f.put(c, r, text)
	if f.source.Redact == nil {
		for _, m := range handleRE().FindAllSubmatch(body, -1) {
			f.artifact(c, string(m[1]), e)
		}
	}
}

func (f *feed) clean(text string) string {
	if f.source.Redact != nil {
		return f.source.Redact.names(text)
	}
	return text
}

func (f *feed) put(c *chunk, r row, body []byte) {
	c.Rows = append(c.Rows, r)
	c.Bodies = append(c.Bodies, body)
	c.bytes += len(body)
}

// artifact adds one that e names, unless the page has it.
func (f *feed) artifact(c *chunk, digest string, e event.Event) {
	if f.held[digest] {
		return
	}
	sent, isRequest := e.Body.(event.Sent)
	isRequest = isRequest && sent.Request == handlePrefix+digest
	what, limit := "artifact "+digest, int64(maxArtifact)
	if isRequest {
		what, limit = "request", maxRequest
	}
	skip := func(n int64, why string) {
		f.left = append(f.left, Left{What: what, Event: e.Seq, Bytes: n, Why: why})
	}
	value, n, left, err := f.read(digest, min(limit, f.room))
	if errors.Is(err, fs.ErrNotExist) && !isRequest && !f.names(e, digest) {
		return // words that only look like a handle
	}
	f.held[digest] = true
	switch {
	case err != nil:
		skip(n, err.Error())
	default:
		if left > 0 {
			skip(left, fmt.Sprintf("it has %d bytes", n))
		}
		f.room -= int64(len(value))
		c.artifact(digest, value)
	}
}

// names reports whether e itself keeps the artifact, rather than speaks of it.
func (f *feed) names(e event.Event, digest string) bool {
	if b, ok := e.Body.(event.Finished); ok {
		for _, a := range slices.Concat(b.Result.Artifacts, b.Result.Media) {
			if a.Handle == handlePrefix+digest {
				return true
			}
		}
	}
	return false
}

var errNoRoom = errors.New("the page is full")

// read returns an artifact as the page has it, its length, and how many bytes of
// it are left out.
func (f *feed) read(digest string, limit int64) (value []byte, n, left int64, err error) {
	file, err := f.source.Artifact(handlePrefix + digest)
	if err != nil {
		return nil, 0, 0, err
	}
	defer file.Close()
	if n, err = file.Seek(0, io.SeekEnd); err != nil {
		return nil, 0, 0, err
	}
	if limit <= 0 {
		return nil, n, 0, errNoRoom
	}
	if _, err = file.Seek(0, io.SeekStart); err != nil {
		return nil, n, 0, err
	}
	value = fmt.Appendf(nil, `{"bytes":%d,`, n)
	start := make([]byte, min(n, 512))
	if _, err = io.ReadFull(file, start); err != nil {
		return nil, n, 0, err
	}
	if kind := picture(start); kind != "" && n <= min(maxPicture, f.room) {
		rest, err := io.ReadAll(file)
		if err != nil {
			return nil, n, 0, err
		}
		value = fmt.Appendf(value, `"type":%q,"base64":"`, kind)
		return append(base64.StdEncoding.AppendEncode(value, append(start, rest...)), `"}`...), n, 0, nil
	}
	head, tail, err := ends(file, n, limit)
	if err != nil {
		return nil, n, 0, err
	}
	value, left = appendEnds(append(value, `"text":`...), head, tail, n)
	return append(value, '}'), n, left, nil
}

// ends returns the n bytes of file or, if they are more than limit, so many from
// both ends.
func ends(file io.ReadSeeker, n, limit int64) (head, tail []byte, err error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, nil, err
	}
	if n <= limit {
		head, err = io.ReadAll(io.LimitReader(file, n))
		return head, nil, err
	}
	head, tail = make([]byte, limit/2), make([]byte, limit/2)
	if _, err := io.ReadFull(file, head); err != nil {
		return nil, nil, err
	}
	if _, err := file.Seek(-limit/2, io.SeekEnd); err != nil {
		return nil, nil, err
	}
	_, err = io.ReadFull(file, tail)
	return head, tail, err
}

// picture returns the media type of what begins so, "" if a browser would not
// show it as one. What can hold a script is none.
func picture(start []byte) string {
	switch kind := http.DetectContentType(start); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	return ""
}

// meta returns what is known only at the end.
func (f *feed) meta() []byte {
	windows := make(map[string]int)
	owners := make(map[string][]Span)
	for name := range f.models {
		if f.source.Window != nil {
			windows[f.clean(name)] = f.source.Window(name)
		}
	}
	unowned := make(map[string]string)
	if f.source.Owners != nil {
		for _, path := range slices.Sorted(maps.Keys(f.fold.changed)) {
			spans, err := f.source.Owners(path)
			shown := f.clean(path)
			if err != nil {
				unowned[shown] = f.clean(err.Error())
				continue
			}
			owners[shown] = spans
		}
	}
	damage := make([]string, len(f.damage))
	for i, d := range f.damage {
		damage[i] = f.clean(d)
	}
	b, err := json.Marshal(struct {
		Session  string            `json:"session"`
		Events   int               `json:"events"`
		Redacted bool              `json:"redacted,omitempty"`
		Windows  map[string]int    `json:"windows"`
		Owners   map[string][]Span `json:"owners"`
		Unowned  map[string]string `json:"unowned,omitempty"`
		Damage   []string          `json:"damage,omitempty"`
		Left     []Left            `json:"left,omitempty"`
	}{f.source.Session, f.events, f.source.Redact != nil, windows, owners, unowned, damage, f.left})
	if err != nil {
		panic("trace: strings and numbers are JSON: " + err.Error())
	}
	return b
}

func (f *feed) report() Report { return Report{Events: f.events, Damage: f.damage, Left: f.left} }

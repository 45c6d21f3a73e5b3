package agent_test

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
)

// archive returns what a recording of r looks like.
func (r *record) archive(from *txtar.Archive) *txtar.Archive {
	to := &txtar.Archive{Comment: from.Comment}
	var wanted []string
	for _, f := range from.Files {
		switch kind, id, _ := strings.Cut(f.Name, " "); {
		case kind == "events", strings.HasPrefix(f.Name, "after/"):
		case kind == "result":
			wanted = append(wanted, id)
		default:
			to.Files = append(to.Files, f)
		}
	}
	to.Files = append(to.Files, txtar.File{Name: "events", Data: []byte(r.story())})
	for _, id := range wanted {
		to.Files = append(to.Files, txtar.File{Name: "result " + id, Data: r.text(id)})
	}
	for path, text := range r.after {
		if before, ok := r.before[path]; !ok || before != text {
			to.Files = append(to.Files, txtar.File{Name: "after/" + path, Data: []byte(text)})
		}
	}
	slices.SortStableFunc(to.Files, func(a, b txtar.File) int {
		if !strings.HasPrefix(a.Name, "after/") || !strings.HasPrefix(b.Name, "after/") {
			return 0
		}
		return strings.Compare(a.Name, b.Name)
	})
	for path := range r.before {
		if _, ok := r.after[path]; !ok {
			to.Files = append(to.Files, txtar.File{Name: "gone/" + path})
		}
	}
	return to
}

// text returns the whole text of a result.
func (r *record) text(id string) []byte {
	for _, e := range r.events {
		if b, ok := e.Body.(event.Finished); ok && b.Call == id {
			return []byte(r.plain(b.Result.Text) + "\n")
		}
	}
	return nil
}

// story tells the events, one a line, without what differs from run to run:
// times, digests, the place, and the order in which calls that ran side by side
// ended.
func (r *record) story() string {
	var lines, ended []string
	for _, e := range r.events {
		line := r.line(e.Body)
		if strings.HasPrefix(line, "finished") {
			ended = append(ended, line)
			continue
		}
		slices.Sort(ended)
		lines = append(lines, ended...)
		ended = nil
		if line != "" {
			lines = append(lines, line)
		}
	}
	for i, err := range r.errs {
		if err != nil {
			lines = append(lines, fmt.Sprintf("turn %d ended in: %v", i+1, err))
		}
	}
	return r.plain(strings.Join(lines, "\n")) + "\n"
}

func (r *record) plain(text string) string { return strings.ReplaceAll(text, r.root, "$ROOT") }

func (r *record) line(body event.Body) string {
	switch b := body.(type) {
	case event.Opened:
		return "opened mode " + b.Mode
	case event.Ruled:
		return "ruled " + b.Path
	case event.Asked:
		return "asked " + b.Text
	case event.Replied:
		line := "replied " + string(b.Stop)
		for _, c := range b.Message.Calls() {
			line += " " + c.ID
		}
		return line + said(b.Message)
	case event.Planned:
		return fmt.Sprintf("planned %s %s: %s", b.Plan.Call.ID, b.Plan.Call.Tool, b.Plan.Summary)
	case event.Decided:
		return strings.TrimRight(fmt.Sprintf("decided %s %s by %s: %s", b.Call, b.Verdict, b.By, b.Reason), ": ")
	case event.Started:
		if b.Reads {
			return "started " + b.Call + " reads"
		}
		return "started " + b.Call
	case event.Finished:
		line := fmt.Sprintf("finished %s %s", b.Call, b.Result.Status)
		if f := b.Result.Failure; f != nil {
			line += " " + string(f.Kind)
		}
		first, _, _ := strings.Cut(b.Result.Text, "\n")
		return line + ": " + first
	case event.Stopped:
		return strings.TrimSpace("stopped " + b.Reason + " " + b.Detail)
	case event.Sent, event.Packed:
		return ""
	}
	return fmt.Sprintf("%+v", body)
}

// said returns the first line of the words of m.
func said(m model.Message) string {
	first, _, _ := strings.Cut(m.Text(), "\n")
	if first == "" {
		return ""
	}
	return ": " + first
}

package provider

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// sites say where in a request the items of its body come from: for each
// message as the API counts them, the place of each of its blocks.
type sites struct {
	items [][]place
	parts map[place]model.Part
}

func (s *sites) item(at ...place) { s.items = append(s.items, at) }

// know keeps what stands where.
func (s *sites) know(speeches []speech) {
	s.parts = make(map[place]model.Part)
	for _, sp := range speeches {
		for _, p := range sp.parts {
			s.parts[p.place] = p.part
		}
	}
}

// What refusals name: a message by its number, perhaps a block of it.
var (
	itemRE  = pattern(`(?i)\b(?:messages?|input|contents)\b\W{0,3}(?:at index )?\[?(\d+)\]?(?:\W{0,3}(content|parts|tool_calls)\W{0,3}(\d+))?`)
	indexRE = pattern(`(?i)\bmessage (?:at )?index (\d+)`)
)

// Words that tell what of a message is meant, where it is not numbered.
var suspects = []struct {
	words func() *regexp.Regexp
	is    func(model.Part) bool
}{
	{pattern(`(?i)\bimages?\b|base64|image_url|media_type`), isPicture},
	{pattern(`(?i)thinking|signature|reasoning|encrypted|thought`), isReasoning},
	{pattern(`(?i)tool|function|arguments`), isCall},
}

func isPicture(p model.Part) bool {
	if r, ok := p.(model.CallResult); ok {
		return len(r.Media) > 0
	}
	_, ok := p.(model.Image)
	return ok
}

// isReasoning reports whether p carries what only its maker understands.
func isReasoning(p model.Part) bool {
	switch p := p.(type) {
	case model.Reasoning:
		return len(p.Raw) > 0
	case model.Text:
		return len(p.Raw) > 0
	case model.Call:
		return len(p.Raw) > 0
	}
	return false
}

func isCall(p model.Part) bool {
	switch p.(type) {
	case model.Call, model.CallResult:
		return true
	}
	return false
}

// blame turns a refusal that names an item into a *model.Rejection of it. What
// the user said in words is never to blame: without it the request would make no
// sense.
func (s *sites) blame(bad *model.BadRequest) error {
	if s == nil || !refusesBody(bad.Status) {
		return bad
	}
	at, ok := s.named(bad.Reason)
	if !ok {
		at, ok = s.suspected(bad.Reason)
	}
	if !ok {
		return bad
	}
	return &model.Rejection{Message: at.message, Part: at.part, Reason: bad.Reason}
}

// named finds the item that the words give the number of.
func (s *sites) named(words string) (place, bool) {
	m := itemRE().FindStringSubmatch(words)
	if m == nil {
		if m = indexRE().FindStringSubmatch(words); m == nil {
			return place{}, false
		}
		m = append(m, "", "")
	}
	i, err := strconv.Atoi(m[1])
	if err != nil || i >= len(s.items) {
		return place{}, false
	}
	item := s.items[i]
	blocks := item
	if m[2] == "tool_calls" {
		blocks = slices.DeleteFunc(slices.Clone(item), func(at place) bool { return !isCall(s.parts[at]) })
	}
	if j, err := strconv.Atoi(m[3]); err == nil && j < len(blocks) && s.blamable(blocks[j]) {
		return blocks[j], true
	}
	for _, suspect := range suspects {
		if !suspect.words().MatchString(words) {
			continue
		}
		for _, at := range item {
			if suspect.is(s.parts[at]) {
				return at, true
			}
		}
	}
	for _, at := range item {
		if s.blamable(at) {
			return at, true
		}
	}
	return place{}, false
}

// suspected finds the newest item of a kind that the words speak of, where they
// speak of what it holds and not of a field of the request.
func (s *sites) suspected(words string) (place, bool) {
	low := strings.ToLower(words)
	for _, suspect := range suspects[:2] {
		if !suspect.words().MatchString(words) || !contentRE().MatchString(low) {
			continue
		}
		for i := len(s.items) - 1; i >= 0; i-- {
			for j := len(s.items[i]) - 1; j >= 0; j-- {
				if at := s.items[i][j]; suspect.is(s.parts[at]) {
					return at, true
				}
			}
		}
	}
	return place{}, false
}

// contentRE knows how servers say that what they were given does not decode.
var contentRE = pattern(`could not (be )?(process|verif|decode|decrypt|parse)|cannot (be )?(process|verif|decode|identify)|(corrupt|invalid)[a-z_ ]{0,12}(image|signature|encrypted|thought)|unsupported image|unable to process|failed to (decode|load|process)|not supported`)

func (s *sites) blamable(at place) bool {
	p, ok := s.parts[at]
	if !ok {
		return false
	}
	t, isText := p.(model.Text)
	return !isText || len(t.Raw) > 0
}

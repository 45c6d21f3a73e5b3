package compaction

import (
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestTheServersAreStrict holds that a request that no server takes is found out
// on every API, and that one that all take is not.
func TestTheServersAreStrict(t *testing.T) {
	said := model.Message{Role: model.User, Parts: []model.Part{model.Text{Text: "Hello."}}}
	called := model.Message{Role: model.Assistant, Parts: []model.Part{model.Call{Call: tool.Call{ID: "c1", Tool: "LS", Args: []byte(`{}`)}}}}
	w := wired(t)
	good := &model.Request{Model: "m", System: "Be good.", Messages: []model.Message{said}, MaxOutput: 100}
	if err := w.refuses(limited(t), good); err != nil {
		t.Errorf("a plain request is refused: %v", err)
	}
	bad := &model.Request{Model: "m", System: "Be good.", Messages: []model.Message{said, called, said}, MaxOutput: 100}
	err := w.refuses(limited(t), bad)
	for _, s := range servers {
		if err == nil || !strings.Contains(err.Error(), s.dialect.Name+":") {
			t.Errorf("%s takes a call without its result: %v", s.dialect.Name, err)
		}
	}
	if err := (strict{summariser{}}); modelRefuses(t, err, bad) == nil {
		t.Error("the strict provider takes a call without its result")
	}
}

func modelRefuses(t *testing.T, p model.Provider, req *model.Request) error {
	t.Helper()
	for _, err := range p.Stream(limited(t), req) {
		if err != nil {
			return err
		}
	}
	return nil
}

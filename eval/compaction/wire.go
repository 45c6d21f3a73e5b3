package compaction

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/world/provider"
)

// A wire is every API that a request can be sent over, each to a server that
// takes only what the strictest does.
type wire []model.Provider

// servers are the dialects, and the names under which each is opened.
var servers = []struct {
	dialect   modeltest.Dialect
	name, api string
}{
	{modeltest.Chat(), "openai/m", "openai"},
	{modeltest.Responses(), "openai/m", "responses"},
	{modeltest.Messages(), "anthropic/m", "anthropic"},
	{modeltest.Gemini(), "google/m", "gemini"},
}

func newWire() (wire, error) {
	var w wire
	for _, s := range servers {
		p, _, err := provider.Open(provider.Options{
			Name: s.name, API: s.api, BaseURL: "http://model.test", Key: "none", Patience: provider.Patience{Attempts: 1},
			Client: &http.Client{Transport: server{s.dialect}},
		})
		if err != nil {
			return nil, err
		}
		w = append(w, p)
	}
	return w, nil
}

// refuses returns what a server does not take about req, as it is on the wire.
func (w wire) refuses(ctx context.Context, req *model.Request) error {
	var errs []error
	for i, p := range w {
		for _, err := range p.Stream(ctx, req) {
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", servers[i].dialect.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// A server answers every request that it takes with a word, and the others with
// 400.
type server struct{ dialect modeltest.Dialect }

func (s server) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	conversation, err := s.dialect.Parse(body)
	if err == nil {
		err = modeltest.Strict(conversation, nil)
	}
	resp := &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: r}
	text := s.dialect.Stream(s.dialect.Events(modeltest.Reply{Text: "Yes.", Stop: model.End}))
	resp.Header.Set("Content-Type", "text/event-stream")
	if err != nil {
		resp.StatusCode, text = http.StatusBadRequest, s.dialect.Error("invalid_request_error", err.Error())
		resp.Header.Set("Content-Type", "application/json")
	}
	resp.Body = io.NopCloser(strings.NewReader(text))
	return resp, nil
}

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// serve starts an API that answers every request in the same way, and points the
// environment to it: serve messages 401 'invalid x-api-key'. With status 200 the
// words are the answer.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: serve chat|messages STATUS WORDS")
	}
	d, variable := modeltest.Chat(), "OPENAI_BASE_URL"
	if args[0] == "messages" {
		d, variable = modeltest.Messages(), "ANTHROPIC_BASE_URL"
	}
	status, err := strconv.Atoi(args[1])
	ts.Check(err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status != http.StatusOK {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, d.Error(errorKind[status], args[2]))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, d.Stream(d.Events(modeltest.Reply{
			Text: args[2], Stop: model.End, Usage: model.Usage{Input: 10, Output: 5},
		})))
	}))
	ts.Defer(server.Close)
	ts.Setenv(variable, server.URL)
}

// errorKind is what servers call a status.
var errorKind = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 500: "api_error",
}

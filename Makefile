# make        builds ./belay
# make help   lists the rest
# Needs Go (see go.mod) and git; everything else comes with the module.

GO      ?= go
BELAY   := belay
TIMEOUT ?= 10m

# The race detector needs a C compiler, and Go turns cgo off where there is none.
RACE = $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race,$(warning no C compiler: testing without the race detector))

.PHONY: build demo test collector lint bench eval-compaction eval-constraints soak vuln screenshots types clean help

build: ## build ./belay
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o $(BELAY) ./cmd/belay

demo: build ## find, fix and prove a real bug with a rehearsed model; no key, no network
	./$(BELAY) demo

# Many tests wait for processes, so more packages than processors run at a time. At
# the end of each process the race detector would wait a second, and vet has run.
test: lint ## vet, staticcheck and every test
	GORACE="atexit_sleep_ms=0 $$GORACE" $(GO) test $(RACE) -vet=off -timeout $(TIMEOUT) ./...

# A module of its own: a collector has hundreds of dependencies, and Belay none of them.
collector: ## the spans of belay export, against a real OpenTelemetry collector
	$(GO) test -C eval/collector -timeout $(TIMEOUT) ./...

lint: ## go vet, staticcheck, gofmt
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	@bad=$$(find . -name '*.go' -not -path '*/testdata/*' -exec "$$($(GO) env GOROOT)/bin/gofmt" -l {} +) && \
		if [ -n "$$bad" ]; then echo "not formatted by gofmt:"; echo "$$bad"; exit 1; fi

bench: build ## the figures of docs/performance.md
	$(GO) run ./eval/bench $(BENCH) ./$(BELAY)
	$(GO) test -run '^$$' -bench . -benchmem -timeout 30m ./...

eval-compaction: ## what a compaction keeps, on eight labelled sessions (needs the network once, npm and node)
	$(GO) run ./eval compaction $(EVAL)

eval-constraints: ## what is found of what users forbid and require, author by author
	$(GO) run ./eval constraints $(EVAL)

# Power cuts need root, /dev/fuse, loop devices, e2fsprogs, xfsprogs and btrfs-progs;
# what is missing is named where a test is skipped.
soak: ## the long tests: crashes, faults, power cuts, fuzzing (hours)
	$(GO) test -tags soak -timeout 4h -v ./eval/crash $(CRASH)
	$(GO) test $(RACE) -tags soak -timeout 4h $$($(GO) list ./... | grep -v /eval/crash)
	sh scripts/fuzz.sh $(FUZZTIME)

vuln: ## known vulnerabilities in what is linked (needs the network)
	$(GO) tool govulncheck ./...

screenshots: ## the pictures of the trace in docs/images (needs Chromium)
	$(GO) test ./internal/ui/trace -run '^TestScreenshots$$' -count=1 -args -screenshots "$$PWD/docs/images"

types: ## check the script of the trace page (needs node and the network)
	cd internal/ui/trace/assets && npx --yes --package typescript@5.9.3 tsc --noEmit --allowJs --checkJs --strict --target es2023 --lib es2023,dom,dom.iterable *.js

clean: ## remove what was built
	rm -f $(BELAY)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile

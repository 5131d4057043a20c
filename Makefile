# Everything a contributor does with this checkout. Each module of it (root,
# kit, one per worker) is its own world: there is no go.work on purpose.

SHELL   := /bin/bash
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
SOURCES := internal/build/archive/source.zip

.DEFAULT_GOAL := help
.PHONY: help build run setup test test-fast check bench calibrate deps pins clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/assay with the sources of all workers in it
	go run ./internal/build/internal/pack . $(SOURCES)
	go build -trimpath -ldflags "-X main.version=$(VERSION)" -o bin/assay ./cmd/assay

run: build ## build, and run the quick plan
	bin/assay run quick

setup: ## install the programs that tests need
	@scripts/tools

test: setup ## install what tests need, check, and test every module
	@scripts/test

test-fast: ## the tests that build no driver, start no server and measure nothing: a minute
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	@go -C kit test -short ./...
	@go test -short ./...

check: ## format, vet, static analysis, and a compile for macOS
	@scripts/check

bench: build ## check assay's own speed against its bars, side by side in one run
	go -C tools build -o ../bin/tools .
	bin/tools

calibrate: ## do the intervals and the verdicts hold? simulated; writes results/calibration.md
	go -C tools run ./calibrate > results/calibration.md

deps: ## refresh go.mod and go.sum of every module after a change of kit
	@scripts/deps

pins: ## print what workers pin beside what the registries serve
	@scripts/pins

clean: ## remove what make build made
	rm -rf bin $(SOURCES)

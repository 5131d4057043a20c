//go:build unix

// Package workertest is the conformance suite for workers: it starts any
// executable, in any language, and checks that it does what docs/protocol.md
// says. Each check gets a fresh process and a fresh folder.
package workertest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay/kit/postgres/cluster"
	"assay/kit/process"
	"assay/kit/wire"
)

// Result is how one check ended.
type Result struct {
	Name   string
	OK     bool
	Detail string // why not, in words; or why it did not apply
}

func (r Result) String() string {
	status := "ok  "
	if !r.OK {
		status = "FAIL"
	}
	if r.Detail != "" {
		return status + " " + r.Name + ": " + r.Detail
	}
	return status + " " + r.Name
}

// patience is how long a single request may take.
const patience = 30 * time.Second

// check is one promise of the protocol.
type check struct {
	name  string
	needs string // the capability without which it does not apply; empty: none
	run   func(*bench) error
}

var checks = slices.Concat(talkChecks, measureChecks, sqlChecks, sqliteChecks, serverChecks, serveChecks, kvChecks, callChecks)

// Run starts the program once for each check and yields the results in order.
func Run(ctx context.Context, program string) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		servers := &servers{}
		defer servers.remove()
		for _, c := range checks {
			if ctx.Err() != nil || !yield(runCheck(ctx, program, c, servers)) {
				return
			}
		}
	}
}

var errNotApplicable = errors.New("does not apply")

func runCheck(ctx context.Context, program string, c check, servers *servers) Result {
	err := withBench(ctx, program, servers, func(b *bench) error {
		if c.needs != "" && !b.can(strings.TrimSuffix(c.needs, onSQLite)) {
			return fmt.Errorf("%w: the worker has not the capability %s", errNotApplicable, c.needs)
		}
		if c.needs == sqliteOnly && b.can(wire.CapPostgreSQL) {
			return fmt.Errorf("%w: it is about SQLite", errNotApplicable)
		}
		return c.run(b)
	})
	if errors.Is(err, errNotApplicable) {
		return Result{c.name, true, err.Error()}
	}
	if err != nil {
		return Result{c.name, false, err.Error()}
	}
	return Result{Name: c.name, OK: true}
}

// bench is a started worker with a folder.
type bench struct {
	ctx     context.Context
	program string
	worker  *process.Worker
	dir     string
	servers *servers
	server  *cluster.Cluster // that its worker connects to; nil where there is none
}

func withBench(ctx context.Context, program string, servers *servers, run func(*bench) error) error {
	dir, err := os.MkdirTemp("", "assay-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	worker, err := process.Start(ctx, program, process.Options{Dir: dir})
	if err != nil {
		return err
	}
	b := &bench{ctx: ctx, program: program, worker: worker, dir: dir, servers: servers}
	defer func() { b.worker.Kill() }() // a check may have started another one
	defer func() { b.endServer() }()
	return run(b)
}

func (b *bench) can(capability string) bool {
	return slices.Contains(b.worker.Hello().Capabilities, capability)
}

func (b *bench) path() string { return filepath.Join(b.dir, "data file?#%.db") }

func (b *bench) call(kind string, request, reply any) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := b.worker.Call(ctx, kind, b.said(request), reply); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

// refused checks that a request is answered by an error with one of the codes.
func (b *bench) refused(kind string, request any, codes ...string) error {
	err := b.call(kind, request, nil)
	var answered *wire.Error
	if !errors.As(err, &answered) {
		return fmt.Errorf("%s: want an error reply, got %v", kind, err)
	}
	if !slices.Contains(codes, answered.Code) {
		return fmt.Errorf("%s: error code %q, want %s", kind, answered.Code, strings.Join(codes, " or "))
	}
	if answered.Message == "" {
		return fmt.Errorf("%s: the error has no message", kind)
	}
	return nil
}

// steps runs until the first error.
func steps(run ...func() error) error {
	for _, step := range run {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func expect(what string, got, want any) error {
	if got != want {
		return fmt.Errorf("%s is %v, want %v", what, got, want)
	}
	return nil
}

//go:build unix

// Package workertest is the conformance suite for workers: it starts any
// executable, in any language, and checks that it does what docs/protocol.md
// says. Each check that applies gets a fresh process and a fresh folder.
package workertest

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	Name    string
	OK      bool
	Skipped bool   // it did not apply, or could not be run
	Detail  string // why not, in words
}

func (r Result) String() string {
	status := "ok  "
	switch {
	case r.Skipped:
		status = "skip"
	case !r.OK:
		status = "FAIL"
	}
	if r.Detail != "" {
		return status + " " + r.Name + ": " + r.Detail
	}
	return status + " " + r.Name
}

const (
	// patience is how long a single request may take.
	patience = 30 * time.Second
	// maxTimeouts ends the suite: a silent program would take half an hour.
	maxTimeouts = 2
)

// Options say what to check.
type Options struct {
	Only  []string  // parts of the names of checks, whatever their case; empty: all
	Trace io.Writer // gets a copy of the talk with the worker; nil: nobody
}

func (o Options) matches(name string) bool {
	return len(o.Only) == 0 || slices.ContainsFunc(o.Only, func(part string) bool {
		return strings.Contains(strings.ToLower(name), strings.ToLower(part))
	})
}

// Names returns the names of the checks that the options want, in order.
func Names(o Options) []string {
	var names []string
	for _, c := range checks {
		if o.matches(c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// check is one promise of the protocol.
type check struct {
	name  string
	needs string       // the capability without which it does not apply; empty: none
	run   func(*bench) // until the first thing that is wrong, by must or fail
}

var checks = slices.Concat(talkChecks, measureChecks, sqlChecks, sqliteChecks, serverChecks, serveChecks, answersChecks, kvChecks, callChecks)

// Run starts the program once for each check that applies and yields the results in order.
// Where the program does not start, or does not answer again and again, the
// checks that are left are skipped.
func Run(ctx context.Context, program string, options Options) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		s := &suite{ctx: ctx, program: program, trace: options.Trace}
		defer s.servers.remove()
		for _, c := range checks {
			if !options.matches(c.name) {
				continue
			}
			if ctx.Err() != nil || !yield(s.check(c)) {
				return
			}
		}
	}
}

var errNotApplicable = errors.New("does not apply")

// suite is one run of the checks.
type suite struct {
	ctx      context.Context
	program  string
	trace    io.Writer
	servers  servers
	hello    *wire.Hello // of the last start; nil: there was none
	timeouts int
	ended    string // why no further check is run; empty: they are
}

func (s *suite) start(dir string) (*process.Worker, error) {
	worker, err := process.Start(s.ctx, s.program, process.Options{Dir: dir, Trace: s.trace})
	if err != nil {
		return nil, &startError{err}
	}
	hello := worker.Hello()
	s.hello = &hello
	return worker, nil
}

// startError says that the program did not say hello.
type startError struct{ cause error }

func (e *startError) Error() string { return e.cause.Error() }
func (e *startError) Unwrap() error { return e.cause }

// failure ends a check, from wherever in it.
type failure struct{ error }

func must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func fail(format string, args ...any) { must(fmt.Errorf(format, args...)) }

func caught(part func()) (err error) {
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case failure:
			err = ended.error
		default:
			panic(ended)
		}
	}()
	part()
	return nil
}

// about puts words before what ends a part of a check.
func about(words string, part func()) {
	if err := caught(part); err != nil {
		fail("%s: %w", words, err)
	}
}

// check makes a check, again where this process did not run meanwhile.
func (s *suite) check(c check) Result {
	for {
		before, _ := process.Pauses()
		result := s.checkOnce(c)
		if after, _ := process.Pauses(); after == before {
			return result
		}
	}
}

func (s *suite) checkOnce(c check) Result {
	if s.ended != "" {
		return Result{Name: c.name, Skipped: true, Detail: s.ended}
	}
	if s.trace != nil {
		fmt.Fprintf(s.trace, "# %s\n", c.name)
	}
	err := s.applies(c)
	if s.hello == nil || err == nil {
		err = s.withBench(func(b *bench) error {
			if err := s.applies(c); err != nil {
				return err
			}
			return b.withStderr(caught(func() { c.run(b) }))
		})
	}
	if errors.As(err, new(*startError)) {
		s.ended = "the program does not start: see the first check that failed"
	}
	if errors.Is(err, process.ErrTimeout) {
		if s.timeouts++; s.timeouts >= maxTimeouts {
			s.ended = fmt.Sprintf("the program left %d requests without an answer for %v", s.timeouts, patience)
		}
	}
	switch {
	case errors.Is(err, errNotApplicable):
		return Result{Name: c.name, OK: true, Skipped: true, Detail: err.Error()}
	case err != nil:
		return Result{Name: c.name, Detail: err.Error()}
	}
	return Result{Name: c.name, OK: true}
}

// applies returns why a check does not apply to a worker that has said hello, nil where
// it does.
func (s *suite) applies(c check) error {
	switch {
	case c.needs != "" && !s.can(strings.TrimSuffix(c.needs, onSQLite)):
		return fmt.Errorf("%w: the worker has not the capability %s", errNotApplicable, c.needs)
	case c.needs == sqliteOnly && (s.can(wire.CapPostgreSQL) || s.can(wire.CapDuckDB)):
		return fmt.Errorf("%w: it is about SQLite", errNotApplicable)
	}
	return nil
}

// can reports whether the worker said, when it was last started, that it has a capability.
func (s *suite) can(capability string) bool {
	return s.hello != nil && slices.Contains(s.hello.Capabilities, capability)
}

// withStderr adds what the worker wrote to its standard error to an error that
// does not have it. It ends the worker first: what a living one wrote may still
// be on its way.
func (b *bench) withStderr(err error) error {
	if err == nil || errors.Is(err, errNotApplicable) || errors.As(err, new(*process.ExitError)) {
		return err
	}
	b.worker.Kill()
	lines := b.worker.Stderr()
	if len(lines) == 0 {
		return err
	}
	return fmt.Errorf("%w; the end of its standard error:\n  %s", err, strings.Join(lines, "\n  "))
}

// bench is a started worker with a folder.
type bench struct {
	*suite
	worker *process.Worker
	dir    string
	server *cluster.Cluster // that its worker connects to; nil where there is none
	// prepared has what was prepared, by the operation's name.
	prepared map[string]wire.Prepare
}

func (s *suite) withBench(run func(*bench) error) error {
	dir, err := os.MkdirTemp("", "assay-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	worker, err := s.start(dir)
	if err != nil {
		return err
	}
	b := &bench{suite: s, worker: worker, dir: dir}
	defer func() { b.worker.Kill() }() // a check may have started another one
	defer func() { b.endServer() }()
	return run(b)
}

func (b *bench) path() string { return filepath.Join(b.dir, "data file?#%.db") }

// answerTo makes what the answer to a request is read into, where nobody asked
// for it.
func answerTo(request any) any {
	switch request.(type) {
	case wire.Measure:
		return &wire.Measured{}
	case wire.Open:
		return &wire.Opened{}
	}
	return nil
}

// ask sends a request, and holds what is answered to the rules that a run
// holds it to.
func (b *bench) ask(kind string, request, reply any) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if reply == nil {
		reply = answerTo(request)
	}
	began := time.Now()
	if err := b.worker.Call(ctx, kind, b.said(request), reply); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if err := b.untrue(request, reply, time.Since(began)); err != nil {
		return fmt.Errorf("the answer to %s cannot be true: %w", kind, err)
	}
	return nil
}

// untrue returns why an answer cannot be true, nil where it can.
func (b *bench) untrue(request, reply any, took time.Duration) error {
	switch r := request.(type) {
	case wire.Prepare:
		if b.prepared == nil {
			b.prepared = map[string]wire.Prepare{}
		}
		b.prepared[r.Operation.Name] = r
	case wire.Measure:
		p := b.prepared[r.Operation]
		// The CPU time that the system counted is left to a run: one process more
		// than the worker's own makes it another figure.
		return reply.(*wire.Measured).Check(wire.Call{Measure: r, Clients: p.Clients, Unit: int64(max(1, p.Operation.Transaction)), Took: took, CPU: -1,
			Prepares: len(p.Operation.Steps) > 0 && p.Operation.Steps[0].Call != ""})
	}
	if answer, ok := reply.(interface{ Check() error }); ok {
		return answer.Check()
	}
	return nil
}

func (b *bench) call(kind string, request, reply any) { must(b.ask(kind, request, reply)) }

func (b *bench) prepare(op wire.Operation, clients int) {
	b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: clients}, nil)
}

func (b *bench) measure(request wire.Measure) (m wire.Measured) {
	b.call(wire.TypeMeasure, request, &m)
	return m
}

func (b *bench) block(operation string, operations int64) wire.Measured {
	return b.measure(wire.Measure{Operation: operation, Operations: operations})
}

func (b *bench) verify(request wire.Verify) (v wire.Verified) {
	b.call(wire.TypeVerify, request, &v)
	return v
}

func (b *bench) settings(names ...string) []wire.Connection {
	var read wire.SettingsRead
	b.call(wire.TypeSettings, wire.Settings{Names: names}, &read)
	return read.Connections
}

func (b *bench) stats() (s wire.Stats) {
	b.call(wire.TypeStats, nil, &s)
	return s
}

// refusal is the error by which a worker says that it has not what was asked for;
// nil for any other.
func refusal(err error) *wire.Error {
	if lacks, is := errors.AsType[*wire.Error](err); is && lacks.Code == wire.Unsupported {
		return lacks
	}
	return nil
}

// applies ends the check as one that does not apply where a worker refused what it may.
func applies(err error) {
	if lacks := refusal(err); lacks != nil {
		fail("%w: %s", errNotApplicable, lacks.Message)
	}
	must(err)
}

func (b *bench) refused(kind string, request any, codes ...string) {
	err := b.ask(kind, request, nil)
	var answered *wire.Error
	if !errors.As(err, &answered) {
		fail("%s: want an error reply, got %v", kind, err)
	}
	if !slices.Contains(codes, answered.Code) {
		fail("%s: error code %q, want %s", kind, answered.Code, strings.Join(codes, " or "))
	}
	if answered.Message == "" {
		fail("%s: the error has no message", kind)
	}
}

func expect(what string, got, want any) {
	if got != want {
		fail("%s is %v, want %v", what, got, want)
	}
}

// without checks that what was measured has neither errors nor misses.
func without(m wire.Measured) {
	if m.Errors+m.Misses > 0 {
		fail("%d errors (%s), %d misses (%s)", m.Errors, m.Error, m.Misses, m.Miss)
	}
}

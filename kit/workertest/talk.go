//go:build unix

package workertest

import (
	"errors"
	"strings"

	"assay/kit/duckdb"
	"assay/kit/process"
	"assay/kit/wire"
)

// talkChecks are about lines, requests and replies.
var talkChecks = []check{
	{name: "hello names the target", run: func(b *bench) {
		t := b.worker.Hello().Target
		if t.Driver == "" || t.DriverVersion == "" || t.Engine == "" || t.EngineVersion == "" {
			fail("driver, driver_version, engine and engine_version are all needed: %+v", t)
		}
	}},
	{name: "unknown request is answered unsupported", run: func(b *bench) {
		b.refused("x-grease-request", map[string]any{"frob": []int{1}}, wire.Unsupported)
		b.call(wire.TypeStats, nil, nil)
	}},
	{name: "unknown fields are ignored", run: func(b *bench) {
		b.call(wire.TypeStats, map[string]any{"x-grease": map[string]any{"deep": []any{nil, 1.5, "x"}}}, nil)
	}},
	{name: "a line of one megabyte is read", run: func(b *bench) {
		b.call(wire.TypeStats, map[string]any{"x-padding": strings.Repeat("ä", 1<<19)}, nil)
	}},
	{name: "requests before open are refused", run: func(b *bench) {
		b.refused(wire.TypeSettings, wire.Settings{}, wire.Invalid)
		b.refused(wire.TypeMeasure, wire.Measure{Operation: "none", Operations: 1}, wire.Invalid)
		b.refused(wire.TypeVerify, wire.Verify{Operation: "none", Count: 1}, wire.Invalid)
	}},
	{name: "a second open is refused", run: func(b *bench) {
		b.open(wire.Open{Readers: 1, Idle: 1})
		b.refused(wire.TypeOpen, wire.Open{Path: b.path(), Readers: 1, Idle: 1}, wire.Invalid)
	}},
	{name: "a stopped worker goes on when woken", run: func(b *bench) {
		must(b.worker.Pause())
		must(b.worker.Resume(b.ctx))
	}},
	{name: "stats counts CPU time and memory", run: func(b *bench) {
		var c wire.Counters
		b.call(wire.TypeStats, nil, &c)
		if c.CPU <= 0 || c.Peak <= 0 {
			fail("cpu_ns %d, peak_bytes %d: both must be above zero", c.CPU, c.Peak)
		}
	}},
	{name: "close is answered and the worker exits with 0", run: func(b *bench) {
		b.open(wire.Open{Readers: 1, Idle: 1})
		b.stop()
		expect("exit status", b.worker.Status(), "exit status 0")
	}},
	{name: "the end of input ends the worker with 0", run: func(b *bench) {
		must(b.worker.EndInput())
		expect("exit status", b.worker.Status(), "exit status 0")
	}},
	{name: "garbage is answered invalid or ends the worker with an error", run: garbage},
}

func garbage(b *bench) {
	for _, line := range []string{"{not json", "{}", "[]"} {
		one := b.another()
		err := one.worker.Garbage(b.ctx, line)
		one.worker.Kill()
		var ended *process.ExitError
		var answered *wire.Error
		switch {
		case errors.As(err, &answered):
			expect("code for "+line, answered.Code, wire.Invalid)
		case errors.As(err, &ended) && ended.Status != "exit status 0":
		default:
			fail("%s: want an error reply or an exit with an error, got %v", line, err)
		}
	}
}

func (b *bench) open(request wire.Open) { must(b.tryOpen(request)) }

func (b *bench) tryOpen(request wire.Open) error {
	request.Path = b.path()
	if b.can(wire.CapPostgreSQL) {
		return b.openServer(request, &wire.Opened{})
	}
	if b.can(wire.CapDuckDB) {
		request.Settings, _ = duckdb.Settings.Own(request.Settings)
		request.Once = strict(request.Once, "unhex('$1')")
	}
	return b.ask(wire.TypeOpen, request, nil)
}

//go:build unix

package workertest

import (
	"errors"
	"fmt"
	"strings"

	"assay/kit/process"
	"assay/kit/wire"
)

// talkChecks are about lines, requests and replies.
var talkChecks = []check{
	{name: "hello names the target", run: helloNames},
	{name: "unknown request is answered unsupported", run: func(b *bench) error {
		return steps(
			func() error { return b.refused("x-grease-request", map[string]any{"frob": []int{1}}, wire.Unsupported) },
			func() error { return b.call(wire.TypeStats, nil, nil) })
	}},
	{name: "unknown fields are ignored", run: func(b *bench) error {
		return b.call(wire.TypeStats, map[string]any{"x-grease": map[string]any{"deep": []any{nil, 1.5, "x"}}}, nil)
	}},
	{name: "a line of one megabyte is read", run: func(b *bench) error {
		return b.call(wire.TypeStats, map[string]any{"x-padding": strings.Repeat("ä", 1<<19)}, nil)
	}},
	{name: "requests before open are refused", run: func(b *bench) error {
		return steps(
			func() error { return b.refused(wire.TypeSettings, wire.Settings{}, wire.Invalid) },
			func() error {
				return b.refused(wire.TypeMeasure, wire.Measure{Operation: "none", Operations: 1}, wire.Invalid)
			},
			func() error {
				return b.refused(wire.TypeVerify, wire.Verify{Operation: "none", Count: 1}, wire.Invalid)
			})
	}},
	{name: "a second open is refused", run: func(b *bench) error {
		return steps(
			func() error { return b.open(wire.Open{Readers: 1, Idle: 1}) },
			func() error {
				return b.refused(wire.TypeOpen, wire.Open{Path: b.path(), Readers: 1, Idle: 1}, wire.Invalid)
			})
	}},
	{name: "a stopped worker goes on when woken", run: func(b *bench) error {
		return steps(b.worker.Pause, func() error { return b.worker.Resume(b.ctx) })
	}},
	{name: "stats counts CPU time and memory", run: statsCount},
	{name: "close is answered and the worker exits with 0", run: func(b *bench) error {
		return steps(
			func() error { return b.open(wire.Open{Readers: 1, Idle: 1}) },
			func() error { _, err := b.worker.Stop(b.ctx); return err },
			func() error { return expect("exit status", b.worker.Status(), "exit status 0") })
	}},
	{name: "the end of input ends the worker with 0", run: func(b *bench) error {
		if err := b.worker.EndInput(); err != nil {
			return err
		}
		return expect("exit status", b.worker.Status(), "exit status 0")
	}},
	{name: "garbage is answered invalid or ends the worker with an error", run: garbage},
}

func helloNames(b *bench) error {
	t := b.worker.Hello().Target
	if t.Driver == "" || t.DriverVersion == "" || t.Engine == "" || t.EngineVersion == "" {
		return fmt.Errorf("driver, driver_version, engine and engine_version are all needed: %+v", t)
	}
	return nil
}

func statsCount(b *bench) error {
	var c wire.Counters
	if err := b.call(wire.TypeStats, nil, &c); err != nil {
		return err
	}
	if c.CPU <= 0 || c.Peak <= 0 {
		return fmt.Errorf("cpu_ns %d, peak_bytes %d: both must be above zero", c.CPU, c.Peak)
	}
	return nil
}

func garbage(b *bench) error {
	err := b.worker.Garbage(b.ctx, "{not json")
	var ended *process.ExitError
	var answered *wire.Error
	switch {
	case errors.As(err, &answered):
		return expect("code", answered.Code, wire.Invalid)
	case errors.As(err, &ended) && ended.Status != "exit status 0":
		return nil
	}
	return fmt.Errorf("want an error reply or an exit with an error, got %v", err)
}

func (b *bench) open(request wire.Open) error {
	request.Path = b.path()
	if b.can(wire.CapPostgreSQL) {
		return b.openServer(request)
	}
	return b.call(wire.TypeOpen, request, nil)
}

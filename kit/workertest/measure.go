//go:build unix

package workertest

import (
	"fmt"
	"path/filepath"

	"assay/kit/column"
	"assay/kit/wire"
)

// measureChecks are about windows and blocks. Their operation needs no table,
// so that they apply to workers without SQL too.
var measureChecks = []check{
	{name: "a block executes exactly its operations", run: func(b *bench) error {
		m, err := b.one(wire.Measure{Operations: 5000, Latency: true}, 1) // longer than what clocks may differ by
		if err != nil {
			return err
		}
		return steps(
			func() error { return expect("operations", m.Operations, int64(5000)) },
			func() error { return expect("executed", m.Executed, int64(5000)) },
			func() error { return expect("count in the histogram", histogramCount(m), int64(5000)) },
			func() error { return positive(m) })
	}},
	{name: "a window lasts as long as asked", run: func(b *bench) error {
		m, err := b.one(wire.Measure{Nanos: 20_000_000}, 1)
		if err != nil {
			return err
		}
		return positive(m)
	}},
	{name: "a window in batches counts every operation", run: func(b *bench) error {
		m, err := b.one(wire.Measure{Nanos: 5_000_000, Batch: 100}, 1)
		if err != nil {
			return err
		}
		return expect("operations beyond whole batches", m.Operations%100, int64(0))
	}},
	{name: "several clients share one counter", run: func(b *bench) error {
		m, err := b.one(wire.Measure{Operations: 5000, Latency: true}, 4)
		if err != nil {
			return err
		}
		if m.Executed != 5000 || m.Operations > 5000 || m.Operations < 4000 {
			return fmt.Errorf("executed %d, counted %d of 5000", m.Executed, m.Operations)
		}
		return expect("count in the histogram", histogramCount(m), int64(5000))
	}},
	{name: "a window has ten operations of every client", run: windowNeverEmpty},
	{name: "counters are those of the measurement alone", run: countersApart},
	{name: "a name is prepared once", run: preparedTwice},
	{name: "neither or both of nanos and operations are refused", run: func(b *bench) error {
		return steps(
			func() error { return b.prepareOne(1) },
			func() error { return b.refused(wire.TypeMeasure, wire.Measure{Operation: "one"}, wire.Invalid) },
			func() error {
				return b.refused(wire.TypeMeasure, wire.Measure{Operation: "one", Nanos: 1, Operations: 1}, wire.Invalid)
			})
	}},
	{name: "a trace that is no column file is refused", run: func(b *bench) error {
		op := wire.Operation{Name: "one", Trace: filepath.Join(b.dir, "missing.col"),
			Steps: []wire.Step{{SQL: "SELECT ?", KV: wire.Get, Query: true, Args: 1, Rows: -1, Returns: []string{"blob?"}}}}
		return steps(
			func() error { return b.open(wire.Open{Readers: 1, Idle: 1}) },
			func() error {
				return b.refused(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, wire.Invalid)
			})
	}},
}

// oneOperation needs no table: it selects a constant or, of a store, gets a key
// that is not there.
func (b *bench) oneOperation() (wire.Operation, error) {
	if !b.can(wire.CapKV) {
		return wire.Operation{Name: "one", Steps: []wire.Step{{SQL: "SELECT 1", Query: true, Rows: 1, Returns: []string{"int"}}}}, nil
	}
	trace, err := b.trace("one", []column.Type{column.Blob}, []any{[]byte("absent")})
	return wire.Operation{Name: "one", Trace: trace, Steps: []wire.Step{{KV: wire.Get, Query: true, Args: 1, Rows: 0, Returns: []string{"blob"}}}}, err
}

func (b *bench) prepareOne(clients int) error {
	one, err := b.oneOperation()
	return steps(
		func() error { return err },
		func() error { return b.open(wire.Open{Readers: clients, Idle: clients}) },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: one, Clients: clients}, nil) })
}

func (b *bench) one(request wire.Measure, clients int) (wire.Measured, error) {
	var m wire.Measured
	if err := b.prepareOne(clients); err != nil {
		return m, err
	}
	request.Operation = "one"
	err := b.call(wire.TypeMeasure, request, &m)
	if err == nil && m.Errors+m.Misses > 0 {
		err = fmt.Errorf("%d errors (%s), %d misses (%s)", m.Errors, m.Error, m.Misses, m.Miss)
	}
	return m, err
}

func histogramCount(m wire.Measured) int64 {
	var n int64
	for _, bucket := range m.Histogram {
		n += bucket[1]
	}
	return n
}

func positive(m wire.Measured) error {
	if m.Nanos <= 0 || m.Counters.CPU <= 0 {
		return fmt.Errorf("nanos %d, cpu_ns %d: both must be above zero", m.Nanos, m.Counters.CPU)
	}
	return nil
}

// trace writes a column file into the bench's folder.
func (b *bench) trace(name string, types []column.Type, rows ...[]any) (string, error) {
	builder := column.NewBuilder(types...)
	for _, row := range rows {
		if err := builder.Append(row...); err != nil {
			return "", err
		}
	}
	path := filepath.Join(b.dir, name+".col")
	return path, builder.WriteFile(path)
}

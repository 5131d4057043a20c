//go:build unix

package workertest

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"assay/kit/column"
	"assay/kit/process"
	"assay/kit/wire"
)

// measureChecks are about windows and blocks. Their operation needs no table,
// so that they apply to workers without SQL too.
var measureChecks = []check{
	{name: "a block executes exactly its operations", run: func(b *bench) {
		m := b.one(wire.Measure{Operations: 5000, Latency: true}, 1) // longer than what clocks may differ by
		expect("operations", m.Operations, int64(5000))
		expect("executed", m.Executed, int64(5000))
		expect("count in the histogram", histogramCount(m), int64(5000))
		positive(m)
	}},
	{name: "a window lasts as long as asked", run: func(b *bench) { positive(b.one(wire.Measure{Nanos: 20_000_000}, 1)) }},
	{name: "a window in batches counts every operation", run: func(b *bench) {
		m := b.one(wire.Measure{Nanos: 5_000_000, Batch: 100}, 1)
		expect("operations beyond whole batches", m.Operations%100, int64(0))
	}},
	{name: "several clients share one counter", run: func(b *bench) {
		m := b.one(wire.Measure{Operations: 5000, Latency: true}, 4)
		if m.Executed != 5000 || m.Operations > 5000 || m.Operations < 4000 {
			fail("executed %d, counted %d of 5000", m.Executed, m.Operations)
		}
		expect("count in the histogram", histogramCount(m), int64(5000))
	}},
	// That a window which is over at once has ten units of every client all the same
	// is a rule for all answers.
	{name: "a window has ten operations of every client", run: func(b *bench) { b.one(wire.Measure{Nanos: 1}, 2) }},
	{name: "counters are those of the measurement alone", run: countersApart},
	{name: "a name is prepared once", run: func(b *bench) {
		one := b.oneOperation()
		b.prepareOne(1)
		b.refused(wire.TypePrepare, wire.Prepare{Operation: one, Clients: 1}, wire.Invalid)
		b.block("one", 1)
	}},
	{name: "neither or both of nanos and operations are refused", run: func(b *bench) {
		b.prepareOne(1)
		b.refused(wire.TypeMeasure, wire.Measure{Operation: "one"}, wire.Invalid)
		b.refused(wire.TypeMeasure, wire.Measure{Operation: "one", Nanos: 1, Operations: 1}, wire.Invalid)
	}},
	{name: "the waiting that is told is what the system counted of its threads", run: delaysCounted},
	{name: "threads of clients live until close", run: threadsLive},
	{name: "the time at which a measurement began is within its call", run: beganWithin},
	{name: "a trace that is missing is refused", run: func(b *bench) {
		op := wire.Operation{Name: "one", Trace: filepath.Join(b.dir, "missing.col"),
			Steps: []wire.Step{{SQL: "SELECT ?", KV: wire.Get, Query: true, Args: 1, Rows: -1, Returns: []string{"blob?"}}}}
		b.open(wire.Open{Readers: 1, Idle: 1})
		b.refused(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, wire.Invalid)
	}},
}

// oneOperation needs no table: it selects a constant or, of a store, gets a key
// that is not there.
func (b *bench) oneOperation() wire.Operation {
	if !b.can(wire.CapKV) {
		return wire.Operation{Name: "one", Steps: []wire.Step{{SQL: "SELECT 1", Query: true, Rows: 1, Returns: []string{"int"}}}}
	}
	trace := b.trace("one", []column.Type{column.Blob}, []any{[]byte("absent")})
	return wire.Operation{Name: "one", Trace: trace, Steps: []wire.Step{{KV: wire.Get, Query: true, Args: 1, Rows: 0, Returns: []string{"blob"}}}}
}

func (b *bench) prepareOne(clients int) {
	one := b.oneOperation()
	b.open(wire.Open{Readers: clients, Idle: clients})
	b.prepare(one, clients)
}

func (b *bench) one(request wire.Measure, clients int) wire.Measured {
	b.prepareOne(clients)
	request.Operation = "one"
	m := b.measure(request)
	without(m)
	return m
}

// countersApart checks that a measurement's counters are differences: they are
// within what stats says before and after.
func countersApart(b *bench) {
	b.one(wire.Measure{Nanos: 50_000_000}, 1)
	before := b.stats()
	m := b.block("one", 10)
	after := b.stats()
	used := after.Since(before.Counters)
	most := used.All()
	for i, c := range m.Counters.All() {
		if !c.Max && *c.Value > *most[i].Value {
			fail("%s is %d in the reply to measure, and between the stats before and after it only %d were used: counters are of the measurement alone", c.Name, *c.Value, *most[i].Value)
		}
	}
}

// threadsLive checks that the threads which are measured live on: with a thread that has ended
// goes what the system counted of it.
func threadsLive(b *bench) {
	b.prepareOne(1)
	b.block("one", 10)
	before, known := process.LivingThreads(b.worker.PID())
	stats := b.stats()
	for range 10 {
		b.measure(wire.Measure{Operation: "one", Nanos: 5_000_000})
	}
	used := time.Duration(b.stats().Since(stats.Counters).CPU)
	after, still := process.LivingThreads(b.worker.PID())
	if !known || !still {
		must(fmt.Errorf("%w: this system does not count the time of threads", errNotApplicable))
	}
	if ran := after.Ran - before.Ran; ran < used/2 {
		fail("of %s of CPU time, the threads that live used %s: the others have ended, and nobody can tell for how long they waited for a processor", used, max(0, ran))
	}
}

// delaysCounted checks the delays that a worker tells. Others want the processors meanwhile,
// so that there is something to count.
func delaysCounted(b *bench) {
	b.prepareOne(1)
	b.block("one", 10)
	before, known := process.LivingThreads(b.worker.PID())
	var done atomic.Bool
	defer done.Store(true)
	for range 2 * runtime.NumCPU() {
		go spin(&done)
	}
	claimed, told := time.Duration(0), false
	for range 3 {
		if m := b.measure(wire.Measure{Operation: "one", Nanos: 20_000_000}); m.Delayed != nil {
			claimed, told = claimed+time.Duration(*m.Delayed), true
		}
	}
	if !told {
		must(fmt.Errorf("%w: the worker does not tell for how long it waited for a processor", errNotApplicable))
	}
	after, still := process.LivingThreads(b.worker.PID())
	if counted := after.Waited - before.Waited; known && still && !wire.Delayed(claimed, counted) {
		fail("it claims to have waited %s for a processor, and the system counted %s of its living threads", claimed, counted)
	}
}

// clockSlack is by how much two readings of the system's clock may contradict their order.
const clockSlack = 20 * time.Millisecond

// beganWithin checks that what a worker measured lies within the call, by the system's clock:
// by that is found how several processes overlap.
func beganWithin(b *bench) {
	b.prepareOne(1)
	window := 100 * time.Millisecond
	for prompt, tries := 0, 0; prompt < 2 && tries < 6; tries++ {
		sent := time.Now()
		m := b.measure(wire.Measure{Operation: "one", Nanos: int64(window)})
		replied := time.Now()
		if m.Began == 0 {
			must(fmt.Errorf("%w: the worker does not tell when it began", errNotApplicable))
		}
		began := time.Unix(0, m.Began)
		if ended := began.Add(time.Duration(m.Nanos)); began.Before(sent.Add(-clockSlack)) || ended.After(replied.Add(clockSlack)) {
			fail("began_ns and nanos say %s to %s behind the request, and the reply came %s behind it", began.Sub(sent), ended.Sub(sent), replied.Sub(sent))
		}
		// A call that takes much longer than its window has room for a wrong time.
		if replied.Sub(sent) < window*3/2 {
			prompt++
		} else {
			window *= 2
		}
	}
}

func spin(done *atomic.Bool) {
	for !done.Load() {
	}
}

func histogramCount(m wire.Measured) int64 {
	var n int64
	for _, bucket := range m.Histogram {
		n += bucket[1]
	}
	return n
}

func positive(m wire.Measured) {
	if m.Nanos <= 0 || m.Counters.CPU <= 0 {
		fail("nanos %d, cpu_ns %d: both must be above zero", m.Nanos, m.Counters.CPU)
	}
}

// trace writes a column file into the bench's folder.
func (b *bench) trace(name string, types []column.Type, rows ...[]any) string {
	builder := column.NewBuilder(types...)
	for _, row := range rows {
		must(builder.Append(row...))
	}
	path := filepath.Join(b.dir, name+".col")
	must(builder.WriteFile(path))
	return path
}

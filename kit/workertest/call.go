//go:build unix

package workertest

import (
	"assay/kit/wire"
)

// callChecks are about operations of a worker's own. What they answer is the
// plan's to say.
var callChecks = []check{
	{"every call does its units", wire.CapCall, everyCall},
	{"a call is verified after it was measured only", wire.CapCall, func(b *bench) {
		name := b.firstCall()
		b.open(wire.Open{Writers: 2})
		b.call(wire.TypePrepare, prepareCall(name, 1), nil)
		b.refused(wire.TypeVerify, wire.Verify{Operation: name, Count: 1}, wire.Invalid)
	}},
	{"each unit of a call leaves a mark", wire.CapCall, func(b *bench) {
		marks := b.path() + ".marks"
		b.open(wire.Open{Writers: 2})
		b.callOnce(b.firstCall(), wire.Measure{Operations: 4, Marks: marks})
		expectSize(marks, 4)
	}},
	{"a call of which no unit is right says why, and how long it took", wire.CapCall, func(b *bench) {
		name := b.firstCall()
		wrong := prepareCall(name, 1)
		wrong.Operation.Steps[0].Rows = 1 << 20
		b.open(wire.Open{Writers: 2})
		b.call(wire.TypePrepare, wrong, nil)
		m := b.measure(wire.Measure{Operation: name, Operations: 2})
		expect("operations", m.Operations, int64(0))
		expect("misses", m.Misses, int64(2))
		expect("a reason", m.Miss != "", true)
		expect("a time", m.Nanos > 0, true)
	}},
	{"a call that there is not is refused", wire.CapCall, func(b *bench) {
		b.open(wire.Open{Writers: 2})
		b.refused(wire.TypePrepare, prepareCall("x-grease-call", 1), wire.Unsupported)
	}},
	{"a call of several clients or without a size is refused", wire.CapCall, func(b *bench) {
		several := prepareCall(b.firstCall(), 1)
		several.Clients = 2
		b.open(wire.Open{Writers: 2})
		b.refused(wire.TypePrepare, several, wire.Invalid)
		b.refused(wire.TypePrepare, prepareCall(b.firstCall(), 0), wire.Invalid)
	}},
}

func prepareCall(name string, n int) wire.Prepare {
	step := wire.Step{Call: name, N: n, Query: true, Rows: -1}
	return wire.Prepare{Operation: wire.Operation{Name: name, Steps: []wire.Step{step}, Changes: true}, Clients: 1}
}

// firstCall is the name of some call; empty where hello has none.
func (b *bench) firstCall() string {
	if calls := b.worker.Hello().Calls; len(calls) > 0 {
		return calls[0]
	}
	return ""
}

func everyCall(b *bench) {
	calls := b.worker.Hello().Calls
	if len(calls) == 0 {
		fail("hello names no calls")
	}
	b.open(wire.Open{Writers: 2})
	for _, name := range calls {
		about(name, func() {
			m := b.callOnce(name, wire.Measure{Operations: 3, Latency: true})
			expect("errors ("+m.Error+") and misses", m.Errors+m.Misses, int64(0))
			expect("operations", m.Operations, int64(3))
			expect("executed", m.Executed, int64(3))
			expect("count in the histogram", histogramCount(m), int64(3))
			positive(m)
		})
	}
}

func (b *bench) callOnce(name string, request wire.Measure) wire.Measured {
	b.call(wire.TypePrepare, prepareCall(name, 2), nil)
	request.Operation = name
	return b.measure(request)
}

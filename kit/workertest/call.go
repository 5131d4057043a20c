//go:build unix

package workertest

import (
	"fmt"

	"assay/kit/wire"
)

// callChecks are about operations of a worker's own. What they answer is the
// plan's to say.
var callChecks = []check{
	{"every call does its units", wire.CapCall, everyCall},
	{"a call is verified after it was measured only", wire.CapCall, verifiedLate},
	{"each unit of a call leaves a mark", wire.CapCall, markedCalls},
	{"a call that there is not is refused", wire.CapCall, func(b *bench) error {
		return steps(
			func() error { return b.open(wire.Open{Writers: 2}) },
			func() error {
				return b.refused(wire.TypePrepare, prepareCall("x-grease-call", 1), wire.Unsupported)
			})
	}},
	{"a call of several clients or without a size is refused", wire.CapCall, func(b *bench) error {
		several := prepareCall(b.firstCall(), 1)
		several.Clients = 2
		return steps(
			func() error { return b.open(wire.Open{Writers: 2}) },
			func() error { return b.refused(wire.TypePrepare, several, wire.Invalid) },
			func() error { return b.refused(wire.TypePrepare, prepareCall(b.firstCall(), 0), wire.Invalid) })
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

func everyCall(b *bench) error {
	calls := b.worker.Hello().Calls
	if len(calls) == 0 {
		return fmt.Errorf("hello names no calls")
	}
	if err := b.open(wire.Open{Writers: 2}); err != nil {
		return err
	}
	for _, name := range calls {
		m, err := b.callOnce(name, wire.Measure{Operations: 3, Latency: true})
		if err == nil {
			err = steps(
				func() error { return expect("errors ("+m.Error+") and misses", m.Errors+m.Misses, int64(0)) },
				func() error { return expect("operations", m.Operations, int64(3)) },
				func() error { return expect("executed", m.Executed, int64(3)) },
				func() error { return expect("count in the histogram", histogramCount(m), int64(3)) },
				func() error { return positive(m) })
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (b *bench) callOnce(name string, request wire.Measure) (wire.Measured, error) {
	var m wire.Measured
	if err := b.call(wire.TypePrepare, prepareCall(name, 2), nil); err != nil {
		return m, err
	}
	request.Operation = name
	return m, b.call(wire.TypeMeasure, request, &m)
}

func verifiedLate(b *bench) error {
	name := b.firstCall()
	return steps(
		func() error { return b.open(wire.Open{Writers: 2}) },
		func() error { return b.call(wire.TypePrepare, prepareCall(name, 1), nil) },
		func() error { return b.refused(wire.TypeVerify, wire.Verify{Operation: name, Count: 1}, wire.Invalid) })
}

func markedCalls(b *bench) error {
	marks := b.path() + ".marks"
	return steps(
		func() error { return b.open(wire.Open{Writers: 2}) },
		func() error {
			_, err := b.callOnce(b.firstCall(), wire.Measure{Operations: 4, Marks: marks})
			return err
		},
		func() error { return expectSize(marks, 4) })
}

package kit

import (
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"assay/kit/column"
	"assay/kit/column/columntest"
	"assay/kit/wire"
)

// mixOf has part a with a trace of three positions and part b without one.
func mixOf(t *testing.T, trace string) wire.Operation {
	t.Helper()
	a, b := oneRow("a"), oneRow("b")
	a.Trace = numbers(t, 3)
	return wire.Operation{Name: "mix", Parts: []wire.Operation{a, b}, Trace: trace}
}

func order(t *testing.T, rows ...[]any) string {
	return columntest.Write(t, []column.Type{column.Int, column.Int}, rows...)
}

func ordered(t *testing.T, rows ...[]any) string {
	return columntest.Write(t, []column.Type{column.Int, column.Int, column.Int}, rows...)
}

func draw(part, position int64) []any { return []any{part, position} }

func TestMix(t *testing.T) {
	var went []string
	f := &fake{do: func(op wire.Operation, position int) (int, error) {
		went = append(went, fmt.Sprint(op.Name, position))
		return 1, nil
	}}
	op := mixOf(t, order(t, draw(0, 2), draw(1, 0), draw(0, 0)))
	p, err := prepareOperation(fakeDatabase{f}, op, 1)
	must(t, err)
	if got, want := p.operation.QueryPlan(), "a: plan of a\nb: plan of b\n"; got != want {
		t.Errorf("plan %q, want %q", got, want)
	}
	m := measure(t, p, wire.Measure{Start: 1, Operations: 5, Latency: true})
	if got := counts(m); got != (counted{Operations: 5, Executed: 5, Latencies: 5}) {
		t.Errorf("%+v", got)
	}
	if want := []string{"b0", "a0", "a2", "b0", "a0"}; !reflect.DeepEqual(went, want) {
		t.Errorf("went to %v, want %v", went, want)
	}
	if _, err := p.verify(wire.Verify{Count: 1}); refusal(err) != `unsupported: operation "mix" returns no rows` {
		t.Errorf("verify: %v", err)
	}
	if err := p.operation.Answer(0, nil); refusal(err) != "unsupported: the answers of a mix are verified part by part" {
		t.Errorf("answer: %v", err)
	}
	must(t, p.close())
	checkLog(t, f, "prepare a", "prepare b", "close client of a", "close client of b", "close a", "close b")
}

// TestMixTrouble: each part's rows are checked, and busy is tried again as the
// mix says.
func TestMixTrouble(t *testing.T) {
	var busy int
	f := &fake{do: func(op wire.Operation, position int) (int, error) {
		switch {
		case op.Name == "b":
			return 3, nil
		case position == 1:
			return 0, errDisk
		case position == 2 && busy == 0:
			busy++
			return 0, ErrBusy
		}
		return 1, nil
	}}
	op := mixOf(t, order(t, draw(0, 0), draw(0, 1), draw(0, 2), draw(1, 0)))
	op.RetryBusy = true
	m := measure(t, prepareFake(t, f, op, 1), wire.Measure{Operations: 4, Latency: true})
	if got := counts(m); got != (counted{Operations: 2, Executed: 4, Errors: 1, Misses: 1, Busy: 1, Latencies: 2}) ||
		m.Error != "disk full" || m.Miss != "3 rows, expected are 1" {
		t.Errorf("%+v, %q, %q", got, m.Error, m.Miss)
	}
	op.Parts[1].Steps[0].Rows = -1
	m = measure(t, prepareFake(t, f, op, 8), wire.Measure{Start: 3, Operations: 1})
	if m.Misses != 0 || m.Executed != 1 {
		t.Errorf("unknown rows: %+v", counts(m))
	}
}

func TestBadMix(t *testing.T) {
	good := order(t, draw(0, 0))
	missing := filepath.Join(t.TempDir(), "missing")
	for want, change := range map[string]func(*wire.Operation){
		"invalid: trace of the mix: open " + missing + ": no such file or directory": func(op *wire.Operation) { op.Trace = missing },
		"invalid: the trace of a mix wants two int columns, or three": func(op *wire.Operation) {
			op.Trace = columntest.Write(t, []column.Type{column.Int, column.Int, column.Text}, []any{int64(0), int64(0), "0"})
		},
		"invalid: row 0 of the mix's trace comes after itself":                func(op *wire.Operation) { op.Trace = ordered(t, []any{int64(0), int64(0), int64(1)}) },
		"invalid: row 1 of the mix's trace: part 2, position 0 do not exist":  func(op *wire.Operation) { op.Trace = order(t, draw(0, 0), draw(2, 0)) },
		"invalid: row 0 of the mix's trace: part -1, position 0 do not exist": func(op *wire.Operation) { op.Trace = order(t, draw(-1, 0)) },
		"invalid: row 0 of the mix's trace: part 0, position 3 do not exist":  func(op *wire.Operation) { op.Trace = order(t, draw(0, 3)) },
		"invalid: row 0 of the mix's trace: part 1, position 1 do not exist":  func(op *wire.Operation) { op.Trace = order(t, draw(1, 1)) },
		"invalid: row 0 of the mix's trace: part 0, position -1 do not exist": func(op *wire.Operation) { op.Trace = order(t, draw(0, -1)) },
		`invalid: the trace of "mix" is shorter than one transaction`:         func(op *wire.Operation) { op.Trace = order(t) },
		`invalid: mix "mix": a mix is no transaction`:                         func(op *wire.Operation) { op.Transaction = 2 },
		`invalid: part "a" of a mix is a mix or a batch`:                      func(op *wire.Operation) { op.Parts[0].Transaction = 2 },
		`invalid: part "b" of a mix is a mix or a batch`:                      func(op *wire.Operation) { op.Parts[1].Parts, op.Parts[1].Trace = []wire.Operation{oneRow("c")}, good },
		`invalid: operation "b" takes 1 arguments, its trace has 0 columns`:   func(op *wire.Operation) { op.Parts[1].Steps[0].Args = 1 },
	} {
		t.Run(want, func(t *testing.T) {
			f := &fake{}
			op := mixOf(t, good)
			change(&op)
			if _, err := prepareOperation(fakeDatabase{f}, op, 1); refusal(err) != want {
				t.Errorf("got %v", err)
			}
			opened := 0
			for _, line := range f.log {
				switch line {
				case "prepare a", "prepare b":
					opened++
				case "close a", "close b":
					opened--
				}
			}
			if opened != 0 {
				t.Errorf("left something open: %q", f.log)
			}
		})
	}
	f := &fake{client: errDisk}
	if _, err := prepareOperation(fakeDatabase{f}, mixOf(t, good), 1); refusal(err) != `client of "mix": disk full` {
		t.Errorf("got %v", err)
	}
	checkLog(t, f, "prepare a", "prepare b", "close a", "close b")
}

// A unit of a mix in order begins when the first ones have ended that its trace names, and
// those that need not wait for each other run at the same time.
func TestMixInOrder(t *testing.T) {
	var mu sync.Mutex
	var ended []int
	together := make(chan bool) // the first two units meet
	f := &fake{do: func(_ wire.Operation, position int) (int, error) {
		if position < 2 {
			select {
			case together <- true:
			case <-together:
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if position >= 2 && len(ended) < position {
			t.Errorf("unit %d began when %v had ended", position, ended)
		}
		ended = append(ended, position)
		return 1, nil
	}}
	var rows [][]any
	for i, after := range []int64{0, 0, 2, 3, 4} {
		rows = append(rows, []any{int64(0), int64(i), after})
	}
	a := oneRow("a")
	a.Trace = numbers(t, 5)
	p, err := prepareOperation(fakeDatabase{f}, wire.Operation{Name: "mix", Parts: []wire.Operation{a}, Trace: ordered(t, rows...)}, 4)
	must(t, err)
	if m := measure(t, p, wire.Measure{Operations: 5}); m.Executed != 5 || m.Errors+m.Misses != 0 {
		t.Errorf("got %+v", m)
	}
	for _, request := range []wire.Measure{{Nanos: 1000}, {Start: 1, Operations: 5}} {
		if _, err := p.measure(request); refusal(err) != "invalid: a mix in order has blocks that end with its trace at the latest" {
			t.Errorf("%+v: got %v", request, err)
		}
	}
	must(t, p.close())
}
